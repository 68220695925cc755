"""Checks a pair of any origin: during a build, and in `judge-r1 validate` for any file."""

import re
from collections.abc import Sequence

from data_builders.perturb.trace_conduct import refuted_conduct
from data_builders.text_units.steps import numbering, sentences
from data_builders.text_units.text_match import WORD, content_words, sentence_index, sentences_with, stems
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.records import Case, Flaw, ReasoningPair, Span
from retrieval.events import is_trace

RULES = "rules"
"""`origin.teacher` of flaws by rules."""
MIN_LENGTH_RATIO, MAX_LENGTH_RATIO = 0.8, 1.25
"""Bounds of the flawed reasoning's length in characters, relative to the reference."""

_CONTENT_TOKEN = re.compile(rf"{WORD.pattern}|[<>=≤≥±+%]|-(?=\d)")


_REVEALING_WORDS = (
    r"flaw(?:s|ed)?|incorrect(?:ly)?|wrong(?:ly)?|mistakes?|biased|unfounded|ungrounded|invented|fabricated|illogical|"
    r"non sequitur|contradict(?:s|ed|ion)|violat(?:es|ed|ion|ions)|clue|hint|sic|modified|altered"
)
_PRINCIPLE_NAMES = "|".join(re.escape(p.name).replace("and", "(?:and|&)") for p in PRINCIPLES)
_NOUNS = r"(?:step|claim|conclusion|inference|statement|reasoning|value|number|detail|assertion|sentence|fact)s?"
_SURE = r"(?:of course|course|of|clearly|obviously|plainly|simply|in fact|fact|in|actually|certainly)"
_FALSE = r"wrong|false|incorrect|flawed|mistaken|untrue|illogical|fabricated|invented|unfounded|erroneous"
_NOTES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\[[^\]\n]{{0,80}}\b(?:{_REVEALING_WORDS}|errors?|principles?|changed|added|inserted)\b[^\]\n]{{0,80}}\]",
        rf"\((?:(?:this|it|which|the|a|an|is|step)\s+){{0,3}}(?:{_REVEALING_WORDS})(?:\s+{_NOUNS})?\s*(?:[:;,–—-][^)\n]{{0,80}})?\)",
        rf"\((?:this|it|which)\s+(?:(?:is|was|the|a|an|step)\s+){{0,2}}(?:{_REVEALING_WORDS})\b[^)\n]{{0,80}}\)",
        rf"\b(?:which|this|that|it)\s+(?:is|was)\s+(?:{_SURE}[\s,]+){{0,2}}(?:an?\s+)?(?:{_FALSE})(?:\s+{_NOUNS})?(?=\s*(?:[.,;)]|$))",
        r"\((?:errors?|changed|added|inserted)\)",
        r"\b(?:clue|hint|flaw|annotation|note to (?:the )?(?:reader|judge))s?\s*:",
        r"\bviolated principles?\b|\bflawed (?:variant|reasoning|step)\b",
        rf"\b(?:violat\w+|breach\w*|break\w*|principle)\b[^.\n]{{0,40}}(?:{_PRINCIPLE_NAMES}|\bP[1-6]\b)",
        r"\bprinciple (?:no\. ?)?[1-6]\b",
        r"</?[a-z][^<>\n]{0,40}>|<!--",
    )
)
_MARKUP = ("*", "~~", "`", "__", "{", "}", "==", "←", "⚠", "❌", "✗")


def find_leak_marker(old: str, new: str) -> str | None:
    """Return the first leak marker of `new` that the text it replaces, `old`, does not have."""
    for pattern in _NOTES:
        for match in pattern.finditer(new):
            if match[0] not in old:
                return match[0]
    return next((mark for mark in _MARKUP if new.count(mark) > old.count(mark)), None)


def check_pair(case: Case, pair: ReasoningPair) -> str | None:
    """Return why the pair is not a valid pair of the case, or None.

    Facts and details of rule-based flaws are checked by string match. A model or a person may paraphrase them, so their
    flaws are checked only for what holds in any wording.
    """
    if pair.case_id != case.case_id or pair.reference != case.reference:
        return "the better reasoning is not the case's reference"
    if pair.origin.attacked:
        return None
    if numbering(pair.flawed) != numbering(pair.reference):
        return "the numbering of the steps differs"
    if not MIN_LENGTH_RATIO <= len(pair.flawed) / len(pair.reference) <= MAX_LENGTH_RATIO:
        return f"the flawed reasoning is not {MIN_LENGTH_RATIO} to {MAX_LENGTH_RATIO} times as long as the reference"
    olds = replaced_texts(pair)
    if olds is None:
        return "outside the spans of its flaws the flawed reasoning differs from the reference"
    for flaw, old in zip(flaws_in_text_order(pair), olds, strict=True):
        new = pair.flawed[flaw.span.start : flaw.span.end]
        check = _check_rule_flaw if pair.origin.teacher == RULES else _check_teacher_flaw
        if reason := check(case, pair, flaw, old, new):
            return reason
    return None


def content_tokens(text: str) -> list[str]:
    """Return the lower-case words, numbers and mathematical signs of a text, without punctuation."""
    return [match[0].lower() for match in _CONTENT_TOKEN.finditer(text)]


def case_has_detail(case: Case, text: str, span: Span) -> bool:
    """Whether one sentence of the context or the reference has all content words of `text[span]`.

    With fewer than three content words, the nearest ones around the span are added: `left` alone says nothing.
    """
    detail = content_words(text[span.start : span.end])
    if not detail:
        return False
    if len(detail) < 3:
        start, end = next(((a, b) for a, b in sentences(text) if a <= span.start < b), (span.start, span.end))
        before, after = content_words(text[start : span.start]), content_words(text[span.end : end])
        detail += before[-1:] + after[:1]
    return bool(sentences_with(case.context, detail) or sentences_with(case.reference, detail))


def trace_refutes(context: str, principle: int, true: str, false: str, spans: Sequence[Span]) -> bool:
    """Whether the text of a trace refutes a false value: of P2, its spans have the true value and not the false one; of
    P4, no event has the false one."""
    if principle == 4:
        return not spans and false != true and false not in context
    texts = [context[span.start : span.end] for span in spans]
    return bool(texts) and all(true in text and false not in text for text in texts)


def _check_rule_flaw(case: Case, pair: ReasoningPair, flaw: Flaw, old: str, new: str) -> str | None:
    if is_trace(case.context):
        start = pair.flawed.rfind("\n", 0, flaw.span.start) + 1
        line = re.sub(r"^\d+\. ", "", pair.flawed[start:].partition("\n")[0])
        refuted = trace_refutes(case.context, flaw.principle, old, new, flaw.context_spans) or refuted_conduct(
            case.context, flaw.operator, line, old, new, flaw.context_spans
        )
        return None if refuted else f"P{flaw.principle}: the trace does not refute the changed value"
    if flaw.principle == 2:
        return _check_contradiction(case, pair, flaw, old, new)
    return _check_invention(case, flaw, old, new) if flaw.principle == 4 else None


def _check_teacher_flaw(case: Case, pair: ReasoningPair, flaw: Flaw, old: str, new: str) -> str | None:
    """Require changed words, no leak marker, and for P4 a detail that the case does not have."""
    if content_tokens(old) == content_tokens(new):
        return "a flaw changes no word"
    if find_leak_marker(old, new) is not None:
        return "a flaw has a leak marker: an annotation, a label or emphasis"
    if any(span.end > len(case.context) for span in flaw.context_spans):
        return "a context span ends outside the context"
    if flaw.principle == 4 and case_has_detail(case, pair.flawed, flaw.span):
        return "P4: the case has the invented detail"
    return None


def flaws_in_text_order(pair: ReasoningPair) -> list[Flaw]:
    """Return the flaws of a pair in the order of its flawed reasoning."""
    return sorted(pair.origin.flaws, key=lambda flaw: flaw.span.start)


def replaced_texts(pair: ReasoningPair) -> list[str] | None:
    """Return the text of the reference that each flaw replaces, in order; None if the texts differ elsewhere.

    The text between two flaws is identical in both reasonings. It is searched from the left, so an ambiguous position
    can only lengthen or shorten a neighbouring replacement, never hide a difference outside the flaws.
    """
    olds: list[str] = []
    flawed_position, position = 0, 0
    for flaw in flaws_in_text_order(pair):
        unchanged = pair.flawed[flawed_position : flaw.span.start]
        found = pair.reference.find(unchanged, position)
        if (not olds and found != 0) or found < 0:
            return None
        if olds:
            olds[-1] = pair.reference[position:found]
        olds.append("")
        position, flawed_position = found + len(unchanged), flaw.span.end
    tail = pair.flawed[flawed_position:]
    if len(pair.reference) - len(tail) < position or not pair.reference.endswith(tail):
        return None
    olds[-1] = pair.reference[position : len(pair.reference) - len(tail)]
    return olds


def _check_contradiction(case: Case, pair: ReasoningPair, flaw: Flaw, old: str, new: str) -> str | None:
    """P2: the context has the old value, and nowhere the new value beside the words that the old one qualifies."""
    removed, added = stems(old) - stems(new), stems(new) - stems(old)
    if not flaw.context_spans:
        return "P2: the flaw names no context span"
    if not added:
        return "P2: the flaw has no new value"
    for span in flaw.context_spans:
        if span.end > len(case.context):
            return "P2: a context span ends outside the context"
        context_stems = stems(case.context[span.start : span.end])
        if (removed and not removed & context_stems) or added <= context_stems:
            return "P2: the context span does not have the old value"
    role = set(content_words(new)) - added
    if not role or _is_name(new):
        role |= _shared_words(case.context, flaw.context_spans[0], pair.flawed, flaw.span) - added
    if not role or any(added <= sentence.stems for sentence in sentences_with(case.context, role)):
        return "P2: the context has the new value too"
    return None


def _is_name(text: str) -> bool:
    """Whether every word has a capital. The words of a name do not identify its role in the case."""
    return all(word[0].isupper() for word in re.findall(r"\w+", text))


def _shared_words(context: str, context_span: Span, flawed: str, span: Span) -> set[str]:
    """Return the content words that the context's sentence at `context_span` shares with the flawed sentence."""
    context_stems = next(
        (s.stems for s in sentence_index(context) if s.start <= context_span.start < s.end), frozenset()
    )
    sentence = next((flawed[a:b] for a, b in sentences(flawed) if a <= span.start < b), "")
    return set(context_stems.intersection(content_words(sentence)))


def _check_invention(case: Case, flaw: Flaw, old: str, new: str) -> str | None:
    """P4: no sentence of the context or the reference has all words of the new detail."""
    if flaw.context_spans:
        return "P4: the flaw names a context span, but an invented detail contradicts nothing"
    detail = content_words(new)
    if not stems(new) - stems(old):
        return "P4: the flaw has no new detail"
    if sentences_with(case.context, detail) or sentences_with(case.reference, detail):
        return "P4: the case has the invented detail"
    return None
