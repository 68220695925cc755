"""Chooses wordings for a sentence: templates of the case's domain, and what fills their slots."""

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice

from data_builders.lexicons import Lexicon, Phrases, load_lexicon
from data_builders.perturb.rules.operators import Step
from data_builders.perturb.rules.premises import related_statements
from data_builders.perturb.rules.templates import SLOT, Wording
from judge_r1.core.records import Case

GENERAL = "general"
UNNAMED = ("this", "this point")
"""Names of the theme of a sentence with no known theme."""


class _Theme(Lexicon):
    """A pattern that finds the theme in a sentence, and noun phrases that name it."""

    pattern: str
    names: tuple[str, ...]


_THEMES = load_lexicon("topics", dict[str, dict[str, _Theme]])


def wording(lexicon: Mapping[str, Phrases], name: str, case: Case, step: Step, sentence: str) -> Wording:
    """Return the templates `name` of the case's domain, without those that have a slot the case cannot fill.

    `{premise}` is a related statement of another step, and `{matter}` names the theme of the sentence.
    """
    entry = lexicon.get(case.domain) or lexicon[GENERAL]
    themes = themes_of(case.domain, sentence) or themes_of(case.domain, step.text)
    parts = {
        **entry.parts,
        "premise": related_statements(case.reference, step, sentence),
        "matter": [name for theme in themes for name in _themes(case.domain)[theme].names] or UNNAMED,
    }
    usable = [text for text in entry.templates.get(name, ()) if all(parts.get(slot) for slot in SLOT.findall(text))]
    return Wording(usable, parts)


@lru_cache(maxsize=4096)
def themes_of(domain: str, text: str) -> tuple[str, ...]:
    """Return the two most specific themes that the text has: `topics.json` lists them before the general ones."""
    found = (name for name, theme in _themes(domain).items() if re.search(theme.pattern, text))
    return tuple(islice(found, 2))


def _themes(domain: str) -> dict[str, _Theme]:
    return _THEMES.get(domain) or _THEMES[GENERAL]
