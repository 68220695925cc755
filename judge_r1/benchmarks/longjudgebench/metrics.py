"""LongJudgeBench's metrics besides the mean score: the paper's (Eqs. 6 to 9, Table 4) and additional ones.

Keys are report columns; values are shares or correlations, or None if undefined. The released script does not swap MA's
answers back in the second order, so a judge with the same preference in both orders scores 0.5 there in any case; here
all answers refer to the outputs themselves.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from statistics import fmean, pstdev
from typing import Any

from judge_r1.benchmarks.aggregation import mean, mean_or_none
from judge_r1.benchmarks.longjudgebench.aggregation import (
    labels_by_order,
    ordered_by_gold,
    released_accuracy,
    scores_of,
)
from judge_r1.benchmarks.longjudgebench.baselines import ANNOTATOR
from judge_r1.benchmarks.longjudgebench.query import COLUMNS, Query
from judge_r1.core.items import ItemResult
from judge_r1.core.verdicts import InvalidVerdict, ScoresVerdict
from judge_r1.statistics.position_bias import SWAPPED, Answer, position

Metrics = dict[str, float | None]
Judged = Sequence[tuple[Query, ItemResult]]
SURGE = ("Structure", "Content")
REJECTED = "content_filter"
"""The reason of an answer that a safety policy declined."""
BINS: Mapping[str, tuple[float, float]] = {
    "len_3k": (0, 3_000), "len_8k": (3_000, 8_000), "len_16k": (8_000, 16_000), "len_more": (16_000, math.inf),
}  # fmt: skip
"""Metric -> tokens from and below (the paper's second analysis of length)."""
FEWEST = 5
"""Comparisons of a bin that has an accuracy."""
SCALE = 10
"""The best score of an output."""


def column_metrics(
    queries: Mapping[str, Query],
    results: Sequence[ItemResult],
    averaged: Collection[str] = tuple(COLUMNS),
    tokenizer: str | None = None,
) -> dict[str, Any]:
    """The metrics of one judge: averages over columns, or the column's own metrics if there is only one. Names with
    `released` count as the release does; only they compare with published numbers. Averages with it need all columns
    that the paper averages, which are `averaged`. A `tokenizer` adds the accuracy in fixed bins of length. `unfit` are
    context overflows and `rejected` answers that a content filter refused (Fig. 3); `invalid` are all others."""
    votes = [vote for result in results for vote in result.votes]
    invalid = [vote.verdict for vote in votes if isinstance(vote.verdict, InvalidVerdict)]
    unfit = sum(verdict.does_not_fit for verdict in invalid)
    rejected = sum(verdict.reason == REJECTED for verdict in invalid)
    shared: Metrics = {
        "invalid": (len(invalid) - unfit - rejected) / len(votes),
        "unfit": unfit / len(votes),
        "rejected": rejected / len(votes),
    }
    judged = [(queries[result.item_id.partition(ANNOTATOR)[0]], result) for result in results]
    columns: dict[str, list[tuple[Query, ItemResult]]] = {}
    for query, result in judged:
        columns.setdefault(result.group, []).append((query, result))
    if len(columns) > 1:
        of_columns = {column: [result for _, result in own] for column, own in columns.items()}
        released = averages({name: released_accuracy(own[0][0], of_columns[name]) for name, own in columns.items()})
        return {
            **shared,
            **averages({column: accuracy(own) for column, own in of_columns.items()}),
            # The paper's averages are over all columns: those of fewer would stand beside others' numbers.
            "avg_released": released["avg"] if of_columns.keys() >= set(averaged) else None,
            "avg_no_wp_released": released["avg_no_wp"] if of_columns.keys() >= set(averaged) - {"WP"} else None,
        }
    query = judged[0][0]
    if query.column == "Verify":
        own = _verify_metrics(results)
    elif query.protocol == "pairwise":
        own = _pairwise_metrics(judged)
    else:
        own = _score_metrics(judged)
    return {
        **shared,
        **own,
        "released": released_accuracy(query, results),
        **quartiles(judged),
        **bins(judged, tokenizer),
    }


def accuracy(results: Sequence[ItemResult]) -> float | None:
    """Eq. 6: the mean score of the queries that the gold orders."""
    return mean_or_none(result.score for result in results if ordered_by_gold(result.gold))


def _score_metrics(judged: Judged) -> Metrics:
    """Accuracy over the pooled pairs (ties wrong, and ties half), and correlations per query. A correlation needs three
    scored outputs and two distinct values on both sides. `ranked` is the share of queries that have one, and `_zero`
    counts the others as 0."""
    from judge_r1.statistics.correlation import PairAccuracy, kendall, pair_accuracy, pooled, spearman

    scored = [(result.gold, scores_of(result.votes, len(result.gold["scores"]))) for _, result in judged]

    def compared(*indices: int) -> list[tuple[list[float], list[float | None]]]:
        """(gold, scores) of each query: of the outputs at `indices`, or of all judged ones."""
        parts = []
        for gold, scores in scored:
            chosen = indices or gold["judged"]
            parts.append(([gold["scores"][index] for index in chosen], [scores[index] for index in chosen]))
        return parts

    def pairs(*indices: int) -> PairAccuracy:
        return pooled(pair_accuracy(gold, predicted) for gold, predicted in compared(*indices))

    own: Metrics = {"acc_strict": pairs().strict, "acc_half": pairs().half, "tie_rate": pairs().tie_rate}
    rankable = [(gold, predicted) for gold, predicted in compared() if len(gold) >= 3 and len(set(gold)) >= 2]
    for name, correlation in (("spearman", spearman), ("kendall", kendall)):
        values = []
        for gold, predicted in rankable:
            both = [(g, p) for g, p in zip(gold, predicted, strict=True) if p is not None]
            if len(both) >= 3 and (value := correlation([g for g, _ in both], [p for _, p in both])) is not None:
                values.append(value)
        own[name] = mean_or_none(values)
        own[f"{name}_zero"] = sum(values) / len(rankable) if rankable else None
        own["ranked"] = len(values) / len(rankable) if rankable else None
    if judged[0][0].protocol == "listwise":
        own["acc_no_gt"], own["acc_auto_id"] = pairs(1, 2, 3).strict, pairs(1, 2).strict
        return own
    return {**own, **compression(judged)}


def compression(judged: Judged) -> Metrics:
    """How the scores of a judge spread around the gold's, both from 0 to 10: `score_spread` is the ratio of their
    standard deviations (below 1 the judge compresses its scores), `score_bias` the difference of their means, and
    `score_mae` the mean absolute error. Over all outputs that have a score. None for scores that are not on that scale,
    such as lengths or the shares of a rubric; empty for judges that compare pairs."""
    scores: list[tuple[float, float]] = []
    for _, result in judged:
        if not all(isinstance(vote.verdict, ScoresVerdict | InvalidVerdict) for vote in result.votes):
            return {}
        found = scores_of(result.votes, len(result.gold["scores"]))
        scores += [(g, p) for g, p in zip(result.gold["scores"], found, strict=True) if p is not None]
    gold, predicted = [g for g, _ in scores], [p for _, p in scores]
    if not scores or min(predicted) < 0 or not 1 < max(predicted) <= SCALE:
        return dict.fromkeys(("score_spread", "score_bias", "score_mae"))
    spread = pstdev(gold)
    return {
        "score_spread": pstdev(predicted) / spread if spread else None,
        "score_bias": fmean(predicted) - fmean(gold),
        "score_mae": fmean(abs(p - g) for g, p in scores),
    }


def _verify_metrics(results: Sequence[ItemResult]) -> Metrics:
    gold: list[Any] = []
    predicted: list[str | None] = []
    for result in results:
        labels = labels_by_order(result.votes, binary=True).values()
        predicted += labels
        gold += [result.gold] * len(labels)
    from judge_r1.statistics.agreement import balanced_accuracy, matthews  # imported late: it needs NumPy

    return {
        "balanced": balanced_accuracy(gold, predicted),
        "mcc": matthews(gold, predicted),
        "says_yes": predicted.count("Yes") / len(predicted),
    }


def _pairwise_metrics(judged: Judged) -> Metrics:
    """Metrics over both orders of each pair. `inconsistent` and `prefers_a` (the share of inconsistent pairs with A in
    both orders) are Table 4."""
    labelled = [(query, result.gold, labels_by_order(result.votes, binary=False)) for query, result in judged]
    answers = [(query, gold, label) for query, gold, labels in labelled for label in labels.values()]
    decided = [(query, gold, label) for query, gold, label in answers if ordered_by_gold(gold)]
    both = [(gold, labels[0, 1], labels[1, 0]) for _, gold, labels in labelled if len(labels) == 2]
    bias = position((_answer(one), SWAPPED.get(_answer(other))) for _, one, other in both)
    correct = [label == gold for _, gold, label in decided]
    own: Metrics = {
        "acc_half": mean_or_none(0.5 if label == "tie" else float(label == gold) for _, gold, label in decided),
        "tie_rate": mean(label == "tie" for *_, label in answers),
        "inconsistent": bias.inconsistency,
        "prefers_a": bias.direction,
        "acc_consistent": mean_or_none(one == gold for gold, one, other in both if one is not None and one == other),
    }
    if judged[0][0].column == "MA":
        margins = [abs((query.rating or 2.0) - 2.0) for query, _, _ in decided]
        right = sum(margin for margin, is_right in zip(margins, correct, strict=True) if is_right)
        own["acc_weighted"] = right / sum(margins) if sum(margins) else None
    return own


def _answer(label: str | None) -> Answer:
    """The label as an answer to the first order; swapped, it is the answer to the second."""
    return label if label in ("A", "B", "tie") else None  # type: ignore[return-value]


def averages(accuracies: Mapping[str, float | None]) -> dict[str, float | None]:
    """`avg` over all given columns and `avg_no_wp` without WP (both in the paper), and `avg_sets`, which counts SurGE
    once instead of twice. `columns` is the number of columns, since averages over different columns do not compare."""
    given = {column: value for column in COLUMNS if (value := accuracies.get(column)) is not None}
    halves = [given[column] for column in SURGE if column in given]
    sets = [value for column, value in given.items() if column not in SURGE]
    return {
        "columns": float(len(given)),
        "avg": mean_or_none(given.values()),
        "avg_no_wp": mean_or_none(value for column, value in given.items() if column != "WP"),
        "avg_sets": mean_or_none([*sets, *([mean(halves)] if halves else [])]),
    }


def comparisons(judged: Judged, length: Callable[[str], int] = len) -> Iterator[tuple[float, bool]]:
    """(mean length of the compared outputs, correct) of each pair ordered by the gold, or of each pair or verified
    answer in each presentation order. Lengths are in characters unless `length` counts others. Queries without texts
    are skipped."""
    for query, result in judged:
        lengths = [length(text) for text in query.texts if text is not None]
        if len(lengths) < len(query.texts) or query.gold == "tie":
            continue
        if isinstance(query.gold, str):
            for label in labels_by_order(result.votes, binary=query.gold in ("Yes", "No")).values():
                yield sum(lengths) / len(lengths), label == query.gold
            continue
        scores = scores_of(result.votes, len(lengths))
        for one, other in combinations(result.gold["judged"], 2):
            margin, p, q = query.gold[one] - query.gold[other], scores[one], scores[other]
            if margin:
                yield (lengths[one] + lengths[other]) / 2, p is not None and q is not None and (p - q) * margin > 0


def quartiles(judged: Judged) -> dict[str, float | None]:
    """Accuracy per quartile of comparisons, shortest first. Characters rank the texts of a data set almost like
    tokens."""
    ordered = sorted(comparisons(judged), key=lambda pair: pair[0])
    parts = [ordered[len(ordered) * n // 4 : len(ordered) * (n + 1) // 4] for n in range(4)]
    return {f"len_q{n}": mean_or_none(right for _, right in part) for n, part in enumerate(parts, 1)} if ordered else {}


def bins(judged: Judged, tokenizer: str | None) -> dict[str, float | None]:
    """Accuracy by the mean tokens of the compared outputs, in the paper's fixed bins: below 3,000, 8,000 and 16,000
    tokens, and above. None for a bin of fewer than five comparisons; nothing without a tokenizer.

    Raises: JudgeError for a tokenizer that cannot be loaded."""
    if tokenizer is None:
        return {}
    from judge_r1.models.token_counter import token_counter

    found = list(comparisons(judged, cache(token_counter(tokenizer))))
    inside = {name: [right for tokens, right in found if low <= tokens < high] for name, (low, high) in BINS.items()}
    return {name: mean(own) if len(own) >= FEWEST else None for name, own in inside.items()}
