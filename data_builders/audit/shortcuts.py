"""The shortcut audit: tests whether a set of pairs reveals its labels to probes that never see a case.

P2 and P4 flaws can be found only by consulting the case: a group is flagged unless the upper end of a probe's 95 %
interval is below `BOUND`. Domains are also probed separately, so that none masks another. Flaws of the other principles
are visible in the text; their accuracies, and those on held-out operators, are reported.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from data_builders.audit.features import PROBES
from data_builders.audit.shortcut_probe import (
    MIN_CASES,
    HeldOutResult,
    ProbeResult,
    case_count,
    cross_validate,
    groups_of,
    held_out_operators,
    too_few_cases,
)
from judge_r1.core.records import ReasoningPair

BOUND = 0.60
CASE_DEPENDENT = ("P2", "P4")
"""Principles whose flaws can be found only by consulting the case."""
TEXT_VISIBLE = ("P1", "P3", "P5", "P6")
"""Principles whose flaws are visible in the text."""
Verdict = Literal["pass", "FLAGGED", "reported"]


@dataclass(frozen=True)
class Finding:
    """One probe on one group. `held_out` is set for the principles of `TEXT_VISIBLE` only."""

    result: ProbeResult
    verdict: Verdict
    held_out: HeldOutResult | None = None

    @property
    def reason(self) -> str:
        """The reason for the verdict, or an empty string if it needs none."""
        low, high = self.result.ci95
        if self.verdict == "FLAGGED":
            return "leaks" if low > 0.5 else f"too few pairs to tell: {self.result.pairs}"
        return "below chance" if self.verdict == "pass" and high < 0.5 else ""


@dataclass(frozen=True)
class ShortcutAudit:
    """All findings, and the groups that were not probed with the reasons."""

    pairs: int
    cases: int
    seed: int
    findings: tuple[Finding, ...]
    not_probed: dict[str, str]

    @property
    def flagged(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.verdict == "FLAGGED"]


def audit_shortcuts(pairs: Sequence[ReasoningPair], *, seed: int = 0) -> ShortcutAudit:
    """Run every probe on every group.

    Raises:
        ProbeError: no group has enough cases.
    """
    findings: list[Finding] = []
    not_probed: dict[str, str] = {}
    for name, group in _groups(pairs):
        if (cases := case_count(group)) < MIN_CASES:
            not_probed[name] = f"{len(group)} pairs of {cases} cases, but {MIN_CASES} cases are needed"
            continue
        findings += _findings(name, group, seed)
    if not findings:
        raise too_few_cases("audit", pairs)
    return ShortcutAudit(len(pairs), case_count(pairs), seed, tuple(findings), not_probed)


def _groups(pairs: Sequence[ReasoningPair]) -> Iterator[tuple[str, list[ReasoningPair]]]:
    domains = sorted({pair.domain for pair in pairs})
    for name, group in groups_of(pairs).items():
        yield name, group
        if name in CASE_DEPENDENT and len(domains) > 1:
            for domain in domains:
                yield f"{name} {domain}", [pair for pair in group if pair.domain == domain]


def _findings(name: str, group: list[ReasoningPair], seed: int) -> Iterator[Finding]:
    for probe in PROBES:
        result = cross_validate(name, group, probe, seed=seed)
        verdict: Verdict = "reported"
        if name.startswith(CASE_DEPENDENT):
            verdict = "pass" if result.ci95[1] < BOUND else "FLAGGED"
        held_out = held_out_operators(name, group, probe, seed=seed) if name in TEXT_VISIBLE else None
        yield Finding(result, verdict, held_out)


def as_json(audit: ShortcutAudit) -> dict[str, Any]:
    """Return the content of audit.json. Numbers are rounded to four places, so that different machines agree."""
    return {
        "schema": 1,
        "pairs": audit.pairs,
        "cases": audit.cases,
        "seed": audit.seed,
        "bound": BOUND,
        "flagged": [{"group": f.result.group, "reader": f.result.probe, "why": f.reason} for f in audit.flagged],
        "findings": [_finding_entry(finding) for finding in audit.findings],
        "not_probed": audit.not_probed,
    }


def _finding_entry(finding: Finding) -> dict[str, Any]:
    result = finding.result
    entry = {"group": result.group, "verdict": finding.verdict, "why": finding.reason, **_result_entry(result)}
    if (held_out := finding.held_out) is not None:
        entry["held_out"] = {
            **_result_entry(held_out.overall),
            "by_operator": {name: _result_entry(result) for name, result in held_out.by_operator.items()},
            "too_few": list(held_out.too_few),
        }
    return entry


def _result_entry(result: ProbeResult) -> dict[str, Any]:
    return {
        "reader": result.probe,
        "pairs": result.pairs,
        "cases": result.cases,
        "accuracy": round(result.accuracy, 4),
        "ci95": [round(bound, 4) for bound in result.ci95],
        "telling": list(result.top_features),
    }
