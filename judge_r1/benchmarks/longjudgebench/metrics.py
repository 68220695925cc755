"""The measures of a set besides its credit: those of the paper (Eqs. 6 to 9, Table 4), and what they leave out.

Keys are columns of a report, values shares or correlations; None where the answers do not determine one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judge_r1.benchmarks.longjudgebench.aggregation import labels_by_order, released_accuracy, scores_of
from judge_r1.benchmarks.longjudgebench.baselines import ANNOTATOR
from judge_r1.benchmarks.longjudgebench.lengths import quartiles
from judge_r1.benchmarks.longjudgebench.query import COLUMNS, Query
from judge_r1.core.items import ItemResult
from judge_r1.core.records import PROMPT_TOO_LONG, InvalidVerdict
from judge_r1.statistics.agreement import balanced_accuracy, matthews
from judge_r1.statistics.correlation import kendall, pair_accuracy, pooled, spearman
from judge_r1.statistics.position_bias import SWAPPED, Answer, position

Measures = dict[str, float | None]


def measures(queries: Mapping[str, Query], outcomes: Sequence[ItemResult]) -> dict[str, Any]:
    """Of the outcomes of one row: the averages over columns and, where all are of one column, its own measures."""
    columns = {
        column: [o for o in outcomes if o.group == column] for column in dict.fromkeys(o.group for o in outcomes)
    }
    games = [game for outcome in outcomes for game in outcome.votes]
    invalid = [game.verdict.reason for game in games if isinstance(game.verdict, InvalidVerdict)]
    shared: Measures = {"invalid": len(invalid) / len(games), "too_long": invalid.count(PROMPT_TOO_LONG) / len(games)}
    if len(columns) > 1:
        accuracies = {column: sum(o.score for o in part) / len(part) for column, part in columns.items()}
        return {**shared, **averages(accuracies)}
    query = _query(queries, outcomes[0])
    own = {"Verify": _verify, "WP": _pairs, "MA": _pairs}.get(query.column, _scored)(queries, outcomes)
    return {
        **shared,
        **own,
        "released": released_accuracy(query, outcomes),
        **quartiles([(_query(queries, o), o) for o in outcomes]),
    }


def _scored(queries: Mapping[str, Query], outcomes: Sequence[ItemResult]) -> Measures:
    """Pairs of a set together, ties wrong and ties half, then the correlations: a query needs three scored outputs and
    two values on both sides, or it is skipped (`ranked` is the share that is not); `_zero` counts those as 0."""
    parts = [_compared(o, o.gold["judged"]) for o in outcomes]
    counted = pooled(pair_accuracy(gold, predicted) for gold, predicted in parts)
    found: Measures = {
        "acc_strict": counted.strict,
        "acc_half": counted.half,
        "tie_rate": counted.tie_rate,
        **_correlations(parts),
    }
    if _query(queries, outcomes[0]).dataset == "surge":
        found["acc_no_gt"] = _pooled(outcomes, (1, 2, 3)).strict
        found["acc_auto_id"] = _pooled(outcomes, (1, 2)).strict
    return found


def _compared(outcome: ItemResult, places: Sequence[int]) -> tuple[list[float], list[float | None]]:
    scores = scores_of(outcome.votes, len(outcome.gold["scores"]))
    return [outcome.gold["scores"][place] for place in places], [scores[place] for place in places]


def _pooled(outcomes: Sequence[ItemResult], places: Sequence[int]) -> Any:
    return pooled(pair_accuracy(*_compared(outcome, places)) for outcome in outcomes)


def _correlations(parts: Sequence[tuple[list[float], list[float | None]]]) -> Measures:
    able = [(gold, predicted) for gold, predicted in parts if len(gold) >= 3 and len(set(gold)) >= 2]
    found: Measures = {}
    correlations: dict[str, Callable[[Sequence[float], Sequence[float]], float | None]] = {
        "spearman": spearman,
        "kendall": kendall,
    }
    for name, correlation in correlations.items():
        values = []
        for gold, predicted in able:
            both = [(g, p) for g, p in zip(gold, predicted, strict=True) if p is not None]
            if len(both) >= 3 and (value := correlation([g for g, _ in both], [p for _, p in both])) is not None:
                values.append(value)
        found[name] = sum(values) / len(values) if values else None
        found[f"{name}_zero"] = sum(values) / len(able) if able else None
        found["ranked"] = len(values) / len(able) if able else None
    return found


def _verify(queries: Mapping[str, Query], outcomes: Sequence[ItemResult]) -> Measures:
    gold, predicted = [], []
    for outcome in outcomes:
        for label in labels_by_order(True, outcome.votes).values():
            gold.append(outcome.gold)
            predicted.append(label)
    return {
        "balanced": balanced_accuracy(gold, predicted),
        "mcc": matthews(gold, predicted),
        "says_yes": predicted.count("Yes") / len(predicted),
    }


def _pairs(queries: Mapping[str, Query], outcomes: Sequence[ItemResult]) -> Measures:
    """Both orders of each pair; `inconsistent` and `prefers_a` (of those, the share that says A twice) are Table 4."""
    labels = [labels_by_order(False, o.votes) for o in outcomes]
    said = [(o, label) for o, found in zip(outcomes, labels, strict=True) for label in found.values()]
    decided = [(o, label) for o, label in said if o.gold != "tie"]
    both = [(o, found[0, 1], found[1, 0]) for o, found in zip(outcomes, labels, strict=True) if len(found) == 2]
    places = position((_answer(one), SWAPPED.get(_answer(other))) for _, one, other in both)
    agreed = [(o, one) for o, one, other in both if one is not None and one == other]
    ties = sum(label == "tie" for _, label in decided)
    right = sum(label == o.gold for o, label in decided)
    found: Measures = {
        "acc_no_ties": right / len(decided) if decided else None,
        "acc_half": (right + ties / 2) / len(decided) if decided else None,
        "tie_rate": sum(label == "tie" for _, label in said) / len(said),
        "inconsistent": places.inconsistency,
        "prefers_a": places.direction,
        "acc_consistent": sum(label == o.gold for o, label in agreed) / len(agreed) if agreed else None,
    }
    if _query(queries, outcomes[0]).column == "MA":
        margins = [(abs((_query(queries, o).rating or 2.0) - 2.0), label == o.gold) for o, label in decided]
        total = sum(margin for margin, _ in margins)
        found["acc_weighted"] = sum(margin for margin, right in margins if right) / total if total else None
    return found


def _query(queries: Mapping[str, Query], outcome: ItemResult) -> Query:
    return queries[outcome.item_id.partition(ANNOTATOR)[0]]


def _answer(label: str | None) -> Answer:
    """A label of the item as the answer to its first order; swapped, to its second."""
    return label if label in ("A", "B", "tie") else None  # type: ignore[return-value]


SURGE = ("Structure", "Content")


def averages(accuracies: Mapping[str, float | None]) -> dict[str, float | None]:
    """`avg` over all columns given, `avg_no_wp` without WP (the paper's two), and `avg_sets`, in which SurGE counts
    once, not twice. `columns` says how many of the seven there are: averages over other columns do not compare."""
    given = {column: value for column in COLUMNS if (value := accuracies.get(column)) is not None}
    halves = [given[column] for column in SURGE if column in given]
    sets = [value for column, value in given.items() if column not in SURGE]
    return {
        "columns": float(len(given)),
        "avg": _mean(list(given.values())),
        "avg_no_wp": _mean([value for column, value in given.items() if column != "WP"]),
        "avg_sets": _mean([*sets, *([_mean(halves)] if halves else [])]),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
