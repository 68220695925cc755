"""Benchmarks of judges, one to a file: items out of the ORIGINAL files, how a judge is asked, and what counts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.aggregation import aggregate_votes
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote
from judge_r1.core.principles import GENERAL
from judge_r1.core.records import ReasoningPair, content_hash
from judge_r1.core.registry import Registry
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.request import CustomPrompt, JudgeRequest

Order = tuple[int, ...]


class BadBenchmark(JudgeError):
    """Files that are not the benchmark's, or not whole; the message says where."""


def pairwise_request(item: Item, order: Order) -> PairwiseTask:
    """Two candidates and what was asked: nothing to search."""
    return PairwiseTask(GENERAL, item.instruction, *(item.texts[index] for index in order))


def one_order(item: Item) -> Sequence[Order]:
    return [(0, 1)]


def both_orders(item: Item) -> Sequence[Order]:
    return [(0, 1), (1, 0)]


@dataclass(frozen=True)
class LoadedBenchmark:
    """What a benchmark holds for a judge.

    `question(item, order)` is what is asked with the candidates in that order; `orders(item)` are the games that the
    benchmark's own rule plays; `settle` makes one verdict of an item's games. `texts` may be searched, by case id.
    `extra` adds measures of the benchmark's own to a row; `baselines` are rows that its files give for some of its
    items, without a judge. `labels` holds the labelled pair of each item whose violated principles are known.
    """

    items: Sequence[Item]
    task: Callable[[Item, Order], PairwiseTask | CustomPrompt] = pairwise_request
    presentation_orders: Callable[[Item], Sequence[Order]] = one_order
    aggregate: Callable[[Item, Sequence[Vote]], AggregatedVerdict] = aggregate_votes
    texts: Mapping[str, str] = field(default_factory=dict)
    metrics: Callable[[Sequence[ItemResult]], dict[str, Any]] = lambda outcomes: {}
    baselines: Callable[[Sequence[Item]], Mapping[str, Sequence[ItemResult]]] = lambda items: {}
    labels: Mapping[str, ReasoningPair] = field(default_factory=dict)

    def requests(self, *, orders: int | None = None, samples: int = 1) -> list[JudgeRequest]:
        """Every game to be played, items in order. `orders` 1 or 2 overrides the benchmark's rule: the first order of
        each pair alone, or both."""
        return [
            JudgeRequest(item, order, sample, self.task(item, order))
            for item in self.items
            for order in _orders(self.presentation_orders(item), orders)
            for sample in range(samples)
        ]


@dataclass(frozen=True)
class Benchmark:
    """`about`, `path` (what has to lie there) and `subsets` are told by `judge-r1 benchmarks`; `load(path, subset)`
    reads it. `verified`: was it built beside the real files; else it follows their public description alone.
    `predictions(path, file, subset)` scores outputs in the benchmark's own published format, one outcome an item,
    without a judge."""

    about: str
    path: str
    load: Callable[[Path, str | None], LoadedBenchmark]
    verified: bool = True
    predictions: Callable[[Path, Path, str | None], Sequence[ItemResult]] | None = None
    subsets: str = ""


BENCHMARKS: Registry[Benchmark] = Registry("benchmark", "judge_r1.benchmarks")


def place_by_hash(item_id: str, better: str, worse: str, seed: int = 0) -> tuple[tuple[str, str], str]:
    """(candidates, gold): a pair whose files always have the better one first, placed by hash(item_id, seed)."""
    if int(content_hash(item_id, seed), 16) % 2 == 0:
        return (better, worse), "A"
    return (worse, better), "B"


def _orders(own: Sequence[Order], wanted: int | None) -> Sequence[Order]:
    if wanted is None or any(len(order) != 2 for order in own):
        return own
    first = {frozenset(order): order for order in reversed(own)}
    once = [order for order in own if first[frozenset(order)] == order]
    return once if wanted == 1 else [turned for order in once for turned in (order, order[::-1])]
