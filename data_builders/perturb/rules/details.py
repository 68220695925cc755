"""Words details that a case does not have, from `p4_details.json`.

In a template, `[words]` mark what a detail is about: no sentence of the case may have them all.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from random import Random

from data_builders.lexicons import Phrases, load_lexicon
from data_builders.perturb.rules.templates import SLOT
from data_builders.perturb.rules.text_match import content_words, sentences_with, stem, vocabulary, words
from data_builders.perturb.rules.word_classes import MONTHS
from judge_r1.core.records import Case

GENERAL = "general"
_SAMPLES, MERITS = 12, (1, 1, 2)
"""Details drawn, and how often each merit decides among them (see `detail`)."""
_TOPIC = re.compile(r"\[([^\]]*)\]")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


class _Details(Phrases):
    """Details of a domain.

    A detail is added to sentences that match `narrates` and not `not_after`. `barred` maps a pattern of the context to
    the slots and words that a detail must not have then.
    """

    narrates: str
    not_after: str
    barred: dict[str, tuple[str, ...]]


_LEXICON = load_lexicon("p4_details", dict[str, _Details])


def takes_detail(case: Case, sentence: str) -> bool:
    """Whether a sentence tells something of the case, so that a detail can be added to it."""
    details = _details(case)
    return bool(re.search(details.narrates, sentence)) and not re.search(details.not_after, sentence)


def may_precede_detail(case: Case, sentence: str) -> bool:
    """Whether a sentence of its own with a detail can follow: the sentence concludes or asks for nothing."""
    return not re.search(_details(case).not_after, sentence)


def detail(case: Case, kind: str, length: int, rng: Random) -> str | None:
    """Return a detail of a kind that the case does not have; None without one.

    Of several drawn details it is the one whose length is nearest to `length`, whose words are longest, or that has
    the smallest share of words which the reference lacks. A selection thus finds details of all forms.
    """
    texts = [text for _ in range(_SAMPLES) if (text := _draw(case, kind, rng)) is not None]
    known = vocabulary(case.reference)
    merits: tuple[Callable[[str], float], ...] = (
        lambda text: abs(len(text) - length),
        lambda text: -len(text) / len(text.split()),
        lambda text: sum(stem(word) not in known for word in words(text)) / len(text.split()),
    )
    return min(texts, key=rng.choices(merits, MERITS)[0], default=None)


def _details(case: Case) -> _Details:
    return _LEXICON.get(case.domain) or _LEXICON[GENERAL]


def _draw(case: Case, kind: str, rng: Random) -> str | None:
    """Fill a random template. Returns None if a slot repeats, is barred, or the case has a topic of the detail."""
    details = _details(case)
    text = rng.choice(details.templates.get(kind) or ("",))
    barred, used = _barred(case.domain, case.context), list[str]()
    while match := SLOT.search(text):
        name = match[1] if match[1] in details.parts or match[1] == "date" else match[1].lower()
        part = _date(case, rng) if name == "date" else rng.choice(details.parts[name])
        part = part if name == match[1] else _capitalize(part)
        used.append(name)
        text = text[: match.start()] + part + text[match.end() :]
    topics = _TOPIC.findall(text)
    is_known = any(sentences_with(t, content_words(topic)) for topic in topics for t in (case.context, case.reference))
    plain = _TOPIC.sub(r"\1", text)
    is_barred = any(word in used or word in plain for word in barred)
    repeats = len(set(topics)) < len(topics) or len(re.findall(r"\b(?:later|earlier|before|after)\b", plain)) > 1
    return None if not text or not topics or is_known or is_barred or repeats else plain


def _capitalize(text: str) -> str:
    """Raise the first letter, inside the brackets of a topic too."""
    return re.sub(r"[A-Za-z]", lambda match: match[0].upper(), text, count=1)


@lru_cache(maxsize=16)
def _barred(domain: str, context: str) -> tuple[str, ...]:
    details = _LEXICON.get(domain) or _LEXICON[GENERAL]
    return tuple(_matching(details.barred, context))


def _matching(barred: dict[str, tuple[str, ...]], context: str) -> Iterator[str]:
    for pattern, forbidden in barred.items():
        if re.search(pattern, context):
            yield from forbidden


def _date(case: Case, rng: Random) -> str:
    """Draw a date in one of the last years that the case names."""
    years = sorted(set(_YEAR.findall(case.context)))[-3:-1] or ["2011"]
    return f"{rng.randint(2, 28)} {rng.choice(MONTHS.terms).text} {rng.choice(years)}"
