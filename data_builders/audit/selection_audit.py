"""What readers without the case find in the candidates of a build, and in those that it has chosen.

A short form of the shortcut audit: of each kind of reader only the one that finds most. Words are read only where the
case is needed to find a flaw (`CASE_DEPENDENT`).
"""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from data_builders.audit.shortcut_probe import (
    MIN_CASES,
    case_count,
    cross_validate,
    groups_of,
    one_line_rules,
)
from data_builders.audit.shortcuts import CASE_DEPENDENT, result_entry
from data_builders.perturb.balance.selection import Candidate
from judge_r1.core.records import Case, ReasoningPair

MAX_CASES = 200
"""Cases whose candidates are kept in memory and read: the first ones of the build."""


class SelectionAudit:
    """Collects the candidates and the chosen pairs of a build."""

    def __init__(self) -> None:
        self._cases = 0
        self._before: list[ReasoningPair] = []
        self._after: list[ReasoningPair] = []

    def add(self, case: Case, candidates: Sequence[Candidate], chosen: Sequence[ReasoningPair]) -> None:
        """Add a case. Cases of one article or paper count as one."""
        if self._cases == MAX_CASES:
            return
        self._cases += 1
        for kept, pairs in ((self._before, [one.pair for one in candidates]), (self._after, chosen)):
            kept += [pair.model_copy(update={"case_id": case.group}) for pair in pairs]

    def as_dict(self, seed: int) -> dict[str, Any]:
        """The entry of build.json: the strongest reader of each kind on each set, before and after the choice."""
        before, after = (self._read(pairs, seed) for pairs in (self._before, self._after))
        return {"cases": self._cases, "before": before, "after": after}

    def _read(self, pairs: Sequence[ReasoningPair], seed: int) -> dict[str, Any]:
        sets = {name: group for name, group in groups_of(pairs).items() if name != "single"}
        return {
            name: {"pairs": len(group), **self._strongest(name, group, seed)}
            for name, group in sets.items()
            if case_count(group) >= MIN_CASES
        }

    def _strongest(self, name: str, group: Sequence[ReasoningPair], seed: int) -> dict[str, Any]:
        found = {"length": one_line_rules(name, group, seed=seed)}
        if find_spec("sklearn") is not None:
            found["length"].append(cross_validate(name, group, "length", seed=seed))
            if name in CASE_DEPENDENT:
                found["words"] = [cross_validate(name, group, "words", seed=seed)]
        return {kind: result_entry(max(results, key=lambda one: one.ci95[1])) for kind, results in found.items()}
