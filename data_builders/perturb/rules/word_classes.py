"""Builds the swap classes of P2 from the lexicons.

A slot states the text that must precede and follow a word for a swap:
`ITEM` is an entry of a list or the whole complement of a preposition, `NOUN` follows a determiner, `NAME` is not part
of a longer name, and the slots of `following_nouns` precede one of their nouns. `around`
gives the patterns of further slots. `FREE` has no condition.
"""

from collections.abc import Iterable
from itertools import chain

from data_builders.lexicons import Lexicon, WordClass, load_lexicon
from data_builders.perturb.rules.word_swap import SwapClass

Classes = tuple[SwapClass, ...]


class _Slots(Lexicon):
    ends: tuple[str, ...]
    nouns_before_of: tuple[str, ...]
    following_nouns: dict[str, tuple[str, ...]]
    around: dict[str, tuple[str, str]]


def _slot_patterns(lexicon: _Slots) -> dict[str, tuple[str, str]]:
    """Map each slot to the patterns of the text before and after a word."""
    end = rf"\**\s*(?:[,.;:)/]|$|(?:{'|'.join(lexicon.ends)})\b)"
    item = (
        r"(?:^|[,;(:/]\s*|\b(?:and|or|nor|with|without|including|like|as|no|for|by|via|against|from|despite|through"
        rf"|(?:{'|'.join(lexicon.nouns_before_of)})\s+of|due\s+to|related\s+to|secondary\s+to|not|only|both|either|also"
        r"|such\s+as)\s+)\**"
    )
    noun = r"\b(?:a|an|the|this|that|any|no|her|his|their|its|another|one|each|every|\w+['’]s|\w+s['’])\s+\**"
    noun_end = r"\s+(?:of|entitled|concerning|relating|regarding|dated|issued|submitted|between)\b"
    return {
        "FREE": ("", ""),
        "ITEM": (item, end),
        "NOUN": (noun, f"(?:{noun_end}|{end})"),
        "NAME": (r"(?<![A-Z] )(?<!-)", r"(?!\s+[A-Z])"),
        "RANK": ("", r"\s+(?!to\b)"),
        "COURT": ("", r"\s+Court\b(?! of)"),
        **{name: ("", rf"\s+(?:{'|'.join(nouns)})\b") for name, nouns in lexicon.following_nouns.items()},
        **lexicon.around,
    }


SLOTS = _slot_patterns(load_lexicon("slots", _Slots))


def _classes(entries: Iterable[WordClass]) -> Classes:
    return tuple(
        SwapClass.of(entry.name, entry.words, entry.aliases, left=SLOTS[entry.slot][0], right=SLOTS[entry.slot][1])
        for entry in entries
    )


_ATTRIBUTES = load_lexicon("attributes", dict[str, tuple[WordClass, ...]])
_CASE_TERMS = load_lexicon("case_terms", dict[str, tuple[WordClass, ...]])

ATTRIBUTES: dict[str, Classes] = {
    domain: _classes((*_ATTRIBUTES["shared"], *entries))
    for domain, entries in _ATTRIBUTES.items()
    if domain != "shared"
}
"""Domain → classes of attributes that exclude each other, so that a case with one denies the others."""

CASE_TERMS: dict[str, Classes] = {domain: _classes(entries) for domain, entries in _CASE_TERMS.items()}
"""Domain → classes of named things, for swapping two things of one case."""

MONTHS = SwapClass.of(
    "month",
    (
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ),
)  # fmt: skip
YEARS = SwapClass.of("year", map(str, range(1950, 2030)), max_distance=4)
DAYS = SwapClass.of("day", map(str, range(1, 32)))


def classes_for(domain: str, by_domain: dict[str, Classes]) -> Classes:
    """Return the classes of a domain; the classes of all domains for a domain that has none."""
    return by_domain.get(domain) or tuple(chain.from_iterable(by_domain.values()))
