"""Helpers of the pairwise benchmarks: item checks, subsets, metrics, and votes from published outputs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from judge_r1.benchmarks.aggregation import mean_or_none
from judge_r1.benchmarks.base import BadBenchmark, LoadedBenchmark, Order
from judge_r1.core.items import Item, ItemResult, Vote, item_result
from judge_r1.core.record_base import content_hash
from judge_r1.core.registry import suggest
from judge_r1.core.text_check import short_name
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict, Verdict

GOLD: Mapping[str, str] = {"1": "A", "2": "B"}
"""Labels that number the better candidate."""
Preferred = int | Literal["tie"] | None
"""Index of the preferred candidate, "tie", or None for an unreadable answer."""


def cluster_of(text: str) -> str:
    """Cluster id of the items that share a question or a document."""
    return content_hash("cluster", text)


def unique_items(items: Iterable[Item], path: Path) -> list[Item]:
    """The items as a list. Raises BadBenchmark if there are none or two share an id."""
    found: dict[str, Item] = {}
    for item in items:
        # A repeated item would count twice and share its votes on resume.
        if item.item_id in found:
            raise BadBenchmark(f"{path} holds item {short_name(item.item_id)} twice: remove one of the two")
        found[item.item_id] = item
    if not found:
        raise BadBenchmark(f"{path} holds no items")
    return list(found.values())


def pair_item(
    item_id: str, instruction: str, candidates: tuple[str, str], gold: str, group: str = "all", cluster: str = ""
) -> Item:
    """An item of two answers. By default all pairs with the same instruction form one cluster."""
    return Item(
        item_id=item_id,
        cluster_id=cluster or cluster_of(instruction),
        group=group,
        instruction=instruction,
        candidates=candidates,
        gold=gold,
    )


def select_items(
    items: Iterable[Item],
    path: Path,
    subset: str | None,
    parts: Callable[[Item], Sequence[str]] = lambda item: (item.group,),
) -> list[Item]:
    """The items whose `parts` include `subset`; all items if it is None. Raises BadBenchmark for an unknown subset, and
    the errors of `unique_items`."""
    parts_of = [(item, parts(item)) for item in unique_items(items, path)]
    check_subset(subset, dict.fromkeys(name for _, names in parts_of for name in names))
    return [item for item, names in parts_of if subset is None or subset in names]


def check_subset(subset: str | None, known: Iterable[str]) -> None:
    """Raises BadBenchmark for an unknown subset, with the nearest known name."""
    if subset is not None and subset not in (names := list(known)):
        near = suggest(subset, map(short_name, names[:100]))
        raise BadBenchmark(f"the benchmark has no subset {subset[:80]!r}{near}")


def non_ties(results: Sequence[ItemResult]) -> dict[str, Any]:
    """`non-tie`: accuracy on the items whose gold is not a tie; None if there are none."""
    return {"non-tie": mean_or_none(result.score for result in results if result.gold != "tie")}


def with_ties(results: Sequence[ItemResult]) -> dict[str, Any]:
    """`non-tie`, and `macro F1`: the mean over A, B and tie of F1 = 2·hits/(predicted + gold). Labels that occur
    neither as prediction nor as gold are skipped. An invalid answer predicts no label."""
    answers = [
        (result.verdict.winner if isinstance(result.verdict, PairwiseVerdict) else None, result.gold)
        for result in results
    ]
    scores = []
    for label in ("A", "B", "tie"):
        hits = sum(verdict == gold == label for verdict, gold in answers)
        total = sum((verdict == label) + (gold == label) for verdict, gold in answers)
        if total:
            scores.append(2 * hits / total)
    return {**non_ties(results), "macro F1": mean_or_none(scores)}


def published_vote(order: Order, preferred: Preferred, unread: str = "unread") -> Vote:
    """A vote from another judge's published output. `unread` is the reason of the invalid verdict if `preferred` is
    None."""
    if preferred is None:
        return vote_of(order, InvalidVerdict(reason=unread))
    winner: Literal["A", "B", "tie"] = "tie" if preferred == "tie" else "A" if order[0] == preferred else "B"
    return vote_of(order, PairwiseVerdict(winner=winner))


def vote_of(order: Order, verdict: Verdict) -> Vote:
    """A vote without an episode: the verdict was read from a file or follows from a rule."""
    ended = verdict.reason if isinstance(verdict, InvalidVerdict) else "answer"
    return Vote(order=order, sample=0, member=0, verdict=verdict, ended=ended, searches=0)


def result_of(benchmark: LoadedBenchmark, item: Item, votes: Sequence[Vote], judge: str = "published") -> ItemResult:
    """The result of one item under the benchmark's aggregation rule."""
    return item_result(judge, item, votes, benchmark.aggregate(item, votes))
