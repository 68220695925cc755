"""Invented names of people and places."""

from collections.abc import Callable
from random import Random

from data_builders.sources.builtin_cases.grammar import word_lists

_LISTS = {name: " ".join(lines).split() for name, lines in word_lists("people").items()}


def first_name(rng: Random, woman: bool) -> str:
    """Returns a first name of a woman or a man."""
    return rng.choice(_LISTS["women" if woman else "men"])


def people(rng: Random, generated: bool = False) -> Callable[[], str]:
    """Returns a generator of full names with unique surnames."""
    first, last = _names("first names", generated), _names("surnames", generated)
    surnames = iter(rng.sample(last, len(last)))
    return lambda: f"{rng.choice(first)} {next(surnames)}"


def towns(rng: Random, generated: bool = False) -> Callable[[], str]:
    """Returns a generator of unique town names."""
    found = _names("towns", generated)
    names = iter(rng.sample(found, len(found)))
    return lambda: next(names)


def _names(name: str, generated: bool) -> list[str]:
    """The names of a list. Those under `more` are for generated cases: with them the shipped cases would change."""
    return _LISTS[name] + (_LISTS[f"more {name}"] if generated else [])
