"""RewardBench 2 (Malik et al., 2025): the best of four answers, and questions with many correct answers ("Ties").

UNVERIFIED: the reader was not tested on the real file. The fields (`id`, `prompt`, `chosen`, `rejected`, `num_correct`,
`num_incorrect`, `total_completions`, `subset`) and the rule for Ties follow the data set card and public copies of the
scoring script.

Best of four is judged as three pairs: the correct answer against each other answer, in an order chosen by hash. An item
is correct if the correct answer wins all three. With the subset `list` one prompt shows all four: an item is correct if
the correct answer is named, or alone has the highest score. A Ties question has several equally correct answers: each
is rated separately from 1 to 10 with this project's prompt (`judge_r1.benchmarks.pointwise`), and `ties_score` scores
the ratings. `score` is the mean over the six subsets, with the Ties score for Ties.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.aggregation import aggregate_votes, best_of_n, mean, mean_or_none
from judge_r1.benchmarks.base import BENCHMARKS, Benchmark, LoadedBenchmark, Order
from judge_r1.benchmarks.pairwise import check_subset, cluster_of, select_items
from judge_r1.benchmarks.pointwise import aggregate_ratings, ties_score
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote
from judge_r1.core.record_base import content_hash
from judge_r1.files.tabular import HUB, Row, rows

TIES, LIST = "Ties", "list"
SUBSETS = ("Factuality", "Precise IF", "Math", "Safety", "Focus", TIES)


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    parts = (subset or "").split(",")
    listed, subset = LIST in parts, ",".join(part for part in parts if part != LIST) or None
    check_subset(subset, SUBSETS)
    items = select_items(map(item_of, rows(path, ("test",))), path, subset)
    shown, combine = partial(orders, listed=listed), partial(aggregate, listed=listed)
    return LoadedBenchmark(items, presentation_orders=shown, aggregate=combine, metrics=scores)


def item_of(row: Row) -> Item:
    """Best of four: the gold is the index of the correct answer, chosen by hash, and the cluster is the prompt. Ties:
    correct answers come first, the gold is their number, and `ref:N` and `tied:N` form one cluster."""
    group = row.one_of("subset", {name: name for name in SUBSETS})
    chosen, rejected = row.texts("chosen"), row.texts("rejected")
    if len(chosen) != row.integer("num_correct") or len(rejected) != row.integer("num_incorrect"):
        raise row.error("chosen", "and 'rejected' must hold num_correct and num_incorrect answers")
    name = row.name("id")
    item_id = f"{group}/{name}"
    if group == TIES:
        kind, _, number = name.partition(":")
        if kind not in ("ref", "tied") or not number or not rejected or len(chosen) < (1 if kind == "ref" else 2):
            wanted = "ref:N (one correct answer) or tied:N (two or more), with wrong answers"
            raise row.error("id", f"of Ties must be {wanted}")
        candidates, gold, cluster = [*chosen, *rejected], len(chosen), f"{TIES}/{number}"
    else:
        if len(chosen) != 1 or len(rejected) != 3:
            raise row.error(
                "chosen", f"must hold one answer and 'rejected' three, not {len(chosen)} and {len(rejected)}"
            )
        gold = int(content_hash("place", item_id), 16) % 4
        candidates, cluster = [*rejected[:gold], *chosen, *rejected[gold:]], cluster_of(row.text("prompt"))
    return Item(
        item_id=item_id,
        cluster_id=cluster,
        group=group,
        instruction=row.text("prompt"),
        candidates=tuple(candidates),
        gold=gold,
    )


def orders(item: Item, *, listed: bool = False) -> Sequence[Order]:
    """Ties: each answer alone. Best of four: all in the order of the item, where the place of the correct one is drawn
    by hash, or the correct answer with each other answer, in an order chosen by hash."""
    if item.group == TIES:
        return [(index,) for index in range(len(item.candidates))]
    if listed:
        return [tuple(range(len(item.candidates)))]
    rivals = [index for index in range(len(item.candidates)) if index != item.gold]
    return [_drawn_order(item, rival) for rival in rivals]


def aggregate(item: Item, votes: Sequence[Vote], *, listed: bool = False) -> AggregatedVerdict:
    if item.group == TIES:
        return aggregate_ratings(item, votes)
    return aggregate_votes(item, votes) if listed else best_of_n(item, votes)


def scores(results: Sequence[ItemResult]) -> dict[str, Any]:
    """`ties`: the Ties score. `score`: the mean over the six subsets. None if a part is missing."""
    ties = ties_score([result for result in results if result.group == TIES])
    means = [mean_or_none(one.score for one in results if one.group == subset) for subset in SUBSETS[:-1]]
    known = [score for score in (*means, ties) if score is not None]
    return {"ties": ties, "score": mean(known) if len(known) == len(SUBSETS) else None}


def _drawn_order(item: Item, rival: int) -> Order:
    swapped = int(content_hash("game", item.item_id, rival), 16) % 2
    return (rival, item.gold) if swapped else (item.gold, rival)


BENCHMARKS.register("rewardbench2")(
    Benchmark(
        "the best of four answers by pairwise votes; questions with many correct answers by ratings",
        f"the split test, as a file or a folder, or {HUB}allenai/reward-bench-2",
        load,
        verified=False,
        subsets=f"{', '.join(SUBSETS)}; {LIST} or PART,{LIST}: all four answers in one prompt",
    )
)
