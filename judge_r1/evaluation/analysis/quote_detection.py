"""Does a text quote another one? Word by word, exactly or nearly."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from retrieval.bm25 import words
from retrieval.passages import sentences

RUN = 5
"""An exact quotation: this many words in a row, or a whole sentence that is shorter, but never fewer than `LEAST`."""
LEAST = 3
WINDOW, SAME = 8, 6
"""A near quotation: `WINDOW` words in a row of which `SAME` stand at the same places in the source."""
Words = Sequence[str]


def units(source: str) -> list[Words]:
    """What of a text can be quoted: all its words in a row, and its sentences of `LEAST` to `RUN` - 1 words."""
    short = [words(source[start:end]) for start, end in sentences(source)]
    return [words(source), *(sentence for sentence in short if LEAST <= len(sentence) < RUN)]


def quotes(text: Words, source: Sequence[Words]) -> bool:
    """Does `text` quote one of the units of a source, exactly or nearly?

    Words are lower-cased runs of word characters, so punctuation and line breaks do not count. With the words t of the
    text and s of a unit there is a shift d such that t[i] = s[i + d] for RUN words i in a row (all of a shorter unit),
    or for SAME of WINDOW in a row. Words that were put in or left out end a run; replaced ones do not end a near
    quotation.
    """
    return any(True for _ in quotations(text, source))


def quotations(text: Words, source: Sequence[Words]) -> Iterator[Words]:
    """The stretches of `text` by which it quotes a source: `RUN` words or a short sentence, or `WINDOW` nearly."""
    for unit in source:
        run = min(RUN, len(unit))
        for where in _shifts(text, unit) if run >= LEAST else ():
            for count, within in ((run, run), (SAME, WINDOW)):
                for first, last in zip(where, where[count - 1 :], strict=False):
                    if last - first < within:
                        yield text[first : first + within]


def holds(text: Words, stretch: Words) -> bool:
    """Does `text` have the stretch too: all its words in a row, or of `WINDOW` words `SAME` at the same places?"""
    wanted = len(stretch) if len(stretch) <= RUN else SAME
    return any(len(where) >= wanted for where in _shifts(stretch, text))


def _shifts(text: Words, unit: Words) -> Iterable[list[int]]:
    """For each shift of the one against the other, the places of `text` whose word is the same in `unit`, ascending."""
    places: dict[str, list[int]] = defaultdict(list)
    for at, word in enumerate(unit):
        places[word].append(at)
    equal: dict[int, list[int]] = defaultdict(list)
    for at, word in enumerate(text):
        for place in places.get(word, ()):
            equal[place - at].append(at)
    return equal.values()
