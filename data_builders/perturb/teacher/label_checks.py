"""Checks by rules what a label claims: that a P2 flaw contradicts the case, and that a text differs in one place.

Rules decide about numbers, dates and names. What they cannot decide is left to a verifier
(`data_builders.second_opinion`).
"""

from collections.abc import Iterator
from difflib import SequenceMatcher
from fractions import Fraction
from functools import lru_cache

from data_builders.perturb.pair_checks import content_tokens, flaws_in_text_order, replaced_texts
from data_builders.text_units.quantities import values, without
from data_builders.text_units.steps import sentences
from data_builders.text_units.text_match import WORD, content_words, sentence_index, stem
from judge_r1.core.principles import by_number
from judge_r1.core.records import Case, ReasoningPair, Span

CONTRADICTED, ABSENT, NOT_CHECKED = "contradicts the case", "not found in the case", "not checked by rules"
REFUTED = "the case states the new value"
_FOUND = {True: CONTRADICTED, False: REFUTED, None: NOT_CHECKED}


def contradicts(case: Case, flawed: str, span: Span, old: str) -> bool | None:
    """Whether `flawed[span]`, in place of `old`, contradicts a sentence of the case; None if rules cannot decide.

    Numbers, quantities and dates are compared as values, whatever their form, and names by their words. Some sentences
    state the old value, some the new one. Those that share more words with the flawed sentence speak of the same thing.
    """
    was, now = changed_sentences(flawed, span, old)
    removed, added = _marks(*was) - _marks(*now), _marks(*now) - _marks(*was)
    plain = " ".join(mark for mark in in_one_form(flawed[span.start : span.end]) if isinstance(mark, str))
    around = (_words_around(flawed, span) | set(content_words(plain))).difference(removed, added)
    if not removed or not added:
        return None
    stated = [
        (one.stems, _stated(case.context[one.start : one.end]) | one.stems) for one in sentence_index(case.context)
    ]
    stating = [(words, marks) for words, marks in stated if removed <= marks]
    best_old = max((len(words & around) for words, _ in stating), default=0)
    other = [words for words, marks in stated if added <= marks and not removed <= marks]
    best_new = max((len(words & around) for words in other), default=0)
    if not best_old or best_old == best_new or any(added <= marks for _, marks in stating):
        return None
    return best_old > best_new


def restates(flawed: str, span: Span, old: str) -> bool:
    """Whether `flawed[span]` says what `old` says, with values in another form: 7 kg and seven kg."""
    (was, *_), (now, *_) = changed_sentences(flawed, span, old)
    return bool(values(was)) and in_one_form(was) == in_one_form(now)


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


_Mark = str | tuple[str, Fraction]
_Part = tuple[str, int, int]
"""Sentences, and the interval in them that differs."""


def changed_sentences(flawed: str, span: Span, old: str) -> tuple[_Part, _Part]:
    """The sentences at a flaw as they were and as they are now. A flaw may be a part of a number."""
    touched = [(a, b) for a, b in sentences(flawed) if a < span.end and span.start < b] or [(span.start, span.end)]
    before, after = (
        flawed[min(touched[0][0], span.start) : span.start],
        flawed[span.end : max(touched[-1][1], span.end)],
    )
    new, first = flawed[span.start : span.end], len(before)
    return (before + old + after, first, first + len(old)), (before + new + after, first, first + len(new))


def _marks(text: str, start: int, end: int) -> set[_Mark]:
    """The values of a text, and the names and other numbers in `[start, end)`."""
    read = values(text)
    found: set[_Mark] = {value.key for value in read}
    for word in WORD.finditer(without(text, read), start, end):
        named = word[0][:1].isupper() and len(word[0]) > 1 and not _starts_sentence(text, word.start())
        if word[0][0].isdigit() or named:
            found.add(stem(word[0].lower()))
    return found


@lru_cache(maxsize=1 << 12)
def _stated(sentence: str) -> frozenset[_Mark]:
    return frozenset(value.key for value in values(sentence))


def in_one_form(text: str) -> list[str | tuple[str, Fraction]]:
    """The lower-case words of a text, and its values as (kind, amount), in order."""
    found: list[str | tuple[str, Fraction]] = []
    position = 0
    for value in values(text):
        found += [*content_tokens(text[position : value.start]), value.key]
        position = value.end
    return found + content_tokens(text[position:])


def _starts_sentence(text: str, position: int) -> bool:
    before = text[:position].rstrip("\"'“‘*_([ ")
    return not before or before[-1] in ".!?:\n"


def _words_around(text: str, span: Span) -> set[str]:
    """The content words of the sentence at a span, without those in the span."""
    start, end = next(((a, b) for a, b in sentences(text) if a <= span.start < b), (span.start, span.end))
    return set(content_words(text[start : span.start])) | set(content_words(text[span.end : end]))
