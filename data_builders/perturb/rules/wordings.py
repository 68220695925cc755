"""The wordings of P3, P5 and P6: templates of the case's domain, filled with the things that the step is about."""

import re
from collections.abc import Mapping
from functools import lru_cache

from data_builders.lexicons import Phrases, load_lexicon
from data_builders.perturb.rules.operators import Step
from data_builders.perturb.rules.premises import premises
from data_builders.perturb.rules.templates import SLOT, Parts, Wording
from judge_r1.core.records import Case

GENERAL = "general"
"""The entry of a lexicon whose templates need no vocabulary of a domain. Every domain has them too."""

_TOPICS = {
    domain: {slot: re.compile(pattern) for slot, pattern in patterns.items()}
    for domain, patterns in load_lexicon("topics", dict[str, dict[str, str]]).items()
}


def wording(
    lexicon: Mapping[str, Phrases],
    name: str,
    case: Case,
    step: Step,
    *,
    parts: Parts | None = None,
    with_general: bool = True,
) -> Wording:
    """Return the templates `name` of the case's domain that the case can fill.

    The templates of `GENERAL` are added, or used alone for an unknown domain. `parts` are added to those of the
    lexicon and to the topics.
    """
    domains = [domain for domain in dict.fromkeys((case.domain, GENERAL)) if domain in lexicon]
    phrases = [lexicon[domain] for domain in (domains if with_general else domains[:1])]
    stated = premises(case.reference, step)
    own = {"premise": stated[::2], "premise2": stated[1::2], **topics(case, step)}
    known = {**phrases[0].parts, **own, **(parts or {})}
    usable = {slot: [text for text in texts if _fits(text, known)] for slot, texts in known.items()}
    templates = [text for entry in phrases for text in entry.templates.get(name, ()) if _fits(text, usable)]
    return Wording(templates, usable)


def topics(case: Case, step: Step) -> Parts:
    """Return the things of each kind in `topics.json` that the step names; those of the reference if it names none."""
    named, elsewhere = _named(case.domain, step.text), _named(case.domain, case.reference)
    return {slot: named[slot] or elsewhere[slot] for slot in named}


@lru_cache(maxsize=64)
def _named(domain: str, text: str) -> dict[str, list[str]]:
    patterns = _TOPICS.get(domain, {}) | _TOPICS[GENERAL]
    return {slot: list(dict.fromkeys(map(_without_capital, p.findall(text)))) for slot, p in patterns.items()}


def _without_capital(text: str) -> str:
    return text[0].lower() + text[1:] if text.startswith("The ") else text


def _fits(text: str, parts: Parts) -> bool:
    return all(parts.get(slot) for slot in SLOT.findall(text))
