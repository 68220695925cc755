"""Detects exact and near quotations of one text in another, word by word."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from retrieval.passages import sentences
from retrieval.words import terms

RUN = 5
"""The length of an exact quotation in words. A shorter sentence of at least `LEAST` words counts as a whole."""
LEAST = 3
WINDOW, SAME = 8, 6
"""A near quotation: `WINDOW` consecutive words of which `SAME` are at the same positions in the source."""
Words = Sequence[str]


def units(source: str) -> list[Words]:
    """The quotable units of a text: all its words, and its sentences of `LEAST` to `RUN` - 1 words."""
    short = [terms(source[start:end]) for start, end in sentences(source)]
    return [terms(source), *(sentence for sentence in short if LEAST <= len(sentence) < RUN)]


def quotes(text: Words, source: Sequence[Words]) -> bool:
    """True if `text` quotes one of the units of a source, exactly or nearly.

    Words are `retrieval.words.terms`, so punctuation and line breaks do not count. A quotation is a shift d
    with t[i] = s[i + d], for the words t of the text and s of a unit, for RUN consecutive words i (all words of a
    shorter unit) or for SAME of WINDOW consecutive words. Inserted and omitted words end a quotation; replaced words do
    not end a near quotation.
    """
    return any(True for _ in quotations(text, source))


def quotations(text: Words, source: Sequence[Words]) -> Iterator[Words]:
    """The parts of `text` that quote a source: `RUN` words, a short sentence, or `WINDOW` words that nearly match."""
    for unit in source:
        run = min(RUN, len(unit))
        for where in _shifts(text, unit) if run >= LEAST else ():
            for count, within in ((run, run), (SAME, WINDOW)):
                for first, last in zip(where, where[count - 1 :], strict=False):
                    if last - first < within:
                        yield text[first : first + within]


def holds(text: Words, quotation: Words) -> bool:
    """True if `text` contains the quotation: all its words in a row, or `SAME` of `WINDOW` at the same positions."""
    wanted = len(quotation) if len(quotation) <= RUN else SAME
    return any(len(where) >= wanted for where in _shifts(quotation, text))


def _shifts(text: Words, unit: Words) -> Iterable[list[int]]:
    """For each shift, the ascending positions of `text` whose word is the same in `unit`."""
    positions: dict[str, list[int]] = defaultdict(list)
    for at, word in enumerate(unit):
        positions[word].append(at)
    equal: dict[int, list[int]] = defaultdict(list)
    for at, word in enumerate(text):
        for position in positions.get(word, ()):
            equal[position - at].append(at)
    return equal.values()
