"""Applies operators to the steps of a case and builds checked pairs from the edits.

Random generators are seeded by (case, seed, operator, step, salt), so an edit does not depend on the edits before it.
"""

from collections import Counter
from collections.abc import Sequence

from data_builders.perturb.pair_checks import check_pair
from data_builders.perturb.rules.clauses import is_balanced
from data_builders.perturb.rules.operators import Edit, Operator, Step, seeded_random
from data_builders.perturb.rules.text_match import content_words, sentence_index
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span

TEACHER = "rules"
MIN_RESTATED = 3
"""Words, besides the changed ones, by which another sentence repeats a citation."""
PlannedEdit = tuple[Operator, Step, Edit]


def apply_edits(text: str, edits: Sequence[Edit]) -> tuple[str, list[Span]]:
    """Return the edited text, and the span of each replacement in it, in the order of `edits`.

    The span of an empty replacement is the character before it.

    Raises:
        ValueError: two edits overlap.
    """
    spans: dict[int, Span] = {}
    parts, position, length = [], 0, 0
    for index, edit in sorted(enumerate(edits), key=lambda entry: entry[1].start):
        if edit.start < position:
            raise ValueError(f"two edits overlap at character {edit.start} of the reference")
        parts += [text[position : edit.start], edit.replacement]
        length += edit.start - position
        start = length if edit.replacement else max(0, length - 1)
        length += len(edit.replacement)
        spans[index] = Span(start=start, end=max(length, start + 1))
        position = edit.end
    return "".join([*parts, text[position:]]), [spans[index] for index in range(len(edits))]


def _is_repeated(reference: str, step: Step, edit: Edit) -> bool:
    """Whether a sentence outside the changed citation has the removed words and `MIN_RESTATED` more of its words."""
    changed = (c.whole for c in step.citations if c.whole[0] <= edit.start - step.start < c.whole[1])
    whole = next(changed, None)
    if whole is None:
        return False
    start, end = step.start + whole[0], step.start + whole[1]
    removed = set(content_words(reference[edit.start : edit.end])) - set(content_words(edit.replacement))
    rest = set(content_words(reference[start:end])) - removed
    return any(
        removed <= other.stems and len(rest & other.stems) >= MIN_RESTATED
        for other in sentence_index(reference)
        if other.end <= start or end <= other.start
    )


class CaseEdits:
    """The edits of one case, cached by operator, step and salt, each with its own random generator."""

    def __init__(self, case: Case, seed: int) -> None:
        self.case, self.seed = case, seed
        self._edits: dict[tuple[str, int, str], Edit | None] = {}
        self.rejected: Counter[str] = Counter()

    def edit(self, rule: Operator, step: Step, salt: str) -> Edit | None:
        key = (rule.name, step.index, salt)
        if key not in self._edits:
            edit = rule.apply(self.case, step, seeded_random(self.case, self.seed, *key))
            self._edits[key] = edit if edit is None or self._is_usable(rule, step, edit) else None
        return self._edits[key]

    def _is_usable(self, rule: Operator, step: Step, edit: Edit) -> bool:
        """Whether the edit changes something, keeps brackets closed, and leaves citations to P2 and P4.

        Statements are left to P4. A remark is replaced as a whole or not at all, and no text is put between a citation
        and its remark. P2 leaves citations alone that another sentence of the reference repeats, because that sentence
        would show the flaw.
        """
        start, end = edit.start - step.start, edit.end - step.start
        kept = [citation.whole for citation in step.citations if rule.principle not in (2, 4)]
        kept += [part for part in step.remarks if part != (start, end)]
        kept += [(a, b) for a, b, _ in step.statements if rule.principle != 4]
        if any(a < end and start < b for a, b in kept) or any(start == end == a - 1 for a, _ in step.remarks):
            return False
        old = self.case.reference[edit.start : edit.end]
        if rule.principle == 2 and _is_repeated(self.case.reference, step, edit):
            return False
        return edit.replacement != old and is_balanced(old) == is_balanced(edit.replacement)

    def pair(self, planned: Sequence[PlannedEdit], variant: int) -> ReasoningPair | None:
        """Return the pair with these edits, or None if `check_pair` rejects it; rejections are counted."""
        flawed, spans = apply_edits(self.case.reference, [edit for _, _, edit in planned])
        flaws = tuple(
            Flaw(principle=rule.principle, operator=rule.name, span=span, context_spans=edit.context_spans)
            for (rule, _, edit), span in zip(planned, spans, strict=True)
        )
        flaws = tuple(sorted(flaws, key=lambda flaw: flaw.span.start))
        origin = Origin(teacher=TEACHER, seed=self.seed, flaws=flaws)
        pair = ReasoningPair.of(self.case, flawed, variant=variant, origin=origin, seed=self.seed)
        reason = check_pair(self.case, pair)
        if reason is not None:
            self.rejected[reason] += 1
            return None
        return pair
