"""Invented names of people and places."""

from collections.abc import Callable
from random import Random

from data_builders.sources.builtin_cases.grammar import word_lists

_LISTS = {name: " ".join(lines).split() for name, lines in word_lists("people").items()}


def first_name(rng: Random, woman: bool) -> str:
    """Returns a first name of a woman or a man."""
    return rng.choice(_LISTS["women" if woman else "men"])


def people(rng: Random) -> Callable[[], str]:
    """Returns a generator of full names with unique surnames."""
    first, last = _names("first names"), _names("surnames")
    surnames = iter(rng.sample(last, len(last)))
    return lambda: f"{rng.choice(first)} {next(surnames)}"


def towns(rng: Random) -> Callable[[], str]:
    """Returns a generator of unique town names."""
    found = _names("towns")
    names = iter(rng.sample(found, len(found)))
    return lambda: next(names)


def _names(name: str) -> list[str]:
    return _LISTS[name] + _LISTS[f"more {name}"]
