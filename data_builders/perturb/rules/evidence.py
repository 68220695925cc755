"""Finds where the context states a value of a claim: the value stands there beside the same words as in the claim.

A word that both have near the value is an anchor. It names the value's entity or attribute, so it must be rare.
"""

from dataclasses import dataclass
from functools import lru_cache

from data_builders.perturb.rules.claims import GENERIC_WORDS
from data_builders.perturb.rules.operators import Interval
from data_builders.perturb.rules.text_match import WORD, content_words, occurrences, sentence_index, stem, stems
from judge_r1.core.records import Case, Span

CLAIM_REACH, CONTEXT_REACH, DENIAL_REACH = 7, 9, 14
"""Words between a value and its anchor: in the claim, in the context, and for another value at that anchor."""


_LINKS = frozenset(
    {
        "with",
        "without",
        "before",
        "after",
        "during",
        "since",
        "until",
        "more",
        "less",
        "above",
        "below",
        "earlier",
        "later",
    }
)
LINK_REACH = 4
"""Words behind `with`, `after` and the like that hold their anchor."""


@dataclass(frozen=True)
class Evidence:
    """The occurrences of a value in the context that have an anchor of the claim, and these anchors."""

    spans: tuple[Span, ...]
    anchors: frozenset[str]


def find_evidence(
    case: Case, text: str, value: Interval, sentence: Interval, *, reach: int = CLAIM_REACH
) -> Evidence | None:
    """Return the evidence for `text[value]` in a sentence of a reasoning, or None.

    The sentence and the context's must share an anchor and, unless the value has two content words, another word.
    """
    old = text[value[0] : value[1]]
    own = stems(old)
    before = [stem(word[0].lower()) for word in WORD.finditer(text, sentence[0], value[0])]
    after = [stem(word[0].lower()) for word in WORD.finditer(text, value[1], sentence[1])]
    is_link = old.lower() in _LINKS
    words = after[:LINK_REACH] if is_link else before[-reach:] + after[:reach]
    near = {word for word in words if _is_anchor(case.context, word)} - own
    shared = set(content_words(text[sentence[0] : sentence[1]])) - own
    spans, anchors = [], set[str]()
    for span in occurrences(case.context, old) if near else ():
        index = _sentence_at(case.context, span.start)
        if index is None:
            continue
        beside = _words_after(case.context, span) if is_link else words_near(case.context, span.start, CONTEXT_REACH)
        found = near.intersection(beside)
        if found and (len(own) > 1 or len(shared & sentence_index(case.context)[index].stems) > 1):
            spans.append(span)
            anchors |= found
    return Evidence(tuple(spans), frozenset(anchors)) if spans else None


def is_denied(case: Case, evidence: Evidence, old: str, new: str) -> bool:
    """Whether the context has `new` nowhere near an anchor of `old`, so that its statement denies `new`."""
    return bool(stems(new) - stems(old)) and not any(
        evidence.anchors.intersection(words_near(case.context, span.start)) for span in occurrences(case.context, new)
    )


def is_restated(case: Case, evidence: Evidence, old: str, start: int) -> bool:
    """Whether the reference says of an anchor in two sentences that it is `old`. `start` is the claim's position."""
    own = stems(old)
    return any(
        own <= sentence.stems and evidence.anchors & sentence.stems
        for sentence in sentence_index(case.reference)
        if not sentence.start <= start < sentence.end
    )


def _is_anchor(context: str, word: str) -> bool:
    frequency, sentences = _document_frequency(context).get(word, 0), len(sentence_index(context))
    return len(word) > 3 and word not in GENERIC_WORDS and 0 < frequency <= max(4, 0.12 * sentences)


@lru_cache(maxsize=8)
def _document_frequency(text: str) -> dict[str, int]:
    frequency: dict[str, int] = {}
    for sentence in sentence_index(text):
        for word in sentence.stems:
            frequency[word] = frequency.get(word, 0) + 1
    return frequency


def _sentence_at(text: str, position: int) -> int | None:
    return next((i for i, s in enumerate(sentence_index(text)) if s.start <= position < s.end), None)


def words_near(text: str, position: int, reach: int = DENIAL_REACH) -> list[str]:
    """Return the stems within `reach` words of a position, in its sentence."""
    index = _sentence_at(text, position)
    if index is None:
        return []
    sentence = sentence_index(text)[index]
    before = [word[0] for word in WORD.finditer(text, sentence.start, position)][-reach:]
    after = [word[0] for word in WORD.finditer(text, position, sentence.end)][: reach + 2]
    return [stem(word.lower()) for word in before + after]


def _words_after(text: str, span: Span) -> list[str]:
    """Return the stems of the few words behind a span."""
    return [stem(word.lower()) for word in WORD.findall(text[span.end : span.end + 60])][: LINK_REACH + 1]
