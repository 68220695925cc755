"""Applies operators to the steps of a case and builds checked pairs from the edits.

Random generators are seeded by (case, seed, operator, step, salt), so an edit does not depend on the edits before it.
"""

from collections import Counter
from collections.abc import Sequence

from data_builders.perturb.pair_checks import RULES, check_pair
from data_builders.perturb.rules.forms import Forms, form_of
from data_builders.perturb.rules.operators import Operator, seeded_random
from data_builders.text_units.clauses import is_balanced
from data_builders.text_units.edits import Edit, apply_edits
from data_builders.text_units.steps import Step
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair

SINGLE = "single"
"""The salt of the edits of single pairs."""
PlannedEdit = tuple[Operator, Step, Edit]


class CaseEdits:
    """The edits of one case, cached by operator, step and salt, each with its own random generator."""

    def __init__(self, case: Case, seed: int, forms: Forms | None = None) -> None:
        self.case, self.seed, self._forms = case, seed, forms
        self._edits: dict[tuple[str, int, str], list[Edit]] = {}
        self._barren: set[tuple[str, int]] = set()
        self.rejected: Counter[str] = Counter()
        self.used_up: set[tuple[str, int]] = set()
        """The kinds and principles of which an edit was left out for its form."""

    def edits(self, rule: Operator, step: Step, salt: str) -> list[Edit]:
        """The edits of an operator that change something, keep brackets closed and have a form that is not used up, in
        random order."""
        found, kind = self._found(rule, step, salt), _kind(salt)
        if self._forms is None:
            return found
        allowed = [
            edit for edit in found if self._forms.allows(kind, rule.principle, form_of(edit, self.case.reference))
        ]
        if len(allowed) < len(found):
            self.used_up.add((kind, rule.principle))
        return allowed

    def _found(self, rule: Operator, step: Step, salt: str) -> list[Edit]:
        """Where an operator finds none, it is not asked again: another salt draws other words, not other places."""
        key = (rule.name, step.index, salt)
        if key[:2] in self._barren:
            return []
        if key not in self._edits:
            rng = seeded_random(self.case, self.seed, *key)
            found = [edit for edit in rule.apply(self.case, step, rng) if self._is_usable(edit)]
            self._edits[key] = rng.sample(found, len(found))
            if not found:
                self._barren.add(key[:2])
        return self._edits[key]

    def edit(self, rule: Operator, step: Step, salt: str) -> Edit | None:
        """The first edit of an operator."""
        return next(iter(self.edits(rule, step, salt)), None)

    def _is_usable(self, edit: Edit) -> bool:
        old = self.case.reference[edit.start : edit.end]
        return edit.replacement != old and is_balanced(old) == is_balanced(edit.replacement)

    def take_rejected(self, name: str) -> Counter[str]:
        """The rejections since the last call, by reason, for a set."""
        found = Counter({f"{name}: rejected: {reason}": count for reason, count in sorted(self.rejected.items())})
        self.rejected.clear()
        return found

    def pair(self, planned: Sequence[PlannedEdit], variant: int) -> ReasoningPair | None:
        """Return the pair with these edits, or None if `check_pair` rejects it; rejections are counted."""
        flawed, spans = apply_edits(self.case.reference, [edit for _, _, edit in planned])
        flaws = tuple(
            Flaw(principle=rule.principle, operator=rule.name, span=span, context_spans=edit.context_spans)
            for (rule, _, edit), span in zip(planned, spans, strict=True)
        )
        flaws = tuple(sorted(flaws, key=lambda flaw: flaw.span.start))
        origin = Origin(teacher=RULES, seed=self.seed, flaws=flaws)
        pair = ReasoningPair.of(self.case, flawed, variant=variant, origin=origin, seed=self.seed)
        reason = check_pair(self.case, pair)
        if reason is not None:
            self.rejected[reason] += 1
            return None
        for rule, _, edit in planned:
            if self._forms is not None:
                self._forms.add(pair.kind, rule.principle, form_of(edit, self.case.reference))
        return pair


def _kind(salt: str) -> str:
    return SINGLE if salt == SINGLE else "multi"
