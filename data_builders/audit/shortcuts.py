"""The shortcut audit: what a set of pairs gives away to readers that never see a case.

P2 and P4 are flaws that only the case can show, so no reader may find them: the upper end of the 95 % interval must
stay below `BOUND`, or the group is flagged with the words that tell. Where the set has several domains each is probed
by itself too, so that one cannot hide behind another. The other principles show in the text by their nature; their
numbers are reported, with the accuracy on operators that the reader never met.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from data_builders.audit.features import READERS
from data_builders.audit.shortcut_probe import (
    LEAST_CASES,
    HeldOut,
    ProbeError,
    Row,
    cases_of,
    cross_validated,
    groups_of,
    held_out,
)
from judge_r1.core.records import ReasoningPair

BOUND = 0.60
HIDDEN = ("P2", "P4")
"""Principles whose flaws the case alone can show."""
SHOWN = ("P1", "P3", "P5", "P6")
Verdict = Literal["pass", "FLAGGED", "reported"]


@dataclass(frozen=True)
class Finding:
    """What one reader found in one group; `held_out` only for the principles that show in the text."""

    row: Row
    verdict: Verdict
    held_out: HeldOut | None = None

    @property
    def why(self) -> str:
        """What the verdict rests on, where it needs a word."""
        low, high = self.row.ci95
        if self.verdict == "FLAGGED":
            return "leaks" if low > 0.5 else f"too few pairs to tell: {self.row.pairs}"
        return "below chance" if self.verdict == "pass" and high < 0.5 else ""


@dataclass(frozen=True)
class ShortcutAudit:
    """All findings, and the groups that were not probed with the reason."""

    pairs: int
    cases: int
    seed: int
    findings: tuple[Finding, ...]
    not_probed: dict[str, str]

    @property
    def flagged(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.verdict == "FLAGGED"]


def audit_shortcuts(pairs: Sequence[ReasoningPair], *, seed: int = 0) -> ShortcutAudit:
    """Every group before every reader; ProbeError where no group has enough cases."""
    findings: list[Finding] = []
    not_probed: dict[str, str] = {}
    for name, group in _groups(pairs):
        if (found := cases_of(group)) < LEAST_CASES:
            not_probed[name] = f"{len(group)} pairs of {found} cases, where {LEAST_CASES} cases are needed"
            continue
        findings += _findings(name, group, seed)
    if not findings:
        found = cases_of(pairs)
        raise ProbeError(f"the audit needs pairs of at least {LEAST_CASES} cases, here are {found}: build more")
    return ShortcutAudit(len(pairs), cases_of(pairs), seed, tuple(findings), not_probed)


def _groups(pairs: Sequence[ReasoningPair]) -> Iterator[tuple[str, list[ReasoningPair]]]:
    groups = groups_of(pairs)
    domains = sorted({pair.domain for pair in pairs})
    for name, group in groups.items():
        yield name, group
        if name in HIDDEN and len(domains) > 1:
            for domain in domains:
                yield f"{name} {domain}", [pair for pair in group if pair.domain == domain]


def _findings(name: str, group: list[ReasoningPair], seed: int) -> Iterator[Finding]:
    for reader in READERS:
        row = cross_validated(name, group, reader, seed=seed)
        verdict: Verdict = "reported"
        if name.startswith(HIDDEN):
            verdict = "pass" if row.ci95[1] < BOUND else "FLAGGED"
        yield Finding(row, verdict, held_out(name, group, reader, seed=seed) if name in SHOWN else None)


def as_json(audit: ShortcutAudit) -> dict[str, Any]:
    """The content of audit.json; numbers are rounded to four places, so that machines agree on them."""
    return {
        "schema": 1,
        "pairs": audit.pairs,
        "cases": audit.cases,
        "seed": audit.seed,
        "bound": BOUND,
        "flagged": [{"group": f.row.name, "reader": f.row.reader, "why": f.why} for f in audit.flagged],
        "findings": [_finding(finding) for finding in audit.findings],
        "not_probed": audit.not_probed,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    entry = {"group": finding.row.name, "verdict": finding.verdict, "why": finding.why, **_numbers(finding.row)}
    if (unseen := finding.held_out) is not None:
        entry["held_out"] = {
            **_numbers(unseen.overall),
            "by_operator": {name: _numbers(row) for name, row in unseen.by_operator.items()},
            "too_few": list(unseen.too_few),
        }
    return entry


def _numbers(row: Row) -> dict[str, Any]:
    return {
        "reader": row.reader,
        "pairs": row.pairs,
        "cases": row.cases,
        "accuracy": round(row.accuracy, 4),
        "ci95": [round(bound, 4) for bound in row.ci95],
        "telling": list(row.telling),
    }
