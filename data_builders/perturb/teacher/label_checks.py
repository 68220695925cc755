"""Checks by rules what a label claims: that a P2 flaw contradicts the case, and that a text differs in one place.

Rules decide about numbers, dates and names. What they cannot decide is left to a verifier
(`data_builders.second_opinion`).
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from data_builders.perturb.pair_checks import content_tokens, flaws_in_text_order, replaced_texts
from data_builders.text_units.steps import sentences
from data_builders.text_units.text_match import WORD, content_words, sentences_with, stem
from judge_r1.core.principles import by_number
from judge_r1.core.records import Case, ReasoningPair, Span

CONTRADICTED, ABSENT, NOT_CHECKED = "contradicts the case", "not found in the case", "not checked by rules"
REFUTED = "the case states the new value"
_FOUND = {True: CONTRADICTED, False: REFUTED, None: NOT_CHECKED}

_NUMBER_WORDS = frozenset({
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("first", "second", "third", "once", "twice"),
})  # fmt: skip


def contradicts(case: Case, flawed: str, span: Span, old: str) -> bool | None:
    """Whether `flawed[span]`, in place of `old`, contradicts a sentence of the case; None if rules cannot decide.

    Some sentences state the old value, some the new one. Those that share more words with the flawed sentence speak of
    the same thing.
    """
    new = flawed[span.start : span.end]
    first = _starts_sentence(flawed, span)
    was, now = _values(old, at_start=first), _values(new, at_start=first)
    removed, added = was - now, now - was
    around = _words_around(flawed, span) | (set(content_words(new)) - added)
    if not removed or not added:
        return None
    stating = sentences_with(case.context, removed)
    best_old = max((len(sentence.stems & around) for sentence in stating), default=0)
    other = [sentence for sentence in sentences_with(case.context, added) if not removed <= sentence.stems]
    best_new = max((len(sentence.stems & around) for sentence in other), default=0)
    both = any(added <= sentence.stems for sentence in stating)
    if not best_old or both or best_old == best_new:
        return None
    return best_old > best_new


def checks_by_rules(case: Case, pair: ReasoningPair) -> Iterator[str]:
    """What rules found about the label of each flaw, such as `P2: contradicts the case`."""
    for flaw, old in zip(flaws_in_text_order(pair), replaced_texts(pair) or (), strict=False):
        found = NOT_CHECKED
        if flaw.principle == 4:
            found = ABSENT  # a variant with another detail is rejected
        elif flaw.principle == 2:
            found = _FOUND[contradicts(case, pair.flawed, flaw.span, old)]
        yield f"{by_number(flaw.principle).code}: {found}"


def certain(case: Case, pair: ReasoningPair) -> bool:
    """Whether rules alone confirm the label of a pair: one P2 flaw in one place that contradicts the case."""
    olds = replaced_texts(pair)
    if pair.violated != (2,) or not olds or len(olds) != 1:
        return False
    [flaw], [old] = pair.origin.flaws, olds
    one_place = _places(old, pair.flawed[flaw.span.start : flaw.span.end]) == 1
    return one_place and contradicts(case, pair.flawed, flaw.span, old) is True


def _places(old: str, new: str) -> int:
    """In how many places the words of two texts differ."""
    matcher = SequenceMatcher(None, content_tokens(old), content_tokens(new), autojunk=False)
    return sum(tag != "equal" for tag, *_ in matcher.get_opcodes())


def _values(text: str, *, at_start: bool) -> set[str]:
    """The stems of the numbers, number words, months and names of a text."""
    found = set[str]()
    for index, word in enumerate(WORD.finditer(text)):
        named = word[0][:1].isupper() and not (index == 0 and at_start) and not _after_end(text, word.start())
        if word[0][0].isdigit() or word[0].lower() in _NUMBER_WORDS or (named and len(word[0]) > 1):
            found.add(stem(word[0].lower()))
    return found


def _after_end(text: str, position: int) -> bool:
    return re.search(r"[.!?:]\W*$", text[max(0, position - 4) : position]) is not None


def _starts_sentence(text: str, span: Span) -> bool:
    before = text[: span.start].rstrip("\"'“‘*_([ ")
    return not before or before[-1] in ".!?:\n"


def _words_around(text: str, span: Span) -> set[str]:
    """The content words of the sentence at a span, without those in the span."""
    start, end = next(((a, b) for a, b in sentences(text) if a <= span.start < b), (span.start, span.end))
    return set(content_words(text[start : span.start])) | set(content_words(text[span.end : end]))
