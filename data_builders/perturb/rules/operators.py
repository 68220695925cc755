"""Defines operators: named functions that break one principle in one step of a reference reasoning.

An operator takes a case and a step and yields the edits that break the step, none if it has no natural place there.
Operators are pure functions of their arguments: all randomness comes from the `Random` that they receive.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from data_builders.text_units.edits import Edit
from data_builders.text_units.steps import Step
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case

OperatorFunction = Callable[[Case, Step, Random], Iterator[Edit]]


@dataclass(frozen=True)
class Operator:
    name: str
    principle: int
    apply: OperatorFunction


OPERATORS: dict[str, list[Operator]] = defaultdict(list)
"""Operators by rule set: `text` for natural prose, `mini` and `haystack` for the toy worlds."""


def operator(principle: int, name: str, *, rule_set: str = "text") -> Callable[[OperatorFunction], OperatorFunction]:
    """Register a function as operator `name` of a rule set."""

    def register(function: OperatorFunction) -> OperatorFunction:
        OPERATORS[rule_set].append(Operator(name, principle, function))
        return function

    return register


def seeded_random(case: Case, seed: int, *parts: str | int) -> Random:
    """Return a generator that depends on case, seed and parts only."""
    return Random(int(content_hash(case.case_id, seed, *parts), 16))
