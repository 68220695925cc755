"""What an operator is: a named way to break one principle in one step of a reference reasoning.

An operator looks at a case and one step and returns the edit that breaks the step, or None where it does not fit.
It must be a pure function of its arguments; all chance comes from the `Random` it is given.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from judge_r1.core.records import Case, Span


@dataclass(frozen=True)
class Step:
    """One step of a reasoning: characters `[start, end)` of the reference, numbering and bullet included."""

    index: int
    start: int
    end: int
    text: str

    def edit(self, place: tuple[int, int], replacement: str, *context_spans: Span) -> "Edit":
        """The edit that replaces the characters `place` of the step's text."""
        return Edit(self.start + place[0], self.start + place[1], replacement, context_spans)


@dataclass(frozen=True)
class Edit:
    """Replace characters `[start, end)` of the reference by `replacement`; `context_spans` are the places of the
    case's context that the new text contradicts. A pure insertion has start == end."""

    start: int
    end: int
    replacement: str
    context_spans: tuple[Span, ...] = ()


OperatorFunction = Callable[[Case, Step, Random], Edit | None]


@dataclass(frozen=True)
class Operator:
    name: str
    principle: int
    apply: OperatorFunction


OPERATORS: dict[str, list[Operator]] = defaultdict(list)
"""Operators by rule set: `text` for real prose, `mini` for the generated vocabulary."""


def operator(principle: int, name: str, *, rule_set: str = "text") -> Callable[[OperatorFunction], OperatorFunction]:
    """Register a function as the operator `name` of a rule set."""

    def add(apply: OperatorFunction) -> OperatorFunction:
        OPERATORS[rule_set].append(Operator(name, principle, apply))
        return apply

    return add
