"""Invented names of people and places."""

from collections.abc import Callable
from random import Random

from data_builders.sources.builtin_cases.grammar import word_lists

_FIRST, _LAST, _TOWNS = (" ".join(lines).split() for lines in list(word_lists("people").values())[:3])


def people(rng: Random) -> Callable[[], str]:
    """Returns a generator of full names with unique surnames."""
    last = iter(rng.sample(_LAST, len(_LAST)))
    return lambda: f"{rng.choice(_FIRST)} {next(last)}"


def towns(rng: Random) -> Callable[[], str]:
    """Returns a generator of unique town names."""
    names = iter(rng.sample(_TOWNS, len(_TOWNS)))
    return lambda: next(names)
