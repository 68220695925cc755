"""Measures a judge on degraded copies: Δ per manipulation and length, its tests, leakage, and the effect of length.

Δ is the score of a copy minus that of its original, on one metric. A judge that notices the manipulation has Δ < 0.
Scores are keyed by the name of the metric, never by position. Copies are candidates in the order of the gold.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from judge_r1.core.deltas import MARGIN, ORIGINAL, Deltas, LengthRow, ScoreRow, TaskRow
from judge_r1.core.documents import FULL
from judge_r1.core.items import ItemResult, Vote
from judge_r1.core.verdicts import ChecklistVerdict
from judge_r1.judges.memo.aggregate import SAME
from judge_r1.statistics.intervals import clustered_mean_ci

TESTABLE = 2
"""The least number of documents for a test."""
Ratings = dict[int, dict[str, float]]
"""Candidate -> metric -> mean score of its votes. Candidate 0 is the original."""


def ratings(votes: Sequence[Vote]) -> Ratings:
    """The scores of all candidates. Invalid votes and missing scores are left out."""
    given: dict[int, dict[str, list[float]]] = {}
    for vote in votes:
        if isinstance(vote.verdict, ChecklistVerdict):
            for metric, score in vote.verdict.scores.items():
                given.setdefault(vote.order[0], {}).setdefault(metric, []).append(score)
    return {index: {metric: fmean(found) for metric, found in own.items()} for index, own in given.items()}


def deltas(targets: Mapping[str, str], votes: Sequence[Vote]) -> dict[str, dict[str, float]]:
    """Copy -> metric -> Δ, for the metrics that both the copy and the original have. A Δ below `SAME` is 0: weights by
    characters alone must not make a test significant."""
    found = ratings(votes)
    original = found.get(0, {})

    def of_copy(scores: Mapping[str, float]) -> dict[str, float]:
        gaps = {metric: score - original[metric] for metric, score in scores.items() if metric in original}
        return {metric: 0.0 if abs(gap) < SAME else gap for metric, gap in gaps.items()}

    return {name: of_copy(found.get(position, {})) for position, name in enumerate(targets, 1)}


def detected(targets: Mapping[str, str], votes: Sequence[Vote]) -> dict[str, float | None]:
    """Copy -> 1, ½ or 0 by the sign of Δ on its target metric; None without Δ."""
    found = deltas(targets, votes)
    return {
        name: None if (delta := found[name].get(metric)) is None else _detected(delta)
        for name, metric in targets.items()
    }


def delta_metrics(results: Sequence[ItemResult]) -> dict[str, Any]:
    """The measures of one judge. `detection` and `loss of detection` are means over manipulations; `deltas` holds the
    tables (`task_rows`, `length_rows`) and the counts of scores that are missing."""
    tasks, lengths = task_rows(results), length_rows(results)
    losses = [row["loss_of_detection"] for row in lengths]
    means = [row["detection"] for row in tasks if row["detection"] is not None]
    votes = [vote for result in results for vote in result.votes]
    valid = [vote.verdict for vote in votes if isinstance(vote.verdict, ChecklistVerdict)]
    metrics = {metric for verdict in valid for metric in verdict.scores}
    found = Deltas(
        tasks=[TaskRow(**row) for row in tasks],
        lengths=[LengthRow(**row) for row in lengths],
        scores=score_rows(results),
        texts=len(votes),
        without_scores=len(votes) - len(valid),
        partly_scored=sum(len(verdict.scores) < len(metrics) for verdict in valid),
    )
    return {
        "detection": fmean(means) if means else None,
        "loss of detection": fmean(losses) if losses else None,
        "deltas": found.model_dump(),
    }


def task_rows(results: Sequence[ItemResult]) -> list[dict[str, Any]]:
    """One row per manipulation and length: Δ on the target metric with the t-test for Δ < 0, Wilcoxon's and the sign
    test, detection accuracy, and Δ on the other metrics (`leakage`). `p_holm` is the t-test's p_less, adjusted over all
    rows. A document without Δ is left out and counted as missing; a row may be of no document."""
    rows = []
    for length in _lengths(results):
        part = [result for result in results if result.group == length]
        for name, metric in _targets(part).items():
            found = {
                result.cluster_id: deltas(result.gold, result.votes)[name] for result in part if name in result.gold
            }
            own = {cluster: by_metric[metric] for cluster, by_metric in found.items() if metric in by_metric}
            others = sorted({other for by_metric in found.values() for other in by_metric} - {metric})
            leakage = {other: [one[other] for one in found.values() if other in one] for other in others}
            shares = [_detected(value) for value in own.values()]
            rows.append(
                {
                    "manipulation": name,
                    "length": length,
                    "metric": metric,
                    **_tested(list(own.values())),
                    "missing": len(found) - len(own),
                    "detection": fmean(shares) if own else None,
                    "detection_ci95": list(clustered_mean_ci(shares, list(own))) if own else None,
                    "leakage": {other: _tested(values) for other, values in leakage.items()},
                }
            )
    return _with_holm(rows, "p_less")


def score_rows(results: Sequence[ItemResult]) -> list[ScoreRow]:
    """The mean score of the originals and of each manipulation at each length, on each metric, with the 95 % t-interval
    (thesis, Figs. 3.11, 3.12 and 4.1). Documents without a score are left out."""
    from judge_r1.statistics.paired import paired_t

    given: dict[tuple[str, str, str], list[float]] = {}
    for length in _lengths(results):
        for result in results:
            if result.group == length:
                names = [ORIGINAL, *result.gold]
                for index, scores in ratings(result.votes).items():
                    for metric, score in sorted(scores.items()):
                        given.setdefault((names[index], length, metric), []).append(score)
    rows = []
    for (text, length, metric), values in given.items():
        interval = paired_t(values).ci95 if len(values) >= TESTABLE else None
        found = None if interval is None else list(interval)
        rows.append(ScoreRow(text=text, length=length, metric=metric, n=len(values), mean=fmean(values), ci95=found))
    return rows


def length_rows(results: Sequence[ItemResult]) -> list[dict[str, Any]]:
    """One row per manipulation and short length: loss of detection = Δ(full) - Δ(short) on the same documents.

    It is positive if the manipulation is noticed less in the full text, and its t-test is two-sided. A p above .05 is
    no evidence of equality; `p_equivalent` below .05 is (TOST within ±`MARGIN` points). `p_holm` and
    `p_equivalent_holm` are adjusted over all rows. A manipulation with a Δ at both lengths in fewer than two documents
    has no row.
    """
    from judge_r1.statistics.paired import equivalence

    rows = []
    for length in _lengths(results):
        if length == FULL:
            continue
        full, short = (_target_deltas(results, wanted) for wanted in (FULL, length))
        for name in short:
            shared = [cluster for cluster in short[name] if cluster in full.get(name, {})]
            losses = [full[name][cluster] - short[name][cluster] for cluster in shared]
            if len(losses) < TESTABLE:
                continue
            tested = _tested(losses)
            tested["loss_of_detection"] = tested.pop("mean")
            equal = equivalence(losses, MARGIN)
            rows.append(
                {
                    "manipulation": name,
                    "short": length,
                    **tested,
                    "p_equivalent": equal.p,
                    "margin": equal.margin,
                }
            )
    return _with_holm(_with_holm(rows, "p"), "p_equivalent", "p_equivalent_holm")


def _target_deltas(results: Sequence[ItemResult], length: str) -> dict[str, dict[str, float]]:
    """Copy -> document -> Δ on the target metric, at one length."""
    found: dict[str, dict[str, float]] = {}
    for result in results:
        if result.group == length:
            for name, by_metric in deltas(result.gold, result.votes).items():
                if (delta := by_metric.get(result.gold[name])) is not None:
                    found.setdefault(name, {})[result.cluster_id] = delta
    return found


def _tested(values: Sequence[float]) -> dict[str, Any]:
    """The mean of differences with its tests; without tests below two values, and without a mean below one."""
    from judge_r1.statistics.paired import paired_t, sign_test, wilcoxon

    if len(values) < TESTABLE:
        untested = ("sd", "t", "df", "ci95", "p", "p_less", "p_wilcoxon", "p_sign")
        return {"n": len(values), "mean": values[0] if values else None, **dict.fromkeys(untested)}
    test = paired_t(values)
    interval = None if test.ci95 is None else list(test.ci95)
    return {**test._asdict(), "ci95": interval, "p_wilcoxon": wilcoxon(values), "p_sign": sign_test(values)}


def _with_holm(rows: list[dict[str, Any]], key: str, name: str = "p_holm") -> list[dict[str, Any]]:
    """Adds `name`: `key` adjusted over the rows that have it."""
    from judge_r1.statistics.significance import holm

    adjusted = holm({position: row[key] for position, row in enumerate(rows) if row[key] is not None})
    return [{**row, name: adjusted.get(position)} for position, row in enumerate(rows)]


def _detected(delta: float) -> float:
    return 0.5 if delta == 0 else float(delta < 0)


def _lengths(results: Sequence[ItemResult]) -> list[str]:
    """The lengths, the shortest first."""
    return sorted({result.group for result in results}, key=lambda length: (length == FULL, length.zfill(9)))


def _targets(results: Sequence[ItemResult]) -> dict[str, str]:
    return {name: metric for result in results for name, metric in result.gold.items()}
