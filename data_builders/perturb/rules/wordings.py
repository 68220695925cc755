"""The wordings of P1, P3, P5 and P6: templates of the case's domain about the theme of the sentence that is changed.

A theme is what a sentence is about, such as imaging, detention or statistics (`topics.json`). A lexicon has phrases by
theme, and templates that hold a phrase. A domain without a lexicon uses the entry `GENERAL`, which needs no vocabulary.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice

from data_builders.lexicons import Lexicon, Phrases, load_lexicon
from data_builders.perturb.rules.operators import Step
from data_builders.perturb.rules.premises import related_statements
from data_builders.perturb.rules.templates import SLOT, Parts, Wording
from judge_r1.core.records import Case

GENERAL = "general"
ANY_THEME = "any"
"""The theme of phrases for a sentence with no known theme."""
UNNAMED = ("this point", "this question", "the matter")
"""Names of the theme of a sentence with no known theme."""
_PERSON = re.compile(r"\b[Tt]he applicants?\b(?!['’])|\b(?:Mr|Ms|Mrs) [A-Z][a-z]+\b(?!['’])")


class ThemedPhrases(Phrases):
    """Templates by operator, and phrases by theme. The slot `{phrase}` of a template stands for a phrase."""

    themes: dict[str, tuple[str, ...]]


class _Theme(Lexicon):
    """A pattern that finds the theme in a sentence, and noun phrases that name it."""

    pattern: str
    names: tuple[str, ...]


class _Topics(Lexicon):
    """Themes, and patterns of terms that fill the slot of their name."""

    themes: dict[str, _Theme]
    terms: dict[str, str]


_TOPICS = load_lexicon("topics", dict[str, _Topics])


def wording(
    lexicon: Mapping[str, ThemedPhrases],
    name: str,
    case: Case,
    step: Step,
    sentence: str,
    *,
    parts: Parts | None = None,
    phrases: Sequence[str] = (),
) -> Wording:
    """Return the templates `name` of the case's domain, with `phrases`, or those about the theme of the sentence.

    Templates and phrases with a slot that the case cannot fill are left out.
    """
    entry = lexicon.get(case.domain) or lexicon[GENERAL]
    themes = themes_of(case.domain, sentence) or themes_of(case.domain, step.text)
    known: dict[str, list[str]] = {slot: list(texts) for slot, texts in {**entry.parts, **(parts or {})}.items()}
    known |= {slot: terms_of(case.domain, slot, sentence) for slot in _topics(case.domain).terms}
    known["premise"] = related_statements(case.reference, step, sentence)
    known["person"] = _persons(case.reference)
    known["matter"] = [name for theme in themes for name in _topics(case.domain).themes[theme].names] or [*UNNAMED]
    found = phrases or [phrase for theme in themes for phrase in entry.themes.get(theme, ())]
    known["phrase"] = [phrase for phrase in found if _can_fill(phrase, known)] or [
        phrase for phrase in entry.themes.get(ANY_THEME, ()) if _can_fill(phrase, known)
    ]
    usable = {slot: [text for text in texts if _can_fill(text, known)] for slot, texts in known.items()}
    return Wording([text for text in entry.templates.get(name, ()) if _can_fill(text, usable)], usable)


@lru_cache(maxsize=4096)
def themes_of(domain: str, text: str) -> tuple[str, ...]:
    """Return the two most specific themes that the text has: `topics.json` lists them before the general ones."""
    found = (name for name, theme in _topics(domain).themes.items() if re.search(theme.pattern, text))
    return tuple(islice(found, 2))


def terms_of(domain: str, kind: str, text: str) -> list[str]:
    """Return the terms of a kind, such as `treatment`, in the text."""
    pattern = _topics(domain).terms.get(kind)
    return list(dict.fromkeys(re.findall(pattern, text))) if pattern else []


def _topics(domain: str) -> _Topics:
    return _TOPICS.get(domain) or _TOPICS[GENERAL]


@lru_cache(maxsize=64)
def _persons(reference: str) -> list[str]:
    """Return the name of the person whom the reference mentions most, if it names one."""
    names = Counter(name[0].lower() + name[1:] if name[0] in "Tt" else name for name in _PERSON.findall(reference))
    return [names.most_common(1)[0][0]] if names else []


def _can_fill(text: str, parts: Parts) -> bool:
    return all(slot == "phrase" or parts.get(slot) for slot in SLOT.findall(text)) and (
        "{phrase}" not in text or "phrase" not in parts or bool(parts["phrase"])
    )
