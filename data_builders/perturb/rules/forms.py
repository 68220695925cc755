"""Limits how often rules use the same words, because a reader who knows the words needs no case.

The form of a flaw is what it puts in (`no violation` for `a violation`: `no`), or what it leaves out if it puts in
nothing. A form is not used again while it makes up a tenth of the flaws of its principle in its set.
"""

from collections import Counter, defaultdict

from data_builders.text_units.edits import Edit

LIMIT = 10
"""One over the largest share of a form."""


class Forms:
    """The forms of one build. Which flaws a case gets depends on the cases before it, whose order a build fixes."""

    def __init__(self) -> None:
        self._used: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)

    def allows(self, kind: str, principle: int, form: str) -> bool:
        """Whether a form is new among the flaws of a principle in single or multi pairs, or less than a tenth."""
        used = self._used[kind, principle]
        return not used[form] or LIMIT * used[form] < used.total()

    def add(self, kind: str, principle: int, form: str) -> None:
        """Count the form of a flaw."""
        self._used[kind, principle][form] += 1


def form_of(edit: Edit, reference: str) -> str:
    """The form of an edit of the reference."""
    new = " ".join(edit.replacement.lower().split())
    return new or f"without {' '.join(reference[edit.start : edit.end].lower().split())}"
