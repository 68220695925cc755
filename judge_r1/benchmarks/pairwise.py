"""What the pairwise benchmarks share: items that are checked as one, and games that someone else's judge has played."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from judge_r1.benchmarks.base import BadBenchmark, LoadedBenchmark, Order
from judge_r1.core.items import Item, ItemResult, Vote, item_result
from judge_r1.core.records import InvalidVerdict, PairwiseVerdict, Verdict, content_hash
from judge_r1.core.registry import suggest

GOLD: Mapping[str, str] = {"1": "A", "2": "B"}
"""Labels that number the better candidate."""
Preferred = int | Literal["tie"] | None
"""The candidate's place, a tie, or nothing that could be read."""


def cluster_of(text: str) -> str:
    """The cluster of items that share a question or a document."""
    return content_hash("cluster", text)


def unique_items(items: Iterable[Item], path: Path) -> list[Item]:
    """The items as a list. Raises BadBenchmark if there are none or an id repeats."""
    found: dict[str, Item] = {}
    for item in items:
        if item.item_id in found:
            raise BadBenchmark(f"{path} holds item {item.item_id} twice: remove one of the two")
        found[item.item_id] = item
    if not found:
        raise BadBenchmark(f"{path} holds no items")
    return list(found.values())


def select_subset(items: Iterable[Item], subset: str | None, parts: Callable[[Item], Sequence[str]]) -> Iterable[Item]:
    """The items whose `parts` contain `subset`, or all items. Raises BadBenchmark for an unknown subset."""
    known: dict[str, None] = {}
    selected = []
    for item in items:
        names = parts(item)
        known.update(dict.fromkeys(names))
        if subset is None or subset in names:
            selected.append(item)
    if not selected:
        check_subset(subset, known)
    return selected


def check_subset(subset: str | None, known: Iterable[str]) -> None:
    """Raises BadBenchmark with the nearest known name."""
    if subset is not None and subset not in known:
        raise BadBenchmark(f"the benchmark has no subset {subset!r}{suggest(subset, known)}")


def group_of(item: Item) -> Sequence[str]:
    return (item.group,)


def non_ties(outcomes: Sequence[ItemResult]) -> dict[str, Any]:
    """`non-tie`: accuracy on the items that people did not call a tie; None without any."""
    credits = [o.score for o in outcomes if o.gold != "tie"]
    return {"non-tie": sum(credits) / len(credits) if credits else None}


def with_ties(outcomes: Sequence[ItemResult]) -> dict[str, Any]:
    """`non-tie`, and `macro F1`: the mean over A, B and tie of F1 = 2·hits/(said + gold), over the three that are gold
    or said somewhere; an invalid answer says none of them."""
    said = [(o.verdict.winner if isinstance(o.verdict, PairwiseVerdict) else None, o.gold) for o in outcomes]
    scores = []
    for label in ("A", "B", "tie"):
        hits = sum(verdict == gold == label for verdict, gold in said)
        total = sum((verdict == label) + (gold == label) for verdict, gold in said)
        if total:
            scores.append(2 * hits / total)
    return {**non_ties(outcomes), "macro F1": sum(scores) / len(scores) if scores else None}


def published_vote(order: Order, preferred: Preferred, unread: str = "unread") -> Vote:
    """A game of a judge that is not ours, from its published output; `unread` says why there is no answer in it."""
    if preferred is None:
        return vote_of(order, InvalidVerdict(reason=unread))
    winner: Literal["A", "B", "tie"] = "tie" if preferred == "tie" else "A" if order[0] == preferred else "B"
    return vote_of(order, PairwiseVerdict(winner=winner))


def vote_of(order: Order, verdict: Verdict) -> Vote:
    """A game that was not played here: its verdict is read off a file, or follows from a rule."""
    ended = verdict.reason if isinstance(verdict, InvalidVerdict) else "answer"
    return Vote(order=order, sample=0, member=0, verdict=verdict, ended=ended, searches=0)


def result_of(suite: LoadedBenchmark, item: Item, games: Sequence[Vote], judge: str = "published") -> ItemResult:
    """The outcome of one item by the benchmark's own rule."""
    return item_result(judge, item, games, suite.aggregate(item, games))
