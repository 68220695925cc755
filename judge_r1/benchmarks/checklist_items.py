"""Texts that are judged by checklists: the items, the aggregation of votes, and the agreement with gold item scores.

HelloBench and your own rubric files (`judge_r1.benchmarks.checklist`) share this module.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from judge_r1.benchmarks.aggregation import all_invalid, mean
from judge_r1.benchmarks.base import LoadedBenchmark, Order, Tables
from judge_r1.core.checklist import Checklist, weighted_score
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote
from judge_r1.core.partial_files import file_name
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, ScoresVerdict
from judge_r1.judges.checklist_task import LIMITS, ChecklistTask, checklist_task, prompt_hash

OVERALL_BEST = 10.0
"""The best score of a judge that rates the text as a whole."""


@dataclass(frozen=True)
class ChecklistEntry:
    """One text to judge. `gold_scores` are item scores of people or of another judge, `gold_overall` people's score of
    the whole."""

    item_id: str
    cluster_id: str
    group: str
    system: str
    instruction: str
    response: str
    checklist: Checklist
    gold_scores: tuple[float, ...] | None = None
    gold_overall: float | None = None

    @property
    def item(self) -> Item:
        return Item(
            item_id=self.item_id,
            cluster_id=self.cluster_id,
            group=self.group,
            instruction=self.instruction,
            candidates=(self.response,),
            systems=(self.system,),
            gold={"scores": self.gold_scores and list(self.gold_scores), "overall": self.gold_overall},
        )


def checklist_benchmark(
    entries: Sequence[ChecklistEntry],
    weights: str,
    tables: Callable[[Sequence[ItemResult]], Tables] = lambda results: {},
    suffix: str = "_results.jsonl",
) -> LoadedBenchmark:
    """The benchmark of these texts. `weights` names the weights in the results. Results are also written in
    HelloBench's format, to `SYSTEM/GROUP` and the suffix."""
    by_id = {entry.item_id: entry for entry in entries}

    def task(item: Item, order: Order) -> ChecklistTask:
        return checklist_task(item.instruction, item.texts[0], by_id[item.item_id].checklist)

    def aggregate(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
        return aggregate_checklists(by_id[item.item_id].checklist, votes)

    def published(results: Sequence[ItemResult]) -> dict[str, list[dict[str, Any]]]:
        files: dict[str, list[dict[str, Any]]] = {}
        for result in results:
            entry = by_id[result.item_id]
            if isinstance(result.verdict, ChecklistVerdict):
                files.setdefault(f"{file_name(entry.system)}/{file_name(entry.group)}{suffix}", []).append(
                    _row(entry, result.verdict)
                )
        return files

    return LoadedBenchmark(
        [entry.item for entry in entries],
        task=task,
        presentation_orders=lambda item: [(0,)],
        aggregate=aggregate,
        metrics=agreement,
        tables=tables,
        limits=LIMITS,
        published=published,
        pins={
            "weights": weights,
            "checklists": content_hash(sorted({entry.checklist.digest for entry in entries})),
            "prompt": prompt_hash(),
        },
    )


def _row(entry: ChecklistEntry, verdict: ChecklistVerdict) -> dict[str, Any]:
    """A judgement as HelloBench publishes them."""
    answers = [
        {"checklist_id": int(name), "reason": verdict.reasons.get(name, ""), "evaluation_score": score}
        for name, score in verdict.scores.items()
    ]
    return {
        "id": entry.item_id.rpartition("/")[2],
        "instruction": entry.instruction,
        "response": entry.response,
        "checklist_wise_evaluation": answers,
    }


def aggregate_checklists(checklist: Checklist, votes: Sequence[Vote]) -> AggregatedVerdict:
    """The mean of each question over the valid votes, and their weighted score. A judge of the whole text gives a score
    from 0 to 10 instead, which is divided by 10."""
    if invalid := all_invalid(votes):
        return AggregatedVerdict(verdict=invalid, score=0.0)
    overall = [vote.verdict.scores[0] for vote in votes if isinstance(vote.verdict, ScoresVerdict)]
    if overall:
        value = fmean(overall)
        return AggregatedVerdict(verdict=ScoresVerdict(scores=(value,)), score=min(value / OVERALL_BEST, 1.0))
    found = [vote.verdict for vote in votes if isinstance(vote.verdict, ChecklistVerdict)]
    names = [str(number) for number in range(len(checklist.criteria))]
    if not found or any(list(verdict.scores) != names for verdict in found):
        return AggregatedVerdict(verdict=InvalidVerdict(reason="other_checklist"), score=0.0)
    means = {name: mean(verdict.scores[name] for verdict in found) for name in names}
    score = weighted_score(checklist.weights, list(means.values()))
    verdict = found[0] if len(found) == 1 else ChecklistVerdict(scores=means)
    return AggregatedVerdict(verdict=verdict, score=score)


def valid_results(results: Sequence[ItemResult]) -> list[ItemResult]:
    """The results with scores; HelloBench leaves the others out of S."""
    return [result for result in results if not isinstance(result.verdict, InvalidVerdict)]


def item_scores(result: ItemResult) -> list[float] | None:
    return list(result.verdict.scores.values()) if isinstance(result.verdict, ChecklistVerdict) else None


def agreement(results: Sequence[ItemResult]) -> dict[str, float | None]:
    """Of the item scores with the gold's, over all questions: the share that is equal, the mean absolute error, and
    the quadratically weighted kappa. Empty without gold item scores."""
    pairs = [
        (own, gold)
        for result in results
        if (scores := item_scores(result)) and isinstance(result.gold, Mapping) and result.gold.get("scores")
        for own, gold in zip(scores, result.gold["scores"], strict=True)
    ]
    if not pairs:
        return {}
    return {
        "exact": fmean(abs(own - gold) < 1e-9 for own, gold in pairs),
        "MAE": fmean(abs(own - gold) for own, gold in pairs),
        "kappa": quadratic_kappa(pairs),
    }


def quadratic_kappa(pairs: Sequence[tuple[float, float]]) -> float | None:
    """1 - Σ(a-b)²/E[Σ(a-b)²] with independent raters of the same distributions (Cohen, 1968); None if both are
    constant and equal."""
    own, gold = zip(*pairs, strict=True)
    mean_own, mean_gold = fmean(own), fmean(gold)
    chance = fmean(a * a for a in own) + fmean(b * b for b in gold) - 2 * mean_own * mean_gold
    observed = fmean((a - b) ** 2 for a, b in pairs)
    return None if chance == 0 else 1 - observed / chance
