"""`summary.json` of any benchmark: the keys of LRBench's rows that mean something without principles."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.items import ItemResult
from judge_r1.core.records import PairwiseVerdict
from judge_r1.core.registry import suggest
from judge_r1.evaluation.summary import BadSummary, compared, with_holm
from judge_r1.statistics.intervals import clustered_mean_ci
from judge_r1.statistics.position_bias import decided_alike, first_preferred


def summarise_items(
    benchmark: str,
    suite: LoadedBenchmark,
    outcomes_by_row: Mapping[str, Sequence[ItemResult]],
    differences: Sequence[tuple[str, str]],
    seconds: Mapping[str, float],
    settings: Mapping[str, dict[str, Any]],
) -> dict[str, Any]:
    """As `summarise` gives it, with `benchmark`; `accuracy` is the mean credit, intervals are clustered as the
    benchmark says, `extra` holds its own measures. Raises BadSummary, or DifferentPairs."""
    return {
        "benchmark": benchmark,
        "rows": [item_row(name, rows, settings[name], suite) for name, rows in outcomes_by_row.items()],
        "differences": with_holm([_difference(a, b, outcomes_by_row) for a, b in differences]),
        "seconds": dict(seconds),
    }


def with_baselines(
    suite: LoadedBenchmark, rows: Mapping[str, Sequence[ItemResult]], settings: Mapping[str, dict[str, Any]]
) -> tuple[dict[str, Sequence[ItemResult]], dict[str, dict[str, Any]]]:
    """The rows, and behind them those that the benchmark's files give without a judge; a row of the same name stays."""
    own = {name: outcomes for name, outcomes in suite.baselines(suite.items).items() if name not in rows}
    return {**rows, **own}, {**settings, **{name: {"baseline": True} for name in own}}


def item_row(
    name: str, outcomes: Sequence[ItemResult], settings: dict[str, Any], suite: LoadedBenchmark
) -> dict[str, Any]:
    if not outcomes:
        raise BadSummary(f"row {name!r} has no outcomes: evaluate at least one item")
    groups = {group: [o for o in outcomes if o.group == group] for group in dict.fromkeys(o.group for o in outcomes)}
    return {
        "name": name,
        **_slice(outcomes),
        "label_f1": None,
        "ended": dict(Counter(game.ended for outcome in outcomes for game in outcome.votes)),
        "ties": sum(_winner(o) == "tie" for o in outcomes) / len(outcomes),
        "first_preferred": first_preferred(outcomes),
        "consistency": decided_alike(outcomes),
        "settings": settings,
        "by_domain": {group: _slice(part) for group, part in groups.items()},
        "by_principle": {},
        "extra": suite.metrics(outcomes),
    }


def _slice(outcomes: Sequence[ItemResult]) -> dict[str, Any]:
    games = [game for outcome in outcomes for game in outcome.votes]
    clusters = [o.cluster_id for o in outcomes]
    return {
        "n": len(outcomes),
        "cases": len(set(clusters)),
        "accuracy": sum(o.score for o in outcomes) / len(outcomes),
        "ci95": list(clustered_mean_ci([o.score for o in outcomes], clusters)),
        "valid_rate": sum(o.valid for o in outcomes) / len(outcomes),
        "searches": sum(game.searches for game in games) / len(games),
    }


def _difference(a: str, b: str, rows: Mapping[str, Sequence[ItemResult]]) -> dict[str, Any]:
    for name in (a, b):
        if name not in rows:
            raise BadSummary(f"a difference names row {name!r}, which was not evaluated{suggest(name, rows)}")
    first, second = ({o.item_id: o.score for o in rows[name]} for name in (a, b))
    return {"a": a, "b": b, **compared(first, second, {o.item_id: o.cluster_id for o in rows[a]})}


def _winner(outcome: ItemResult) -> str | None:
    return outcome.verdict.winner if isinstance(outcome.verdict, PairwiseVerdict) else None
