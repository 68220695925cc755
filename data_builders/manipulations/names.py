"""Names that an operator may replace: whole names in running text, of one kind."""

import re
from collections import Counter
from typing import Final

from data_builders.manipulations.operator import Material
from data_builders.manipulations.tagger import Kind, Mention

_WORD: Final = r"[A-Z][^\W\d_]*[a-z](?:['’-][^\W\d_]+)*"
_NAME = re.compile(rf"(?:[Tt]he\s)?{_WORD}(?:\s(?:(?:of|the|and|for|de|la|von|van)\s)*{_WORD})*")
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_CITED_BEFORE = re.compile(r"(?:\bv\.|\bvs\.|&|\||\b\d[\d./]*|§)\s*$")
_CITED_BEHIND = re.compile(r"\s*(?:\d|§|v\.|vs\.|&|\||et\s+al|,?\s*no\.)|\s+[A-Z]")
"""Around a name: that of a case or of an author in a citation, a number as in "Article 47", the rest of a name, or a
cell of a table."""
_LOCATED = re.compile(
    r"\b(?:in|at|from|to|near|into|towards?|of|through|beyond|outside|across|off|the)\s+$", re.IGNORECASE
)
_PERSONAL = re.compile(r"\b(?:he|she|his|her|him|himself|herself|who)\b", re.IGNORECASE)
_TITLES: Final = frozenset([
    "mr", "mrs", "miss", "ms", "messrs", "dr", "rev", "esq", "madam", "admiral", "colonel", "general", "major",
    "captain", "doctor", "sir", "lady", "lord", "uncle", "aunt", "judge", "sergeant", "bishop", "baronet",
])  # fmt: skip
_NEAR = 80
"""Characters behind the name of a person in which a pronoun shows that it is one."""


def names(material: Material, kind: Kind) -> list[Mention]:
    """The mentions of persons, or of places, buildings and organisations, outside brackets and citations.

    Acronyms and words with digits are no names. The text has to show what a name is: by a pronoun behind two of its
    mentions for a person, and for a place of one word by a preposition or "the" in front of a third of them. The name
    of a family, and one with a title, is no place.
    """
    text, every = material.text, _running(material)
    found = [(_of(text, one), one) for one in every if one.kind == kind]
    if kind == "person":
        shown = Counter(name for name, one in found if _PERSONAL.search(text, one.end, one.end + _NEAR))
        return [one for name, one in found if shown[name] > 1]
    counts = Counter(name for name, _ in found)
    shown = Counter(name for name, one in found if _LOCATED.search(text, max(0, one.start - 12), one.start))
    families = {f"{_of(text, one).split()[-1]}s" for one in every if one.kind == "person"}
    return [
        one
        for name, one in found
        if (" " in name or 3 * shown[name] > counts[name])
        and families.isdisjoint(name.split())
        and name.split()[0].lower() not in _TITLES
    ]


def _of(text: str, one: Mention) -> str:
    return re.sub(r"^[Tt]he ", "", " ".join(text[one.start : one.end].split()))


def _running(material: Material) -> list[Mention]:
    text = material.text
    inside = [match.span() for match in _BRACKETED.finditer(text)]
    kept, at = [], 0
    for one in material.tagger.mentions(text):
        while at < len(inside) and inside[at][1] <= one.start:
            at += 1
        bracketed = at < len(inside) and inside[at][0] < one.start
        cited = _CITED_BEFORE.search(text, max(0, one.start - 12), one.start) or _CITED_BEHIND.match(text, one.end)
        if not bracketed and not cited and _NAME.fullmatch(text, one.start, one.end):
            kept.append(one)
    return kept
