"""What labels say about a pool of unlabelled items with verdicts, and which items to label next."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from judge_r1.core.text_check import counted
from judge_r1.files.tabular import rows
from judge_r1.labels.check import CheckedJudge, CheckResult
from judge_r1.labels.kinds import BadLabels
from judge_r1.statistics.prevalence import (
    Counts,
    Estimate,
    Stratum,
    corrected,
    prediction_powered,
    stratified,
    variance_parts,
    weighted_by_verdict,
)

Drawn = Literal["random", "by-label", "by-verdict"]


def read_pool(path: Path, result: CheckResult, column: str = "verdict") -> dict[str, str]:
    """The verdicts of the pool's items by id. Raises: BadTable, BadLabels."""
    from judge_r1.labels.kinds import Scheme

    scheme = Scheme(result.labels.kind, result.labels.answers)
    found: dict[str, str] = {}
    for row in rows(path):
        label = scheme.read(row.label(column))
        if label is None:
            raise BadLabels(f"{row.where}: verdict {row.label(column)!r} is none of {', '.join(scheme.answers)}")
        if (item_id := row.name("id")) in found:
            raise BadLabels(f"{row.where}: id {item_id!r} stands twice")
        found[item_id] = label
    return found


def estimate(result: CheckResult, judge: CheckedJudge, pool: Mapping[str, str], drawn: Drawn) -> dict[str, Any]:
    """The share of good items in the pool.

    Raises:
        BadLabels: The labels are not binary.
        NoInformation: The verdicts say nothing about the labels.
    """
    if result.labels.kind != "binary":
        raise BadLabels(f"estimate needs labels of two words, and these are {result.labels.kind}")
    good = result.labels.answers[0]
    labelled = [(label == good, judge.verdicts.get(i)) for i, label in result.gold.items() if judge.verdicts.get(i)]
    passed, size = sum(verdict == good for verdict in pool.values()), len(pool)
    strata = [
        Stratum(
            sum(own == verdict for own in pool.values()), sum(v == verdict for _, v in labelled),
            sum(g and v == verdict for g, v in labelled),
        )
        for verdict in result.labels.answers
    ]  # fmt: skip
    found: dict[str, Any] = {"drawn": drawn, "pool": size, "passed": passed / size, "labelled": len(labelled)}
    if drawn == "by-label":
        counts = _counts(labelled, good)
        found["corrected"] = _shown(corrected(counts, passed, size))
        parts = variance_parts(counts, passed, size)
        found["next label"] = good if parts.good / counts.good > parts.bad / counts.bad else result.labels.answers[1]
    elif drawn == "random":
        y, f = [float(g) for g, _ in labelled], [float(v == good) for _, v in labelled]
        found["labels alone"] = sum(y) / len(y)
        found["prediction-powered"] = _shown(prediction_powered(y, f, [float(v == good) for v in pool.values()]))
        found["post-stratified"] = _shown(stratified(strata, at_random=True))
        found["corrected"] = _shown(corrected(_counts(labelled, good), passed, size))
    else:
        found["stratified"] = _shown(stratified(strata))
        found["rates in the pool"] = weighted_by_verdict(*strata)._asdict()
    return found


def _counts(labelled: Sequence[tuple[bool, str | None]], good: str) -> Counts:
    of_good, of_bad = [v for g, v in labelled if g], [v for g, v in labelled if not g]
    return Counts(len(of_good), sum(v == good for v in of_good), len(of_bad), sum(v != good for v in of_bad))


def _shown(found: Estimate) -> dict[str, Any]:
    outside = (
        {} if 0 <= found.raw <= 1 else {"note": f"{found.raw:.2f}, outside: labels and pool differ, or too few labels"}
    )
    return {"value": found.value, "ci95": list(found.ci95), "error": found.error, **outside}


def next_for_gate(
    result: CheckResult, judge: CheckedJudge, pool: Mapping[str, str], count: int, seed: int
) -> list[dict[str, Any]]:
    """Random items of the pool within each verdict, as many of each as make the stratified estimate most exact
    (Neyman), with the probability that each was drawn."""
    todo = {i: verdict for i, verdict in pool.items() if i not in result.gold}
    if len(todo) < count:
        raise BadLabels(f"the pool has {counted(len(todo), 'item')} without a label, and --count is {count}")
    sizes = Counter(todo.values())
    weights = {v: sizes[v] * max(_spread(result, judge, v), 0.05) for v in sizes}
    shares = _allocated(count, weights, sizes)
    generator, found = random.Random(seed), []
    for verdict in sorted(sizes):
        own = sorted(i for i, v in todo.items() if v == verdict)
        for item_id in generator.sample(own, shares[verdict]):
            found.append(
                {"id": item_id, "verdict": verdict, "probability": shares[verdict] / len(own), "split": "test"}
            )
    return found


def _spread(result: CheckResult, judge: CheckedJudge, verdict: str) -> float:
    """The standard deviation of the label among items of a verdict."""
    own = [label == result.labels.answers[0] for i, label in result.gold.items() if judge.verdicts.get(i) == verdict]
    rate = (sum(own) + 1) / (len(own) + 2)
    return float((rate * (1 - rate)) ** 0.5)


def _allocated(count: int, weights: Mapping[str, float], sizes: Mapping[str, int]) -> dict[str, int]:
    """Whole numbers that add up to `count`, as proportional as the sizes allow, at least one of each."""
    shares = {v: min(sizes[v], max(1, round(count * weights[v] / sum(weights.values())))) for v in weights}
    while (gap := count - sum(shares.values())) != 0:
        open_ = [v for v in weights if (shares[v] < sizes[v] if gap > 0 else shares[v] > 1)]
        if not open_:
            break
        chosen = max(open_, key=lambda v: weights[v] / shares[v] if gap > 0 else shares[v] / weights[v])
        shares[chosen] += 1 if gap > 0 else -1
    return shares


def next_for_prompt(
    result: CheckResult, judge: CheckedJudge, pool: Mapping[str, str], count: int
) -> list[dict[str, Any]]:
    """Items of the pool whose repeats or orders differ, to write a better prompt with. They are for `dev`: a gate on
    them would be too hard on the judge."""
    unsure = [i for i in sorted(pool) if len(set(judge.repeats.get(i, ()))) > 1 or i in judge.missing]
    return [{"id": i, "verdict": pool[i], "split": "dev"} for i in unsure[:count]]
