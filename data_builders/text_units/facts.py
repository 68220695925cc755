"""Finds the facts of a case: the sentences of its context that can stand alone."""

import re
from dataclasses import dataclass
from functools import lru_cache

from data_builders.text_units.clauses import FINITE, is_balanced
from data_builders.text_units.dependence import is_dependent
from data_builders.text_units.steps import MARKER, sentences
from data_builders.text_units.text_match import content_words

MIN_WORDS, MAX_WORDS = 6, 30
"""Words of a fact."""

_LABEL = re.compile(r"\s*(?:\*\*)?(?:\[[^\]\n]{3,50}\]|[A-Z][\w /&()-]{2,44}:)(?:\*\*)?\s+")
_LEANS = re.compile(
    r"[“”\"‘:;*|{}<>=~\[\]#?]|\bet al\b|https?:|www\.|\.\.\.|…"
    r"|\b(?:Figs?|Figures?|Tables?|paragraphs?|Supplementary|above|below)\b"
    r"|[a-z)]\.[A-Z\d]|\s\.$|[a-z)%] \d{1,2}(?:[,–\s]+\d{1,2})+\.$"  # two sentences, and marks of footnotes
    r"|\bas follows\b|\b(?:[Tt]h(?:is|ese|ose)|[Ss]uch|the (?:same|latter|former|said))\b"
    r"|\b(?:[Ww]e|[Oo]ur|us|I(?= [a-z])|my|aims?|consent)\b"
    r"|\b(?:[Nn]ot (?:documented|detailed|available|provided|specified|reported|applicable)|[Nn]one|[Uu]nremarkable)\b"
    r"|\b(?:can|may|might|should|must|typically|usually|often|commonly)\b"
    r"|[A-Z]{6,} [A-Z]{6,}"
)
"""What refers to other text, quotes it, or is no statement on the case."""
_ACTIVE = re.compile(
    r"\b[a-z]{2,}ed (?:the|an?(?! (?:year|month|week|day|hour)\b)|his|her|its|their|that|no)\b"
    r"|\b(?:met|spent|took|became|began|started|married|went|came|lost|fell|rose|sent|brought|chose|wrote|told|left|won"
    r"|suffered|presented|complained|continued|decreased|increased|resulted|differed|decided|refused|agreed|happened"
    r"|occurred|remained|appeared|failed|arrived|died|lasted|ranged|fluctuated|worked|lived|moved|returned|predicts"
    r"|encodes|contains|comprises|consists|ranges|reached|received|experienced) (?=[a-z\d])"
)
"""Verbs of a main clause besides `FINITE`. A participle seldom has an object behind it, or is intransitive."""
_PERSONAL = re.compile(r"\b(?:I|we|our|us|my|you|he|she|his|her|they|their|it|this|these|those)\b", re.IGNORECASE)
"""Words whose meaning depends on the speaker or on the sentence before."""


@dataclass(frozen=True)
class Fact:
    """A sentence of a context that can stand alone, from the character `start` on."""

    start: int
    text: str


@lru_cache(maxsize=256)
def facts(context: str) -> tuple[Fact, ...]:
    """Return the sentences of a context that can stand alone: complete, without a reference to other text."""
    found: dict[str, Fact] = {}
    for line in re.finditer(r"[^\n]+", context):
        marker = MARKER.match(line[0])
        label = _LABEL.match(line[0], marker.end() if marker else 0)
        body = label.end() if label else marker.end() if marker else 0
        for start, end in sentences(line[0][body:]):
            text = line[0][body + start : body + end]
            if _stands_alone(text, label is not None):
                found.setdefault(text, Fact(line.start() + body + start, text))
    return tuple(found.values())


def _stands_alone(text: str, labelled: bool) -> bool:
    ends = text.endswith(".") or (labelled and text[-1:].isalnum())
    return (
        MIN_WORDS <= len(text.split()) <= MAX_WORDS
        and ends
        and (text[0].isupper() or text[0].isdigit())
        and is_balanced(text)
        and not _LEANS.search(text)
        and not is_dependent(text)
        and (labelled or _has_verb(text))
        and len(content_words(text)) >= MIN_WORDS // 2
    )


def is_plain(fact: Fact) -> bool:
    """Whether a fact is a full sentence without personal pronouns."""
    return fact.text.endswith(".") and _has_verb(fact.text) and _PERSONAL.search(fact.text) is None


def _has_verb(text: str) -> bool:
    return any(pattern.search(text) for pattern in (FINITE, _ACTIVE))
