"""The shortcut audit: tests whether a set of pairs reveals its labels to readers that never see a case.

A reader is a one-line rule, a trained classifier, or a language model. P2 and P4 flaws can be found only by consulting
the case, so no reader may find them. Flaws of the other principles are visible in the text, so a reader may find them
by their words, but not by counts or by likelihood. A group is flagged unless the upper end of its strongest reader's
95 % interval is below the bound. Domains of P2 and P4 are also read separately, so that none masks another. One more
reader tells the principle instead of the side (`probe_principle`).

`SelectionAudit` is a short form for the candidates of a build and those that it has chosen: of each kind of reader only
the one that finds most, and words only where the case is needed to find a flaw (`CASE_DEPENDENT`).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from data_builders.audit.features import PROBES, Differences
from data_builders.audit.shortcut_probe import (
    GROUP,
    MIN_CASES,
    ProbeResult,
    case_count,
    cross_validate,
    groups_of,
    one_line_rules,
    probe_principle,
    told_principles,
    too_few_cases,
    zero_shot_likelihood,
)
from judge_r1.core.progress import show_progress
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.text_check import counted

if TYPE_CHECKING:
    from data_builders.perturb.selection import Candidate  # which needs NumPy


AUDIT_FILE = "audit.json"
BOUND = 0.60
"""Bound of every reader on `CASE_DEPENDENT`."""
VISIBLE_BOUND = 0.70
"""Bound on `TEXT_VISIBLE` of the readers that do not see words."""
SEMANTIC = ("words", "common words")
"""The readers that see words."""
CASE_DEPENDENT = ("P2", "P4")
CASE_DEPENDENT_FACTOR = 3
"""Principles whose flaws can be found only by consulting the case."""
TEXT_VISIBLE = ("P1", "P3", "P5", "P6")
"""Principles whose flaws are visible in the text."""
Verdict = Literal["pass", "FLAGGED", "reported"]


@dataclass(frozen=True)
class Finding:
    """One reader on one group. `bound` is None where the accuracy is only reported."""

    result: ProbeResult
    bound: float | None

    @property
    def verdict(self) -> Verdict:
        if self.bound is None:
            return "reported"
        return "pass" if self.result.ci95[1] < self.bound else "FLAGGED"

    @property
    def reason(self) -> str:
        """The reason for the verdict, or an empty string if it needs none."""
        low, high = self.result.ci95
        if self.verdict == "FLAGGED":
            leaks = low > 0.5 if self.bound == BOUND else self.result.accuracy >= (self.bound or 0)
            return "leaks" if leaks else f"too few pairs to tell: {self.result.pairs}"
        of_sides = self.result.group != GROUP  # where chance is .5
        return "below chance" if self.verdict == "pass" and high < 0.5 and of_sides else ""


@dataclass(frozen=True)
class ShortcutAudit:
    """All findings, and the groups that were not probed with the reasons.

    `language_model` is the name of the model that read the texts, or None, and `read` the number of pairs it read.
    `look_up` has the accuracy of the rule that reads the case (`data_builders.audit.look_up`).
    """

    pairs: int
    cases: int
    seed: int
    findings: tuple[Finding, ...]
    not_probed: dict[str, str]
    language_model: str | None = None
    read: int = 0
    look_up: tuple[ProbeResult, ...] = ()

    @property
    def flagged(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.verdict == "FLAGGED"]

    def flag_lines(self) -> list[str]:
        """One line for each flagged group: its strongest reader, then the others."""
        groups: dict[str, list[Finding]] = {}
        for finding in sorted(self.flagged, key=lambda found: -found.result.ci95[1]):
            groups.setdefault(finding.result.group, []).append(finding)
        names = dict.fromkeys(finding.result.group for finding in self.findings)
        return [_flag(*groups[name]) for name in names if name in groups]

    def strongest(self) -> list[Finding]:
        """The finding of each group whose upper bound is highest above its bound; reported ones only if all are."""
        best: dict[str, Finding] = {}
        for finding in self.findings:
            name = finding.result.group
            if name not in best or _strength(finding) > _strength(best[name]):
                best[name] = finding
        return list(best.values())


def _flag(first: Finding, *others: Finding) -> str:
    low, high = first.result.ci95
    line = f"FLAGGED: {first.result.group}, {first.result.probe} [{low:.3f}, {high:.3f}], bound {first.bound:.2f}"
    features = f"; top features: {', '.join(first.result.top_features)}" if first.result.top_features else ""
    also = f"; also {', '.join(finding.result.probe for finding in others)}" if others else ""
    return f"{line}: {first.reason}{features}{also}"


def _strength(finding: Finding) -> tuple[bool, float]:
    return finding.bound is not None, finding.result.ci95[1]


def audit_shortcuts(
    pairs: Sequence[ReasoningPair],
    *,
    seed: int = 0,
    language_model: str | None = None,
    differences: Differences | None = None,
    look_up: tuple[ProbeResult, ...] = (),
) -> ShortcutAudit:
    """Run every reader on every group. The readers with a language model see the pairs of `differences`
    (see `likelihood.pair_likelihoods`), which may be a sample.

    Raises:
        ProbeError: no group has enough cases.
    """
    check_case_count(pairs)
    differences = differences or {}
    findings: list[Finding] = []
    not_probed: dict[str, str] = {}
    groups = list(_groups(pairs))
    with show_progress("probing groups of pairs", len(groups)) as one_done:
        for name, group in groups:
            if (cases := case_count(group)) < MIN_CASES:
                not_probed[name] = (
                    f"{counted(len(group), 'pair')} of {counted(cases, 'case')}, but {MIN_CASES} cases are needed"
                )
            else:
                findings += _findings(name, group, differences, seed)
            one_done()
    told = told_principles(pairs)
    if len(told) > 1:
        findings.append(Finding(probe_principle(told, seed=seed), principle_bound(told)))
    else:
        not_probed[GROUP] = f"{MIN_CASES} cases of each of two principles are needed"
    return ShortcutAudit(
        len(pairs), case_count(pairs), seed, tuple(findings), not_probed, language_model, len(differences), look_up
    )


def check_case_count(pairs: Sequence[ReasoningPair]) -> None:
    """Raises: ProbeError if no group has enough cases."""
    if all(case_count(group) < MIN_CASES for _, group in _groups(pairs)):
        raise too_few_cases("audit", pairs)


def likelihood_sample(pairs: Sequence[ReasoningPair], count: int, seed: int) -> list[ReasoningPair]:
    """Up to `count` random pairs of each principle and of the multi pairs, in the order of `pairs`.

    P2 and P4 get `CASE_DEPENDENT_FACTOR` times as many: their bound is the narrower one.
    """
    from random import Random

    groups = groups_of(pairs)
    del groups["single"]  # the union of the principles
    counts = {name: count * (CASE_DEPENDENT_FACTOR if name in CASE_DEPENDENT else 1) for name in groups}
    wanted = {
        pair.pair_id
        for name, group in groups.items()
        for pair in Random(seed).sample(group, min(counts[name], len(group)))
    }
    return [pair for pair in pairs if pair.pair_id in wanted]


def _groups(pairs: Sequence[ReasoningPair]) -> Iterator[tuple[str, list[ReasoningPair]]]:
    domains = sorted({pair.domain for pair in pairs})
    for name, group in groups_of(pairs).items():
        yield name, group
        if name in CASE_DEPENDENT and len(domains) > 1:
            for domain in domains:
                yield f"{name} {domain}", [pair for pair in group if pair.domain == domain]


def _findings(name: str, group: list[ReasoningPair], differences: Differences, seed: int) -> Iterator[Finding]:
    for result in one_line_rules(name, group, seed=seed):
        yield Finding(result, _bound(name, result.probe))
    for probe in PROBES:
        yield Finding(cross_validate(name, group, probe, seed=seed), _bound(name, probe))
    read = [pair for pair in group if pair.pair_id in differences]
    if case_count(read) >= MIN_CASES:
        for result in zero_shot_likelihood(name, read, differences, seed=seed):
            yield Finding(result, _bound(name, result.probe))
        trained = cross_validate(name, read, "likelihood", seed=seed, differences=differences)
        yield Finding(trained, _bound(name, "likelihood"))


def principle_bound(groups: Collection[str]) -> float:
    """The bound on telling the principle: those of `TEXT_VISIBLE` may be told from the text, and of several others each
    one as often as its side (`BOUND`)."""
    hidden = [name for name in groups if name in CASE_DEPENDENT]
    return (len(groups) - len(hidden) + len(hidden) * (BOUND if len(hidden) > 1 else 1)) / len(groups)


def _bound(group: str, reader: str) -> float | None:
    if group.startswith(CASE_DEPENDENT):
        return BOUND
    return VISIBLE_BOUND if group in TEXT_VISIBLE and reader not in SEMANTIC else None


def as_json(audit: ShortcutAudit) -> dict[str, Any]:
    """Return the content of audit.json. Numbers are rounded to four places, so that different machines agree."""
    return {
        "schema": 1,
        "pairs": audit.pairs,
        "cases": audit.cases,
        "seed": audit.seed,
        "bound": BOUND,
        "visible_bound": VISIBLE_BOUND,
        "language_model": {"name": audit.language_model, "pairs": audit.read} if audit.language_model else None,
        "flagged": [{"group": f.result.group, "reader": f.result.probe, "why": f.reason} for f in audit.flagged],
        "flag_lines": audit.flag_lines(),
        "strongest": [
            {"group": f.result.group, "reader": f.result.probe, "verdict": f.verdict} for f in audit.strongest()
        ],
        "findings": [_finding_entry(finding) for finding in audit.findings],
        "not_probed": audit.not_probed,
        "look_up": [{"group": result.group, **result_entry(result)} for result in audit.look_up],
    }


def _finding_entry(finding: Finding) -> dict[str, Any]:
    result = finding.result
    return {"group": result.group, "verdict": finding.verdict, "why": finding.reason, **result_entry(result)}


def result_entry(result: ProbeResult) -> dict[str, Any]:
    """The numbers of one reader, as in audit.json."""
    return {
        "reader": result.probe,
        "pairs": result.pairs,
        "cases": result.cases,
        "accuracy": round(result.accuracy, 4),
        "ci95": [round(bound, 4) for bound in result.ci95],
        "telling": list(result.top_features),
    }


MAX_CASES = 200
"""Cases whose candidates are kept in memory and read: the first ones of the build."""


class SelectionAudit:
    """Collects the candidates and the chosen pairs of a build."""

    def __init__(self) -> None:
        self._cases = 0
        self._before: list[ReasoningPair] = []
        self._after: list[ReasoningPair] = []

    def add(self, case: Case, candidates: Sequence["Candidate"], chosen: Sequence[ReasoningPair]) -> None:
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
