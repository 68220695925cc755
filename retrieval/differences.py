"""Where two texts of one case differ, and the query that finds these places in the case.

A step of a reasoning has many words that half of the case has, too. A query of the words that differ and of those next
to them finds the passage that settles them more often than one of whole steps (docs/experiments/evidence.csv).
"""

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import NamedTuple

from retrieval.words import has_unspaced, terms, word_pattern

QUERY_NEIGHBOURS = 6
"""Words of a query on each side of a difference."""


class Side(NamedTuple):
    """The words of one text at a difference, none if the other text adds words, and the words next to them."""

    words: tuple[str, ...]
    neighbours: tuple[str, ...]


class Difference(NamedTuple):
    """One place where two texts differ."""

    first: Side
    second: Side


def differences(first: str, second: str, neighbours: int) -> list[Difference]:
    """The places where two texts differ in words, in order, with up to `neighbours` words on each side of each place.

    Words are equal if their `terms` are, so case and punctuation do not count. Exchanged texts give the same places.
    """
    if first > second:  # SequenceMatcher may align (a, b) and (b, a) differently
        return [Difference(b, a) for a, b in differences(second, first, neighbours)]
    one, other = _words(first), _words(second)
    a, b = [tuple(terms(word)) for word in one], [tuple(terms(word)) for word in other]
    start = _same(a, b)
    end = _same(a[start:][::-1], b[start:][::-1])
    # What both texts begin and end with is left out first: the search for equal parts takes quadratic time.
    codes = SequenceMatcher(None, a[start : len(a) - end], b[start : len(b) - end]).get_opcodes()
    return [
        Difference(_side(one, start + a1, start + a2, neighbours), _side(other, start + b1, start + b2, neighbours))
        for kind, a1, a2, b1, b2 in codes
        if kind != "equal"
    ]


def difference_query(first: str, second: str) -> str:
    """The words in which two texts differ and `QUERY_NEIGHBOURS` words on each side of them, each once; all words where
    only signs differ, such as ≤ and ≥. Exchanged texts give the same query."""
    one, other = sorted((first, second))
    sides = [side for found in differences(one, other, QUERY_NEIGHBOURS) for side in found]
    words = [word for side in sides for word in (*side.words, *side.neighbours)]
    return " ".join(dict.fromkeys(words or (_words(one) if one != other else [])))


def _words(text: str) -> list[str]:
    """The words of a text without those that are only punctuation."""
    return [word for word in (word_pattern().findall(text) if has_unspaced(text) else text.split()) if terms(word)]


def _same(a: Sequence[object], b: Sequence[object]) -> int:
    """The number of equal words at the beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _side(words: Sequence[str], start: int, end: int, neighbours: int) -> Side:
    around = (*words[max(0, start - neighbours) : start], *words[end : end + neighbours])
    return Side(tuple(words[start:end]), around)
