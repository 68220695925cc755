"""Checks a teacher's variant. Nothing the teacher claims is trusted except which principle is broken.

A single variant changes one step of the reference, a multi variant one step for each principle that it lists, in text
order. The accepted text is the reference with these edits, so white space and quotation marks reveal nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from data_builders.perturb.pair_checks import (
    MAX_LENGTH_RATIO,
    MIN_LENGTH_RATIO,
    case_has_detail,
    content_tokens,
    find_leak_marker,
)
from data_builders.perturb.teacher.answer_parser import Kind, Rejection, Variant
from data_builders.perturb.teacher.content_checks import refuse_content
from data_builders.perturb.teacher.label_checks import REFUTED, contradicts
from data_builders.perturb.teacher.text_diff import Change, find_changes, step_at
from data_builders.sources.corpus_io import clean
from data_builders.text_units.edits import Edit, apply_edits
from data_builders.text_units.steps import Step, numbering, sentences
from data_builders.text_units.text_match import content_words, occurrences, sentences_with, stems
from judge_r1.core.records import Case, Flaw, Span

OPERATOR = "teacher"
ONE_EACH = "change one sentence in a step of its own for each"


@dataclass(frozen=True)
class Accepted:
    """A variant that passed: its text, its flaws in text order, and the steps in which they begin."""

    number: int
    flawed: str
    flaws: tuple[Flaw, ...]
    steps: tuple[int, ...]

    @property
    def combination(self) -> tuple[int, ...]:
        return tuple(sorted(flaw.principle for flaw in self.flaws))


def check_variant(
    case: Case, steps: Sequence[Step], variant: Variant, kind: Kind, principles: Sequence[int]
) -> Accepted | Rejection:
    """Locate the flaws of a variant, or reject it. `principles` are those it should break, in text order."""
    text = clean(variant.text)
    if reason := _check_form(case.reference, text):
        return Rejection(variant.number, *reason)
    changes = find_changes(case.reference, steps, text)
    if changes is None:
        lines = "lines were put together, split, added or left out"
        return Rejection(variant.number, "the lines differ", f"{lines}; keep one line for each line of the original")
    if reason := _check_changes(case.reference, changes, kind, len(principles)):
        return Rejection(variant.number, *reason)
    flawed, spans = apply_edits(case.reference, [change.edit for change in changes])
    flaws = tuple(
        _flaw(case, flawed, change.edit, span, principle)
        for change, span, principle in zip(changes, spans, principles, strict=True)
    )
    for flaw, change in zip(flaws, changes, strict=True):
        old = case.reference[change.edit.start : change.edit.end]
        if not change.edit.replacement:  # the flaw is the character before
            old = flawed[flaw.span.start : flaw.span.end] + old
        if flaw.principle == 2 and contradicts(case, flawed, flaw.span, old) is False:
            new = _shorten(flawed[flaw.span.start : flaw.span.end])
            detail = f"the case says what it states ({new!r}); state what a sentence of the case contradicts"
            return Rejection(variant.number, f"P2: {REFUTED}", detail)
        if flaw.principle == 4 and case_has_detail(case, flawed, flaw.span):
            added = _shorten(flawed[flaw.span.start : flaw.span.end])
            detail = f"the case has what it adds ({added!r}); add what the case does not say"
            return Rejection(variant.number, "P4: the case has the invented detail", detail)
        if reason := refuse_content(case, flaw.principle, flawed, flaw.span, old):
            return Rejection(variant.number, *reason)
    first = step_at(steps, spans[0].start)
    return Accepted(variant.number, flawed, flaws, (first, *(change.steps[0] for change in changes[1:])))


def find_conflict(new: Accepted, others: Sequence[Accepted], kind: Kind, texts: dict[str, str]) -> Rejection | None:
    """Reject a variant that repeats an accepted variant of its set, or a text of the case's other sets.

    `texts` maps accepted texts to their descriptions.
    """
    if new.flawed in texts:
        return Rejection(new.number, "identical to another variant", f"it is the same text as {texts[new.flawed]}")
    for other in others:
        if new.steps == other.steps or (kind == "single" and new.steps[0] == other.steps[0]):
            detail = f"it changes the same place as variant {other.number}; choose another step"
            return Rejection(new.number, "the same step as another variant", detail)
        if kind == "multi" and new.combination == other.combination:
            combination = f"[{', '.join(map(str, new.combination))}]"
            detail = f"variant {other.number} breaks {combination} too; choose another combination of principles"
            return Rejection(new.number, "the same principles as another variant", detail)
    return None


def _check_form(reference: str, text: str) -> tuple[str, str] | None:
    """Compare numbering and length; return (reason, detail) if they differ."""
    old, new = ([mark.strip() for mark in numbering(t)] for t in (reference, text))
    if old != new:
        index = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        was, now = (marks[index] if index < len(marks) else "nothing" for marks in (old, new))
        return "the numbering differs", f"its numbering or bullets differ from the original: {now!r} instead of {was!r}"
    ratio = len(text) / len(reference)
    if not MIN_LENGTH_RATIO <= ratio <= MAX_LENGTH_RATIO:
        return "the length differs", f"it is {ratio:.2f} times as long as the original; keep the length"
    return None


def _check_changes(reference: str, changes: Sequence[Change], kind: Kind, wanted: int) -> tuple[str, str] | None:
    """Require `wanted` changes that change words and have no leak marker; return (reason, detail) otherwise.

    With several principles, no change may replace a sentence by several ones, because each may be a flaw of its own.
    """
    if not changes:
        return "the same text as the reference", "it is the original, unchanged"
    for change in changes:
        old, new = reference[change.edit.start : change.edit.end], change.edit.replacement
        if (marker := find_leak_marker(old, new)) is not None:
            return "a leak marker", f"it gives its flaw away by {_shorten(marker)!r}"
        if content_tokens(old) == content_tokens(new):
            return (
                "no word is changed",
                f"{_shorten(new)!r} differs from the original in punctuation or capitals only",
            )
    if len(changes) != wanted:
        at = "; ".join(f"{_shorten(change.edit.replacement or '(left out)')!r}" for change in changes[:6])
        if kind == "single":
            return (
                "more than one step is changed",
                f"it differs from the original in {len(changes)} places ({at}); change one sentence only",
            )
        detail = f"it lists {wanted} principles and differs from the original in {len(changes)} places ({at})"
        return (
            "changes and principles differ in number",
            f"{detail}; {ONE_EACH}",
        )
    for change in changes if kind == "multi" else ():
        old, new = reference[change.edit.start : change.edit.end], change.edit.replacement
        if len(sentences(new)) > max(1, len(sentences(old))):
            detail = f"it replaces {_shorten(old)!r} by several sentences, which may be several flaws"
            return "changes and principles differ in number", f"{detail}; {ONE_EACH}"
    return None


def _flaw(case: Case, flawed: str, edit: Edit, span: Span, principle: int) -> Flaw:
    spans = contradicted_spans(case, edit, flawed[span.start : span.end]) if principle == 2 else ()
    return Flaw(principle=principle, operator=OPERATOR, span=span, context_spans=spans)


def contradicted_spans(case: Case, edit: Edit, new: str) -> tuple[Span, ...]:
    """Return the spans of the context that state what an edit replaces.

    These are the occurrences of the old text, or else the sentences that have all removed words and most of the words
    around them. Empty if no string match finds any.
    """
    old = case.reference[edit.start : edit.end]
    removed = set(content_words(old)) - stems(new)
    support = sentences_with(case.context, removed) if removed else []
    if not support:
        return ()
    line = _line_words(case.reference, edit)
    common = [len(s.stems & line) for s in support]
    best = [s for s, n in zip(support, common, strict=True) if n == max(common)]
    exact = [x for x in occurrences(case.context, old) for s in best if s.start <= x.start and x.end <= s.end]
    return tuple(exact or (Span(start=s.start, end=s.end) for s in best))


def _line_words(reference: str, edit: Edit) -> frozenset[str]:
    """Return the content words of the line that an edit changes."""
    start = reference.rfind("\n", 0, edit.start) + 1
    end = reference.find("\n", edit.end)
    return frozenset(content_words(reference[start : end if end >= 0 else len(reference)]))


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else f"{flat[:57]}…"
