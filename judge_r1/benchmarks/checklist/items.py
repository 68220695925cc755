"""Texts that are judged by checklists: the items and the aggregation of votes.

HelloBench and your own rubric files (`judge_r1.benchmarks.checklist`) share this module.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import Any

from judge_r1.benchmarks.aggregation import all_invalid, question_means
from judge_r1.benchmarks.base import LoadedBenchmark, Order, Tables
from judge_r1.benchmarks.checklist.agreement import GOLD_CORRELATION, agreement, citations, gold_correlation
from judge_r1.core.checklist import OVERALL_BEST, Checklist
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, ScoresVerdict
from judge_r1.files.partial_files import file_names
from judge_r1.judges.checklist.task import LIMITS, ChecklistTask, checklist_task, prompt_hash


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
    joint_tables: Callable[[Mapping[str, Sequence[ItemResult]]], Tables] = lambda panels: {},
    shown: Callable[[str], str] | None = None,
    pins: Mapping[str, str] = MappingProxyType({}),
) -> LoadedBenchmark:
    """The benchmark of these texts. `weights` names the weights in the results. Results are also written in
    HelloBench's format, to `SYSTEM/GROUP_results.jsonl`. `shown` changes a text before the judge reads it; `pins` are
    what else the scores depend on."""
    by_id = {entry.item_id: entry for entry in entries}

    def task(item: Item, order: Order) -> ChecklistTask:
        text = shown(item.texts[0]) if shown else item.texts[0]
        return checklist_task(item.instruction, text, by_id[item.item_id].checklist)

    def aggregate(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
        return aggregate_checklists(by_id[item.item_id].checklist, votes)

    def all_tables(results: Sequence[ItemResult]) -> Tables:
        found = gold_correlation(
            results,
            lambda item_id, scores: by_id[item_id].checklist.score(scores),
            lambda item_id: by_id[item_id].system,
        )
        return {**tables(results), **({GOLD_CORRELATION: found} if found else {})}

    def published(results: Sequence[ItemResult]) -> dict[str, list[dict[str, Any]]]:
        files: dict[str, list[dict[str, Any]]] = {}
        systems, groups = file_names(entry.system for entry in entries), file_names(entry.group for entry in entries)
        for result in results:
            entry = by_id[result.item_id]
            if isinstance(result.verdict, ChecklistVerdict):
                file = f"{systems[entry.system]}/{groups[entry.group]}_results.jsonl"
                files.setdefault(file, []).append(_row(entry, result.verdict))
        return files

    return LoadedBenchmark(
        [entry.item for entry in entries],
        task=task,
        presentation_orders=lambda item: [(0,)],
        aggregate=aggregate,
        metrics=lambda results: {
            **agreement(results, lambda item_id: by_id[item_id].checklist.digest),
            **citations(results),
        },
        tables=all_tables,
        joint_tables=joint_tables,
        rates_texts=True,
        limits=LIMITS,
        published=published,
        pins={
            "weights": weights,
            "checklists": content_hash(sorted({entry.checklist.digest for entry in entries})),
            "prompt": prompt_hash(),
            "responses": _response_hashes(entries),
            **pins,
        },
    )


def _response_hashes(entries: Sequence[ChecklistEntry]) -> dict[str, str]:
    """A hash of the instructions and responses, by system and group."""
    texts: dict[str, list[tuple[str, str, str]]] = {}
    for entry in entries:
        texts.setdefault(f"{entry.system}/{entry.group}", []).append((entry.item_id, entry.instruction, entry.response))
    return {part: content_hash(sorted(found)) for part, found in texts.items()}


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
    means = question_means(found)
    verdict = found[0] if len(found) == 1 else ChecklistVerdict(scores=means)
    return AggregatedVerdict(verdict=verdict, score=checklist.score(means.values()))
