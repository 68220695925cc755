"""Metrics of a judge: pure functions over the results of one panel.

Accuracy is Eq. 5 of the paper, with the slices of section 4.1. The label scores are those of section 3.2 (Eq. 6 and 7
and their F1), which the reward also uses. Every metric counts all results: an invalid answer is a wrong comparison and
an empty label set. Label metrics need labelled results (`labelled`). A mean over no results raises ValueError; rates
that may have no applicable item return None. Means are exact sums (`math.fsum`), so they do not depend on the order.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judge_r1.core.items import ItemResult
from judge_r1.core.principles import NUMBERS
from judge_r1.evaluation.result_table import UNKNOWN, ResultTable

NO_RESULTS = "there are no results to measure"
Results = ResultTable | Sequence[ItemResult]
Values = NDArray[Any]


class LabelScores(NamedTuple):
    precision: float
    recall: float
    f1: float


def accuracy(results: Results) -> float:
    """The mean score; for pairs the share judged right: mean of [c_pred = c_truth] (Eq. 5)."""
    return _mean(ResultTable.of(results)["score"])


def by_group(results: Results) -> dict[str, ResultTable]:
    """The results of each group (a domain, a subset), in alphabetical order."""
    return ResultTable.of(results).by_group()


def labelled(results: Results) -> ResultTable:
    """The results of items whose violated principles are known."""
    table = ResultTable.of(results)
    return table.where(table["labelled"])


def by_principle(results: Results, *, single: bool = False) -> dict[int, ResultTable]:
    """The labelled results under every principle that their item violates, or with `single` only those of items that
    violate no other. Principles without an item are absent."""
    table = ResultTable.of(results)
    chosen = table["labelled"] & (table["single"] | (not single))
    parts = {number: table.where(chosen & _has(table["violated"], number)) for number in NUMBERS}
    return {number: part for number, part in parts.items() if len(part)}


def label_scores(predicted: Iterable[int], gold: Iterable[int]) -> LabelScores:
    """Eq. 6 and 7 and their harmonic mean F1, with n = |P_pred ∩ P_truth|: precision n/|P_pred|, recall n/|P_truth|,
    F1 = 2·precision·recall/(precision + recall); each is 0 if its denominator is."""
    named, truth = set(predicted), set(gold)
    return _scores(len(named & truth), len(named), len(truth))


def result_scores(result: ItemResult) -> LabelScores:
    """The label scores of one item; an invalid answer names nothing and scores 0."""
    if result.labels is None:
        raise ValueError(f"item {result.item_id} has no labels")
    return label_scores(result.labels.predicted or (), result.labels.violated)


def label_f1(results: Results) -> Values:
    """The F1 of each item, in order."""
    return _item_scores(results)[2]


def label_mean(results: Results) -> LabelScores:
    """The mean over items of precision, recall and F1: `label_f1` of the summary."""
    return LabelScores(*map(_mean, _item_scores(results)))


def label_micro(results: Results) -> LabelScores:
    """Eq. 6 and 7 over all labels pooled: the three counts are summed over the items first."""
    if not len(results):
        raise ValueError(NO_RESULTS)
    counts = _label_counts(results)
    return _scores(*(sum(one[part] for one in counts.values()) for part in range(3)))


def label_macro(results: Results) -> LabelScores:
    """The mean of the scores per principle, over the principles that are gold or predicted in some result."""
    scores = [_scores(*one) for one in _label_counts(results).values() if one[1] or one[2]]
    return LabelScores(*(_mean(np.array([score[part] for score in scores])) for part in range(3)))


def named_rate(results: Results, principle: int) -> float:
    """The share of items on which the judge names `principle`: its recall, if all of them violate it."""
    return _mean(_has(ResultTable.of(results)["named"], principle))


def valid_rate(results: Results) -> float:
    """The share of items with a valid verdict, by the judge's own parser. Items whose prompts the model could not read
    are left out, unless no item is left."""
    table = ResultTable.of(results)
    return _mean((table.where(table["fits"]) if table["fits"].any() else table)["valid"])


def unfit_rate(results: Results) -> float | None:
    """The share of items with a prompt that the model could not read; None without any."""
    return _mean(~ResultTable.of(results)["fits"]) or None


def accuracy_of_fitting(results: Results) -> float | None:
    """The accuracy on the items whose prompts the model could read; None if these are all items, or none."""
    table = ResultTable.of(results)
    fitting = table.where(table["fits"])
    return accuracy(fitting) if 0 < len(fitting) < len(table) else None


def valid_vote_rate(results: Results) -> float | None:
    """The share of votes with a valid verdict; None if every item has one vote. An item with an invalid vote can still
    have a valid verdict."""
    table = ResultTable.of(results)
    return None if table["votes"].sum() == len(table) else _ratio(table, "valid_votes", "votes")


def parser_rates(results: Results) -> tuple[float | None, float | None]:
    """The valid rates of the strict and of the tolerant parser; None unless known of every result."""
    flags = [ResultTable.of(results)[name] for name in ("valid_strict", "valid_tolerant")]
    strict, tolerant = (None if (each == UNKNOWN).any() else _mean(each) for each in flags)
    return strict, tolerant


def ended_counts(results: Results) -> dict[str, int]:
    """The number of episodes by the reason for which they ended, most frequent first."""
    counts = ResultTable.of(results).endings()
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def searches(results: Results) -> float:
    """Searches per episode."""
    if (found := _ratio(ResultTable.of(results), "searches", "votes")) is None:
        raise ValueError(NO_RESULTS)
    return found


def tie_rate(results: Results) -> float:
    """The share of items whose verdict is a tie."""
    return _mean(ResultTable.of(results)["tie"])


def first_preferred(results: Results) -> float | None:
    """The share of decided votes that prefer the candidate shown first; None without any."""
    return _ratio(ResultTable.of(results), "first", "decided")


def consistency(results: Results) -> float | None:
    """Of the pairs that one judge decided in both orders of one sample, the share with the same winner; None without
    any. Unlike `Position.consistency` it leaves out ties and invalid answers."""
    return _ratio(ResultTable.of(results), "consistent", "both_orders")


def evidence_hit_rate(results: Results) -> float | None:
    """The share of items whose episode showed the context that a flaw contradicts, of the items with such context. None
    without such items."""
    return _known_rate(ResultTable.of(results)["evidence_hit"])


def position_share(results: Results) -> float | None:
    """The share of decided items whose verdict prefers A (supplementary Table 16); None without any."""
    return _known_rate(ResultTable.of(results)["prefers_a"])


def mean_reward(results: Results) -> float:
    """Mean r = (R1 + R2 + 3)/6, as the trajectories carry it."""
    return _mean(ResultTable.of(results)["reward"])


def _has(principles: Values, number: int) -> Values:
    found: Values = (principles >> number) & 1 == 1
    return found


def _item_scores(results: Results) -> tuple[Values, Values, Values]:
    """Precision, recall and F1 of each item."""
    table = ResultTable.of(results)
    both, named, truth = (
        np.bitwise_count(labels).astype(float)
        for labels in (table["named"] & table["violated"], table["named"], table["violated"])
    )
    precision, recall = (np.divide(both, size, out=np.zeros_like(both), where=size > 0) for size in (named, truth))
    f1 = np.divide(2 * precision * recall, precision + recall, out=np.zeros_like(both), where=both > 0)
    return precision, recall, f1


def _label_counts(results: Results) -> dict[int, tuple[int, int, int]]:
    """Per principle the number of items where it is gold and predicted, predicted, and gold."""
    table = ResultTable.of(results)
    counts = {}
    for number in NUMBERS:
        named, truth = _has(table["named"], number), _has(table["violated"], number)
        counts[number] = (int((named & truth).sum()), int(named.sum()), int(truth.sum()))
    return counts


def _scores(both: int, named: int, truth: int) -> LabelScores:
    precision = both / named if named else 0.0
    recall = both / truth if truth else 0.0
    return LabelScores(precision, recall, 2 * precision * recall / (precision + recall) if both else 0.0)


def _known_rate(flags: Values) -> float | None:
    known = flags[flags != UNKNOWN]
    return _mean(known) if len(known) else None


def _ratio(table: ResultTable, part: str, whole: str) -> float | None:
    """The sum of a column over that of another; None if that is 0."""
    total = int(table[whole].sum())
    return int(table[part].sum()) / total if total else None


def _mean(values: Values) -> float:
    if not len(values):
        raise ValueError(NO_RESULTS)
    # fsum, so that the order of the results does not change the last digit of a summary.
    return math.fsum(values) / len(values)
