"""Builds `summary.json`: one row per panel, paired differences between panels, seconds.

Every row has the same keys; those of principle labels are there only if items are labelled.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ItemResult
from judge_r1.core.registry import suggest
from judge_r1.evaluation import metrics
from judge_r1.statistics.intervals import clustered_mean_ci, paired_difference_ci

Measure = Callable[[ItemResult], float]
Extra = Callable[[Sequence[ItemResult]], dict[str, Any]]
Counts = Callable[[Any], bool]
Joint = Callable[[Mapping[str, Sequence[ItemResult]]], dict[str, Any]]
Unanswered = Literal["excluded", "wrong"]
EXCLUDED: Unanswered = "excluded"
"""How items count that the server did not answer: left out of every measure, or as invalid answers."""


def no_extra(results: Sequence[ItemResult]) -> dict[str, Any]:
    """The measures of a benchmark without own ones."""
    return {}


class BadSummary(JudgeError):
    """Results that cannot be summarized or compared; the message says why."""


def summarize(
    panels: Mapping[str, Sequence[ItemResult]],
    differences: Sequence[tuple[str, str]],
    seconds: Mapping[str, float],
    settings: Mapping[str, dict[str, Any]],
    extra: Extra = no_extra,
    counts: Counts = lambda gold: True,
    tables: Extra = no_extra,
    joint_tables: Joint = lambda panels: {},
    *,
    items: int | None = None,
    unanswered: Unanswered = EXCLUDED,
) -> dict[str, Any]:
    """The summary of all panels, in their order.

    `differences` names two panels each: delta is the accuracy of the first minus that of the second, on the same items.
    `seconds` are stages or panels by name; `settings` holds what each panel decoded with; `extra` computes a
    benchmark's own measures from all results, `tables` its own tables, and `joint_tables` those of several judges
    together, which are `tables` of the summary. Everything else is over the results whose gold `counts`. `items` is the
    number of items of the benchmark, of which a panel may lack some. `unanswered` results are `excluded` from all
    measures, and from both sides of a difference, or count as `wrong`. Intervals are 95 %, clustered.

    Raises:
        BadSummary: A panel has no settings or no results that count, holds an item twice, or is unknown.
        DifferentPairs: Two compared panels were not run on the same items.
    """
    for name in panels:
        if name not in settings:
            raise BadSummary(f"panel {name!r} comes without its decoding settings{suggest(name, settings)}")
    for name in (name for pair in differences for name in pair):
        if name not in panels:
            raise BadSummary(f"a difference names panel {name!r}, which was not evaluated{suggest(name, panels)}")

    def is_kept(result: ItemResult) -> bool:
        return result.answered or unanswered != EXCLUDED

    kept = {name: list(filter(is_kept, results)) for name, results in panels.items()}
    counted = {name: [result for result in results if counts(result.gold)] for name, results in kept.items()}

    def same_items(names: Iterable[str]) -> dict[str, list[ItemResult]]:
        """The results of these panels on the items that none of them lacks for want of an answer."""
        chosen = {name: counted[name] for name in names}
        lost = {result.item_id for name in chosen for result in panels[name] if not is_kept(result)}
        if items is not None and chosen:
            ids = [{result.item_id for result in results} for results in chosen.values()]
            lost |= set[str].union(*ids) - set[str].intersection(*ids)
        return {name: [result for result in found if result.item_id not in lost] for name, found in chosen.items()}

    judged = [name for name in counted if not settings[name].get("baseline")]
    pairs = [(a, b, same_items((a, b))) for a, b in differences]
    return {
        "rows": [
            summary_row(name, results, settings[name])
            | _lost(panels[name], counts, items)
            | {"extra": extra(kept[name])}
            | ({"tables": found} if (found := tables(kept[name])) else {})
            for name, results in counted.items()
        ],
        "differences": _with_holm([_difference(a, b, found) for a, b, found in pairs if any(found.values())]),
        "shared": shared_outcomes(same_items(judged)),
        "seconds": dict(seconds),
        **({"tables": found} if len(judged) > 1 and (found := joint_tables({n: kept[n] for n in judged})) else {}),
    }


def _lost(results: Sequence[ItemResult], counts: Counts, items: int | None) -> dict[str, Any]:
    """How the episodes of all items ended, the number of items that the server did not answer, and that of items
    without all their votes; None instead of 0."""
    counted = [result for result in results if counts(result.gold)]
    return {
        "ended": metrics.ended_counts(counted),
        "unanswered": sum(not result.answered for result in counted) or None,
        "missing": None if items is None else (items - len(results)) or None,
    }


def shared_outcomes(panels: Mapping[str, Sequence[ItemResult]]) -> dict[str, Any] | None:
    """The shares of the items that all judges get wrong (score 0) and right (score 1), in total and by domain; None
    without two judges of the same items."""
    scores: dict[str, list[ItemResult]] = {}
    for results in panels.values():
        for result in results:
            scores.setdefault(result.item_id, []).append(result)
    if not scores or len(panels) < 2 or any(len(found) < len(panels) for found in scores.values()):
        return None
    return {
        "judges": list(panels),
        **_shared(list(scores.values())),
        "by_domain": {
            group: _shared([found for found in scores.values() if found[0].group == group])
            for group in sorted({found[0].group for found in scores.values()})
        },
    }


def _shared(items: Sequence[Sequence[ItemResult]]) -> dict[str, float]:
    def share(score: float) -> float:
        return sum(all(result.score == score for result in found) for found in items) / len(items)

    return {"n": len(items), "all_wrong": share(0), "all_right": share(1)}


def with_baselines(
    benchmark: LoadedBenchmark, panels: Mapping[str, Sequence[ItemResult]], settings: Mapping[str, dict[str, Any]]
) -> tuple[dict[str, Sequence[ItemResult]], dict[str, dict[str, Any]]]:
    """Adds the baselines that the benchmark's files give without a judge, unless a panel has the same name."""
    baselines = {name: found for name, found in benchmark.baselines(benchmark.items).items() if name not in panels}
    return {**panels, **baselines}, {**settings, **{name: {"baseline": True} for name in baselines}}


def summary_row(name: str, results: Sequence[ItemResult], settings: dict[str, Any]) -> dict[str, Any]:
    """The row of one panel, without a benchmark's own measures."""
    if not results:
        raise BadSummary(f"panel {name!r} has no results: evaluate at least one item")
    if len({result.item_id for result in results}) != len(results):
        raise BadSummary(f"panel {name!r} holds an item twice: each item counts once")
    return {
        "name": name,
        **_slice(results),
        **_label_columns(metrics.labelled(results)),
        "ended": metrics.ended_counts(results),
        "does_not_fit": metrics.unfit_rate(results),
        "accuracy_fitting": metrics.accuracy_of_fitting(results),
        "valid_vote_rate": metrics.valid_vote_rate(results),
        "ties": metrics.tie_rate(results),
        "first_preferred": metrics.first_preferred(results),
        "consistency": metrics.consistency(results),
        "settings": settings,
        "by_domain": {group: _slice(part) for group, part in metrics.by_group(results).items()},
        "by_principle": _by_principle(results),
    }


def _slice(results: Sequence[ItemResult]) -> dict[str, Any]:
    labelled = metrics.labelled(results)
    return {
        "n": len(results),
        "cases": len({result.cluster_id for result in results}),
        "accuracy": metrics.accuracy(results),
        "ci95": _ci(results, _score),
        "label_f1": metrics.label_mean(labelled).f1 if labelled else None,
        "valid_rate": metrics.valid_rate(results),
        "searches": metrics.searches(results),
    }


def _label_columns(results: Sequence[ItemResult]) -> dict[str, Any]:
    if not results:
        return {}
    strict, tolerant = metrics.parser_rates(results)
    mean = metrics.label_mean(results)
    return {
        "label_f1_ci95": _ci(results, _label_f1),
        "label_precision": mean.precision,
        "label_recall": mean.recall,
        "label_f1_micro": metrics.label_micro(results).f1,
        "label_f1_macro": metrics.label_macro(results).f1,
        "valid_strict": strict,
        "valid_tolerant": tolerant,
        "evidence_hit": metrics.evidence_hit_rate(results),
        "predicted_a": metrics.position_share(results),
        "gold_a": sum(result.gold == "A" for result in results) / len(results),
        "reward": metrics.mean_reward(results),
    }


def _by_principle(results: Sequence[ItemResult]) -> dict[str, Any]:
    """An item counts under every principle it violates. `single` covers the items that violate no other (None without
    any); `named` is the share of answers that name the principle."""
    single = metrics.by_principle(results, single=True)
    return {
        f"P{number}": {
            **_slice(part),
            "named": metrics.named_rate(part, number),
            "evidence_hit": metrics.evidence_hit_rate(part),
            "single": _slice(single[number]) if number in single else None,
        }
        for number, part in metrics.by_principle(results).items()
    }


def _difference(a: str, b: str, panels: Mapping[str, Sequence[ItemResult]]) -> dict[str, Any]:
    """The difference over all items, and over those of each group and each principle."""
    first, second = panels[a], panels[b]
    groups, principles = metrics.by_group(second), metrics.by_principle(second)
    labelled = metrics.labelled(first)
    return {
        "a": a,
        "b": b,
        **_delta(first, second, _score),
        **({"label_f1": _delta(labelled, metrics.labelled(second), _label_f1)} if labelled else {}),
        "by_domain": {d: _delta(part, groups.get(d, []), _score) for d, part in metrics.by_group(first).items()},
        "by_principle": {
            f"P{p}": _delta(part, principles.get(p, []), _score) for p, part in metrics.by_principle(first).items()
        },
    }


def compared(
    values_a: Mapping[str, float], values_b: Mapping[str, float], clusters: Mapping[str, str]
) -> dict[str, Any]:
    """mean(a) - mean(b) over the same items, its interval, and p by permutation of clusters.

    Raises:
        DifferentPairs: The items differ.
    """
    from judge_r1.statistics.significance import permutation

    test = permutation(values_a, values_b, clusters)
    interval = paired_difference_ci(values_a, values_b, clusters)
    counts = {"n": len(values_a), "cases": len({clusters[item_id] for item_id in values_a})}
    return {**counts, "delta": test.difference, "ci95": list(interval), "p": test.p}


def _with_holm(differences: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Adds `p_holm`: p adjusted for all differences of the summary together."""
    from judge_r1.statistics.significance import holm

    adjusted = holm({index: difference["p"] for index, difference in enumerate(differences)})
    return [{**difference, "p_holm": adjusted[index]} for index, difference in enumerate(differences)]


def _delta(a: Sequence[ItemResult], b: Sequence[ItemResult], measure: Measure) -> dict[str, Any]:
    values_a, values_b = ({result.item_id: measure(result) for result in part} for part in (a, b))
    return compared(values_a, values_b, {result.item_id: result.cluster_id for result in a})


def _ci(results: Sequence[ItemResult], measure: Measure) -> list[float]:
    return list(clustered_mean_ci([measure(result) for result in results], [result.cluster_id for result in results]))


def _score(result: ItemResult) -> float:
    return result.score


def _label_f1(result: ItemResult) -> float:
    return metrics.result_scores(result).f1
