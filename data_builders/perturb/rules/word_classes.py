"""The swap classes of P2: attributes and opposites from the lexicons, and the parts of a date."""

from collections.abc import Mapping
from itertools import chain

from data_builders.lexicons import WordClass, load_lexicon
from data_builders.perturb.rules.word_swap import SwapClass

Classes = tuple[SwapClass, ...]

_SLOTS = load_lexicon("slots", dict[str, tuple[str, str]])
"""Patterns of the text before and after a word that allow a swap."""


def _by_domain(name: str) -> dict[str, Classes]:
    """Read a lexicon of classes. Those of `shared` belong to each domain."""
    entries = load_lexicon(name, dict[str, tuple[WordClass, ...]])
    return {
        domain: tuple(map(_class, (*entries["shared"], *own))) for domain, own in entries.items() if domain != "shared"
    }


def _class(entry: WordClass) -> SwapClass:
    left, right = _SLOTS[entry.slot] if entry.slot else ("", "")
    return SwapClass(entry.name, entry.words, left, right, entry.distance)


ATTRIBUTES = _by_domain("attributes")
"""Domain → classes of attributes that exclude each other and are about as plausible: left and right."""
OPPOSITES = _by_domain("opposites")
"""The same of attributes of which the text may show the right one: high and low."""

MONTHS = SwapClass(
    "month",
    (
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ),
    max_distance=2,
)  # fmt: skip
YEARS = SwapClass("year", tuple(map(str, range(1950, 2030))), max_distance=2)
DAYS = SwapClass("day", tuple(map(str, range(1, 32))), max_distance=9)


def classes_of(domain: str, by_domain: Mapping[str, Classes]) -> Classes:
    """Return the classes of a domain; those of all domains for a domain that has none."""
    return by_domain.get(domain) or tuple(chain.from_iterable(by_domain.values()))
