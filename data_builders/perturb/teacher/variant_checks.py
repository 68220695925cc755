"""What a teacher's variant must be before it is believed. Nothing that the teacher says about it is taken for granted,
but which principle is broken: that is what a verifier is for.

A single variant differs from the reference in one place, a multi variant in as many as it lists principles: the k-th
listed principle is the flaw in the k-th place of the text, as the prompt says. The accepted text is the reference with
these edits, so that white space and quotation marks tell nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from data_builders.perturb.leak_markers import clue
from data_builders.perturb.pair_checks import LONGEST, SHORTEST, detail_in_case, said
from data_builders.perturb.rules.engine import apply
from data_builders.perturb.rules.operators import Edit, Step
from data_builders.perturb.rules.steps import numbering
from data_builders.perturb.rules.text_match import content_words, holding, occurrences, stem, words
from data_builders.perturb.teacher.answer_parser import Kind, Rejection, Variant
from data_builders.perturb.teacher.text_diff import Place, places, step_at
from data_builders.sources.corpus_io import clean
from judge_r1.core.records import Case, Flaw, Span

OPERATOR = "teacher"


@dataclass(frozen=True)
class Accepted:
    """A variant that passed: its text, its flaws in the order of the text, and the steps in which they begin."""

    number: int
    flawed: str
    flaws: tuple[Flaw, ...]
    steps: tuple[int, ...]

    @property
    def combination(self) -> tuple[int, ...]:
        return tuple(sorted(flaw.principle for flaw in self.flaws))


def examine(
    case: Case, steps: Sequence[Step], variant: Variant, kind: Kind, principles: Sequence[int]
) -> Accepted | Rejection:
    """The variant with its flaws located, or why it is of no use. `principles` are those it should break, in order."""
    text = clean(variant.text)
    reason = _form(case.reference, text)
    if reason is not None:
        return Rejection(variant.number, *reason)
    found = places(case.reference, steps, text)
    if found is None:
        lines = "lines were put together, split, added or left out"
        return Rejection(variant.number, "the lines differ", f"{lines}; keep one line for each line of the original")
    reason = _differences(case.reference, found, kind, len(principles))
    if reason is not None:
        return Rejection(variant.number, *reason)
    flawed, spans = apply(case.reference, [place.edit for place in found])
    flaws = tuple(
        _flaw(case, flawed, place.edit, span, principle)
        for place, span, principle in zip(found, spans, principles, strict=True)
    )
    for flaw in flaws:
        if flaw.principle == 4 and detail_in_case(case, flawed, flaw.span):
            added = _short(flawed[flaw.span.start : flaw.span.end])
            detail = f"the case has what it adds ({added!r}); add what the case does not say"
            return Rejection(variant.number, "P4: the case has the invented detail", detail)
    first = step_at(steps, spans[0].start)
    return Accepted(variant.number, flawed, flaws, (first, *(place.steps[0] for place in found[1:])))


def clash(new: Accepted, others: Sequence[Accepted], kind: Kind, texts: dict[str, str]) -> Rejection | None:
    """Why a variant cannot stand beside the accepted ones of its set, or beside the texts of the case's other sets."""
    if new.flawed in texts:
        return Rejection(new.number, "identical to another variant", f"it is the same text as {texts[new.flawed]}")
    for other in others:
        if new.steps == other.steps or (kind == "single" and new.steps[0] == other.steps[0]):
            detail = f"it changes the same place as variant {other.number}; choose another step"
            return Rejection(new.number, "the same place as another variant", detail)
        if kind == "multi" and new.combination == other.combination:
            combination = f"[{', '.join(map(str, new.combination))}]"
            detail = f"variant {other.number} breaks {combination} too; choose another combination of principles"
            return Rejection(new.number, "the same principles as another variant", detail)
    return None


def _form(reference: str, text: str) -> tuple[str, str] | None:
    """Numbering and length, as (reason, detail)."""
    old, new = ([mark.strip() for mark in numbering(t)] for t in (reference, text))
    if old != new:
        at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        was, now = (marks[at] if at < len(marks) else "nothing" for marks in (old, new))
        return "the numbering differs", f"its numbering or bullets differ from the original: {now!r} instead of {was!r}"
    ratio = len(text) / len(reference)
    if not SHORTEST <= ratio <= LONGEST:
        return "the length differs", f"it is {ratio:.2f} times as long as the original; keep the length"
    return None


def _differences(reference: str, found: Sequence[Place], kind: Kind, wanted: int) -> tuple[str, str] | None:
    """Whether the variant differs, says nothing about it, and does so in as many places as it should."""
    if not found:
        return "the same text as the reference", "it is the original, unchanged"
    for place in found:
        old, new = reference[place.edit.start : place.edit.end], place.edit.replacement
        if (trace := clue(old, new)) is not None:
            return "an annotation or a clue", f"it gives its flaw away by {_short(trace)!r}"
        if said(old) == said(new):
            return "no word is changed", f"{_short(new)!r} differs from the original in punctuation or capitals only"
    if len(found) != wanted:
        at = "; ".join(f"{_short(place.edit.replacement or '(left out)')!r}" for place in found[:6])
        if kind == "single":
            return (
                "more than one place",
                f"it differs from the original in {len(found)} places ({at}); change one sentence only",
            )
        detail = f"it lists {wanted} principles and differs from the original in {len(found)} places ({at})"
        return "places and principles differ in number", f"{detail}; change one sentence in a step of its own for each"
    return None


def _flaw(case: Case, flawed: str, edit: Edit, span: Span, principle: int) -> Flaw:
    spans = contradicted(case, edit, flawed[span.start : span.end]) if principle == 2 else ()
    return Flaw(principle=principle, operator=OPERATOR, span=span, context_spans=spans)


def contradicted(case: Case, edit: Edit, new: str) -> tuple[Span, ...]:
    """Places of the context that hold what an edit has replaced: the old words where they stand together, else the
    sentences with all of them and most of the words that stayed; none where no string match finds any."""
    old = case.reference[edit.start : edit.end]
    gone = set(content_words(old)) - set(map(stem, words(new)))
    told = holding(case.context, gone) if gone else []
    if not told:
        return ()
    sentence = _around(case.reference, edit)
    common = [len(s.words & sentence) for s in told]
    best = [s for s, n in zip(told, common, strict=True) if n == max(common)]
    exact = [x for x in occurrences(case.context, old) for s in best if s.start <= x.start and x.end <= s.end]
    return tuple(exact or (Span(start=s.start, end=s.end) for s in best))


def _around(reference: str, edit: Edit) -> frozenset[str]:
    """The content words of the line in which an edit stands."""
    start = reference.rfind("\n", 0, edit.start) + 1
    end = reference.find("\n", edit.end)
    return frozenset(content_words(reference[start : end if end >= 0 else len(reference)]))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else f"{flat[:57]}…"
