"""Does a text quote another one? Word by word, exactly or nearly."""

from collections import defaultdict
from collections.abc import Sequence

from retrieval.case_index import words

RUN = 5
"""An exact quotation: so many words in a row, or the whole source where that is shorter, but never fewer than `LEAST`."""
LEAST = 3
WINDOW, SAME = 8, 6
"""A near quotation: `WINDOW` words in a row of which `SAME` stand at the same places in the source."""


def quotes(text: str, source: str) -> bool:
    """Does `text` quote `source`, exactly or nearly?

    Words are lower-cased runs of word characters, so punctuation and line breaks do not count. With the words t of the
    text and s of the source there is a shift d such that t[i] = s[i + d] for RUN words i in a row, or for SAME of WINDOW
    in a row. Words that were put in or left out end a run; replaced ones do not end a near quotation.
    """
    return quoted(words(text), words(source))


def quoted(text: Sequence[str], source: Sequence[str]) -> bool:
    """`quotes` of texts that are lists of words already."""
    run = min(RUN, len(source))
    if run < LEAST:
        return False
    places: dict[str, list[int]] = defaultdict(list)
    for at, word in enumerate(source):
        places[word].append(at)
    equal: dict[int, list[int]] = defaultdict(list)
    for at, word in enumerate(text):
        for place in places.get(word, ()):
            equal[place - at].append(at)
    return any(_in_a_row(where, run, run) or _in_a_row(where, SAME, WINDOW) for where in equal.values())


def _in_a_row(where: Sequence[int], count: int, within: int) -> bool:
    """Are there `count` of these ascending places within `within` places in a row?"""
    return any(last - first < within for first, last in zip(where, where[count - 1 :], strict=False))

