"""Limits how often rules use the same words, because a reader who knows the words needs no case.

The form of a flaw is what it puts in (`no violation` for `a violation`: `no`), or what it leaves out if it puts in
nothing. A form is not used again while it makes up a tenth of the flaws of its principle in its set.
"""

from collections import Counter, defaultdict

from data_builders.perturb.rules.operators import Operator
from data_builders.text_units.edits import Edit

LIMIT = 10
"""One over the largest share of a form."""


class Forms:
    """The forms of one build. Which flaws a case gets depends on the cases before it, whose order a build fixes."""

    def __init__(self) -> None:
        self._used: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)

    def allows(self, kind: str, rule: Operator, edit: Edit, reference: str) -> bool:
        """Whether the form of an edit is new in its set, or makes up less than a tenth of it."""
        used = self._used[kind, rule.principle]
        count = used[_form(edit, reference)]
        return not count or LIMIT * count < used.total()

    def add(self, kind: str, rule: Operator, edit: Edit, reference: str) -> None:
        """Count the form of a flaw."""
        self._used[kind, rule.principle][_form(edit, reference)] += 1


def _form(edit: Edit, reference: str) -> str:
    new = " ".join(edit.replacement.lower().split())
    return new or f"without {' '.join(reference[edit.start : edit.end].lower().split())}"
