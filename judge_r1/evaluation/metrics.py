"""Metrics of a judge: pure functions over the results of one panel.

Accuracy is Eq. 5 of the paper, with the slices of section 4.1. The label scores are those of section 3.2 (Eq. 6 and 7
and their F1), which the reward also uses. Every metric counts all results: an invalid answer is a wrong comparison and
an empty label set. Label metrics need labelled results (`labelled`). A mean over no results raises ValueError; rates
that may have no applicable item return None.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from judge_r1.core.items import ItemResult, LabelResult
from judge_r1.core.principles import NUMBERS
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict, preference
from judge_r1.statistics.position_bias import agreement_of_orders, first_share

NO_RESULTS = "there are no results to measure"


class LabelScores(NamedTuple):
    precision: float
    recall: float
    f1: float


def accuracy(results: Sequence[ItemResult]) -> float:
    """The mean score; for pairs the share judged right: mean of [c_pred = c_truth] (Eq. 5)."""
    return _mean(result.score for result in results)


def by_group(results: Sequence[ItemResult]) -> dict[str, list[ItemResult]]:
    """The results of each group (a domain, a subset), in alphabetical order."""
    groups: dict[str, list[ItemResult]] = {group: [] for group in sorted({result.group for result in results})}
    for result in results:
        groups[result.group].append(result)
    return groups


def labelled(results: Sequence[ItemResult]) -> list[ItemResult]:
    """The results of items whose violated principles are known."""
    return [result for result in results if result.labels]


def by_principle(results: Sequence[ItemResult], *, single: bool = False) -> dict[int, list[ItemResult]]:
    """The labelled results under every principle that their item violates, or with `single` only those of items that
    violate no other. Principles without an item are absent."""
    parts: dict[int, list[ItemResult]] = {number: [] for number in NUMBERS}
    for result in results:
        if result.labels and not (single and result.labels.kind != "single"):
            for number in result.labels.violated:
                parts[number].append(result)
    return {number: part for number, part in parts.items() if part}


def label_scores(predicted: Iterable[int], gold: Iterable[int]) -> LabelScores:
    """Eq. 6 and 7 and their harmonic mean F1, with n = |P_pred ∩ P_truth|: precision n/|P_pred|, recall n/|P_truth|,
    F1 = 2·precision·recall/(precision + recall); each is 0 if its denominator is."""
    named, truth = set(predicted), set(gold)
    return _scores(len(named & truth), len(named), len(truth))


def result_scores(result: ItemResult) -> LabelScores:
    """The label scores of one item; an invalid answer names nothing and scores 0."""
    labels = _labels(result)
    return label_scores(labels.predicted or (), labels.violated)


def label_mean(results: Sequence[ItemResult]) -> LabelScores:
    """The mean over items of precision, recall and F1: `label_f1` of the summary."""
    return _mean_scores([result_scores(result) for result in results])


def label_micro(results: Sequence[ItemResult]) -> LabelScores:
    """Eq. 6 and 7 over all labels pooled: the three counts are summed over the items first."""
    if not results:
        raise ValueError(NO_RESULTS)
    hits, named, truth = _label_counts(results)
    return _scores(hits.total(), named.total(), truth.total())


def label_macro(results: Sequence[ItemResult]) -> LabelScores:
    """The mean of the scores per principle, over the principles that are gold or predicted in some result."""
    hits, named, truth = _label_counts(results)
    return _mean_scores([_scores(hits[p], named[p], truth[p]) for p in NUMBERS if named[p] or truth[p]])


def named_rate(results: Sequence[ItemResult], principle: int) -> float:
    """The share of items on which the judge names `principle`: its recall, if all of them violate it."""
    return _mean(principle in (_labels(result).predicted or ()) for result in results)


def valid_rate(results: Sequence[ItemResult]) -> float:
    """The share of items with a valid verdict, by the judge's own parser. Items whose prompts the model could not read
    (`fits`) are left out, unless no item is left."""
    return _mean(result.valid for result in ([one for one in results if fits(one)] or results))


def fits(result: ItemResult) -> bool:
    """Whether the model could read every prompt of the item."""
    return not any(isinstance(vote.verdict, InvalidVerdict) and vote.verdict.does_not_fit for vote in result.votes)


def unfit_rate(results: Sequence[ItemResult]) -> float | None:
    """The share of items with a prompt that the model could not read; None without any."""
    return _mean(not fits(result) for result in results) or None


def accuracy_of_fitting(results: Sequence[ItemResult]) -> float | None:
    """The accuracy on the items whose prompts the model could read; None if these are all items, or none."""
    fitting = [result for result in results if fits(result)]
    return accuracy(fitting) if 0 < len(fitting) < len(results) else None


def valid_vote_rate(results: Sequence[ItemResult]) -> float | None:
    """The share of votes with a valid verdict; None if every item has one vote. An item with an invalid vote can still
    have a valid verdict."""
    votes = [vote for result in results for vote in result.votes]
    if len(votes) == len(results):
        return None
    return _mean(not isinstance(vote.verdict, InvalidVerdict) for vote in votes)


def parser_rates(results: Sequence[ItemResult]) -> tuple[float | None, float | None]:
    """The valid rates of the strict and of the tolerant parser; None unless known of every result."""
    labels = [_labels(result) for result in results]
    return _known_rate([each.valid_strict for each in labels]), _known_rate([each.valid_tolerant for each in labels])


def ended_counts(results: Sequence[ItemResult]) -> dict[str, int]:
    """The number of episodes by the reason for which they ended, most frequent first."""
    counts = Counter(vote.ended for result in results for vote in result.votes)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def searches(results: Sequence[ItemResult]) -> float:
    """Searches per episode."""
    return _mean(vote.searches for result in results for vote in result.votes)


def tie_rate(results: Sequence[ItemResult]) -> float:
    """The share of items whose verdict is a tie."""
    return _mean(result.verdict == PairwiseVerdict(winner="tie") for result in results)


def first_preferred(results: Sequence[ItemResult]) -> float | None:
    """The share of decided votes that prefer the candidate shown first; None without any."""
    return first_share(
        vote.winner == vote.order[0] for result in results for vote in result.votes if vote.winner is not None
    )


def consistency(results: Sequence[ItemResult]) -> float | None:
    """Of the pairs that one judge decided in both orders of one sample, the share with the same winner; None without
    any. Unlike `Position.consistency` it leaves out ties and invalid answers."""
    winners = {(r.item_id, v.member, v.sample, v.order): v.winner for r in results for v in r.votes}
    return agreement_of_orders(
        (winner, winners.get((item_id, member, sample, order[::-1])))
        for (item_id, member, sample, order), winner in winners.items()
        if len(order) == 2 and order[0] < order[1]
    )


def evidence_hit_rate(results: Sequence[ItemResult]) -> float | None:
    """The share of items whose episode showed the context that a flaw contradicts, of the items with such context. None
    without such items."""
    hits = [hit for result in results if (hit := _labels(result).evidence_hit) is not None]
    return _mean(hits) if hits else None


def position_share(results: Sequence[ItemResult]) -> float | None:
    """The share of decided items whose verdict prefers A (supplementary Table 16); None without any."""
    decided = [winner for result in results if (winner := preference(result.verdict)) in ("A", "B")]
    return _mean(winner == "A" for winner in decided) if decided else None


def mean_reward(results: Sequence[ItemResult]) -> float:
    """Mean r = (R1 + R2 + 3)/6, as the trajectories carry it."""
    return _mean(_labels(result).reward["r"] for result in results)


def _labels(result: ItemResult) -> LabelResult:
    if result.labels is None:
        raise ValueError(f"item {result.item_id} has no labels")
    return result.labels


def _label_counts(results: Sequence[ItemResult]) -> tuple[Counter[int], Counter[int], Counter[int]]:
    """Per principle the number of items where it is gold and predicted, predicted, and gold."""
    hits, named, truth = Counter[int](), Counter[int](), Counter[int]()
    for labels in map(_labels, results):
        predicted = set(labels.predicted or ())
        hits.update(predicted & set(labels.violated))
        named.update(predicted)
        truth.update(labels.violated)
    return hits, named, truth


def _scores(both: int, named: int, truth: int) -> LabelScores:
    precision = both / named if named else 0.0
    recall = both / truth if truth else 0.0
    return LabelScores(precision, recall, 2 * precision * recall / (precision + recall) if both else 0.0)


def _mean_scores(scores: Sequence[LabelScores]) -> LabelScores:
    return LabelScores(*(_mean(score[part] for score in scores) for part in range(3)))


def _known_rate(flags: Sequence[bool | None]) -> float | None:
    return None if None in flags else _mean(bool(flag) for flag in flags)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    if not listed:
        raise ValueError(NO_RESULTS)
    return fmean(listed)
