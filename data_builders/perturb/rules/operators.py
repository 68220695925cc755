"""Defines operators: named functions that break one principle in one step of a reference reasoning.

An operator takes a case and a step. It returns the edit that breaks the step, or None if it does not apply.
Operators are pure functions of their arguments: all randomness comes from the `Random` that they receive.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, Span

if TYPE_CHECKING:
    from data_builders.perturb.rules.citations import Citation

Interval = tuple[int, int]
"""Characters `[start, end)` of a text."""


@dataclass(frozen=True)
class Step:
    """One step of a reasoning: characters `[start, end)` of the reference, including its numbering and bullet."""

    index: int
    start: int
    end: int
    text: str
    citations: "tuple[Citation, ...]" = ()
    remarks: tuple[Interval, ...] = ()
    statements: tuple[tuple[int, int, str], ...] = ()
    """Characters of statements, and their topics."""
    following: str = ""
    """The beginning of the text behind the step."""

    def edit(self, interval: Interval, replacement: str, *context_spans: Span) -> "Edit":
        """Return the edit that replaces `interval` of the step's text."""
        return Edit(self.start + interval[0], self.start + interval[1], replacement, context_spans)


@dataclass(frozen=True)
class Edit:
    """Replaces characters `[start, end)` of the reference. An insertion has start == end.

    `context_spans` locate the text of the case's context that the replacement contradicts.
    """

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
"""Operators by rule set: `text` for natural prose, `mini` for the generated vocabulary."""


def operator(principle: int, name: str, *, rule_set: str = "text") -> Callable[[OperatorFunction], OperatorFunction]:
    """Register a function as operator `name` of a rule set."""

    def register(function: OperatorFunction) -> OperatorFunction:
        OPERATORS[rule_set].append(Operator(name, principle, function))
        return function

    return register


def seeded_random(case: Case, seed: int, *parts: str | int) -> Random:
    """Return a generator that depends on case, seed and parts only."""
    return Random(int(content_hash(case.case_id, seed, *parts), 16))
