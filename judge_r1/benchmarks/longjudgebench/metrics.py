"""LongJudgeBench's metrics besides the mean score: the paper's (Eqs. 6 to 9, Table 4) and additional ones.

Keys are report columns; values are shares or correlations, or None if undefined. `quartiles` and `fixed_bins` give the
accuracy by length. The released script does not swap MA's answers back in the second order, so a judge with the same
preference in both orders scores 0.5 there in any case; here all answers refer to the outputs themselves.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from judge_r1.benchmarks.longjudgebench.aggregation import labels_by_order, released_accuracy, scores_of
from judge_r1.benchmarks.longjudgebench.baselines import ANNOTATOR
from judge_r1.benchmarks.longjudgebench.query import COLUMNS, Query
from judge_r1.core.items import ItemResult
from judge_r1.core.records import PROMPT_TOO_LONG
from judge_r1.core.verdicts import InvalidVerdict
from judge_r1.statistics.agreement import balanced_accuracy, matthews
from judge_r1.statistics.correlation import kendall, pair_accuracy, pooled, spearman
from judge_r1.statistics.position_bias import SWAPPED, Answer, position

Metrics = dict[str, float | None]


def column_metrics(queries: Mapping[str, Query], results: Sequence[ItemResult]) -> dict[str, Any]:
    """The metrics of one judge: averages over columns, or the column's own metrics if there is only one."""
    columns = {
        column: [result for result in results if result.group == column]
        for column in dict.fromkeys(result.group for result in results)
    }
    votes = [vote for result in results for vote in result.votes]
    invalid = [vote.verdict.reason for vote in votes if isinstance(vote.verdict, InvalidVerdict)]
    shared: Metrics = {"invalid": len(invalid) / len(votes), "too_long": invalid.count(PROMPT_TOO_LONG) / len(votes)}
    if len(columns) > 1:
        accuracies = {column: sum(result.score for result in part) / len(part) for column, part in columns.items()}
        return {**shared, **averages(accuracies)}
    query = _query(queries, results[0])
    own = {"Verify": _verify_metrics, "WP": _pairwise_metrics, "MA": _pairwise_metrics}.get(
        query.column, _score_metrics
    )(queries, results)
    return {
        **shared,
        **own,
        "released": released_accuracy(query, results),
        **quartiles([(_query(queries, result), result) for result in results]),
    }


def _score_metrics(queries: Mapping[str, Query], results: Sequence[ItemResult]) -> Metrics:
    """Accuracy over the pooled pairs (ties wrong, and ties half), and correlations per query. A correlation needs three
    scored outputs and two distinct values on both sides. `ranked` is the share of queries that have one, and `_zero`
    counts the others as 0."""
    parts = [_compared_scores(result, result.gold["judged"]) for result in results]
    counted = pooled(pair_accuracy(gold, predicted) for gold, predicted in parts)
    found: Metrics = {
        "acc_strict": counted.strict,
        "acc_half": counted.half,
        "tie_rate": counted.tie_rate,
        **_correlations(parts),
    }
    if _query(queries, results[0]).dataset == "surge":
        found["acc_no_gt"] = _pooled(results, (1, 2, 3)).strict
        found["acc_auto_id"] = _pooled(results, (1, 2)).strict
    return found


def _compared_scores(result: ItemResult, indices: Sequence[int]) -> tuple[list[float], list[float | None]]:
    scores = scores_of(result.votes, len(result.gold["scores"]))
    return [result.gold["scores"][index] for index in indices], [scores[index] for index in indices]


def _pooled(results: Sequence[ItemResult], indices: Sequence[int]) -> Any:
    return pooled(pair_accuracy(*_compared_scores(result, indices)) for result in results)


def _correlations(parts: Sequence[tuple[list[float], list[float | None]]]) -> Metrics:
    rankable = [(gold, predicted) for gold, predicted in parts if len(gold) >= 3 and len(set(gold)) >= 2]
    found: Metrics = {}
    correlations: dict[str, Callable[[Sequence[float], Sequence[float]], float | None]] = {
        "spearman": spearman,
        "kendall": kendall,
    }
    for name, correlation in correlations.items():
        values = []
        for gold, predicted in rankable:
            both = [(g, p) for g, p in zip(gold, predicted, strict=True) if p is not None]
            if len(both) >= 3 and (value := correlation([g for g, _ in both], [p for _, p in both])) is not None:
                values.append(value)
        found[name] = sum(values) / len(values) if values else None
        found[f"{name}_zero"] = sum(values) / len(rankable) if rankable else None
        found["ranked"] = len(values) / len(rankable) if rankable else None
    return found


def _verify_metrics(queries: Mapping[str, Query], results: Sequence[ItemResult]) -> Metrics:
    gold, predicted = [], []
    for result in results:
        for label in labels_by_order(True, result.votes).values():
            gold.append(result.gold)
            predicted.append(label)
    return {
        "balanced": balanced_accuracy(gold, predicted),
        "mcc": matthews(gold, predicted),
        "says_yes": predicted.count("Yes") / len(predicted),
    }


def _pairwise_metrics(queries: Mapping[str, Query], results: Sequence[ItemResult]) -> Metrics:
    """Metrics over both orders of each pair. `inconsistent` and `prefers_a` (the share of inconsistent pairs with A in
    both orders) are Table 4."""
    labels = [labels_by_order(False, result.votes) for result in results]
    answers = [(result, label) for result, found in zip(results, labels, strict=True) for label in found.values()]
    decided = [(result, label) for result, label in answers if result.gold != "tie"]
    both = [
        (result, found[0, 1], found[1, 0]) for result, found in zip(results, labels, strict=True) if len(found) == 2
    ]
    bias = position((_answer(one), SWAPPED.get(_answer(other))) for _, one, other in both)
    agreed = [(result, one) for result, one, other in both if one is not None and one == other]
    ties = sum(label == "tie" for _, label in decided)
    correct = sum(label == result.gold for result, label in decided)
    found: Metrics = {
        "acc_no_ties": correct / len(decided) if decided else None,
        "acc_half": (correct + ties / 2) / len(decided) if decided else None,
        "tie_rate": sum(label == "tie" for _, label in answers) / len(answers),
        "inconsistent": bias.inconsistency,
        "prefers_a": bias.direction,
        "acc_consistent": sum(label == result.gold for result, label in agreed) / len(agreed) if agreed else None,
    }
    if _query(queries, results[0]).column == "MA":
        margins = [
            (abs((_query(queries, result).rating or 2.0) - 2.0), label == result.gold) for result, label in decided
        ]
        total = sum(margin for margin, _ in margins)
        found["acc_weighted"] = sum(margin for margin, correct in margins if correct) / total if total else None
    return found


def _query(queries: Mapping[str, Query], result: ItemResult) -> Query:
    return queries[result.item_id.partition(ANNOTATOR)[0]]


def _answer(label: str | None) -> Answer:
    """The label as an answer to the first order; swapped, it is the answer to the second."""
    return label if label in ("A", "B", "tie") else None  # type: ignore[return-value]


SURGE = ("Structure", "Content")


def averages(accuracies: Mapping[str, float | None]) -> dict[str, float | None]:
    """`avg` over all given columns and `avg_no_wp` without WP (both in the paper), and `avg_sets`, which counts SurGE
    once instead of twice. `columns` is the number of columns, since averages over different columns do not compare."""
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


Count = Callable[[str], int]


BINS = ((0, 3_000), (3_000, 8_000), (8_000, 16_000), (16_000, None))
"""The release's bins in cl100k tokens: [low, high)."""


Judged = Sequence[tuple[Query, ItemResult]]


def comparisons(judged: Judged, count: Count = len) -> Iterator[tuple[float, bool]]:
    """(mean length of the compared outputs, correct) of each pair ordered by the gold, or of each pair or verified
    answer in each presentation order. Queries without texts are skipped."""
    for query, result in judged:
        lengths = [count(text) for text in query.texts if text is not None]
        if len(lengths) < len(query.texts):
            continue
        if isinstance(query.gold, str):
            if query.gold != "tie":
                for label in labels_by_order(query.gold in ("Yes", "No"), result.votes).values():
                    yield sum(lengths) / len(lengths), label == query.gold
            continue
        scores = scores_of(result.votes, len(lengths))
        for one, other in combinations(result.gold["judged"], 2):
            margin, p, q = query.gold[one] - query.gold[other], scores[one], scores[other]
            if margin:
                yield (lengths[one] + lengths[other]) / 2, p is not None and q is not None and (p - q) * margin > 0


def quartiles(judged: Judged, count: Count = len) -> dict[str, float | None]:
    """Accuracy per quartile of comparisons, shortest first. Lengths are in characters by default, which rank the texts
    of a data set almost like tokens."""
    ordered = sorted(comparisons(judged, count), key=lambda pair: pair[0])
    cuts = [len(ordered) * part // 4 for part in range(5)]
    return {f"len_q{part + 1}": _share(ordered[cuts[part] : cuts[part + 1]]) for part in range(4)} if ordered else {}


def fixed_bins(judged: Judged, count: Count) -> dict[str, tuple[float | None, int]]:
    """(accuracy, comparisons) per bin of the release. `count` must count cl100k tokens."""
    found = list(comparisons(judged, count))
    table = {}
    for low, high in BINS:
        part = [pair for pair in found if low <= pair[0] and (high is None or pair[0] < high)]
        table[f"{low}-{high}" if high else f"{low}-"] = (_share(part), len(part))
    return table


def _share(part: Sequence[tuple[float, bool]]) -> float | None:
    return sum(right for _, right in part) / len(part) if part else None
