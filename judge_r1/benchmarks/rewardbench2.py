"""RewardBench 2 (Malik et al., 2025): the best of four answers, and questions with many right answers ("Ties").

UNVERIFIED: the file is not at hand here; the fields (`id`, `prompt`, `chosen`, `rejected`, `num_correct`,
`num_incorrect`, `total_completions`, `subset`) and the rule for Ties are those of the data set's card and of public
copies of the scoring.

Best of four is played as games of two: the right answer against each of the three others, placed by hash; an item is
right where it wins all of them. A question of Ties has several right answers, of which none is better: each answer is
rated by itself, from 1 to 10, with a prompt of ours (`judge_r1.benchmarks.pointwise`), and `ties_score` weighs the
ratings. `score` is the mean over the six subsets, with that for Ties.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.aggregation import best_of_n
from judge_r1.benchmarks.base import BENCHMARKS, Benchmark, LoadedBenchmark, Order, pairwise_request
from judge_r1.benchmarks.pairwise import check_subset, cluster_of, group_of, select_subset, unique_items
from judge_r1.benchmarks.pointwise import aggregate_ratings, rating_question, ties_score
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote
from judge_r1.core.records import content_hash
from judge_r1.core.tabular import HUB, Row, rows
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.request import CustomPrompt

TIES = "Ties"
SUBSETS = ("Factuality", "Precise IF", "Math", "Safety", "Focus", TIES)


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    check_subset(subset, SUBSETS)
    items = unique_items(map(item_of, rows(path, ("test",))), path)
    kept = select_subset(items, subset, group_of)
    return LoadedBenchmark(list(kept), task=question, presentation_orders=orders, aggregate=aggregate, metrics=scores)


def item_of(row: Row) -> Item:
    """Of Ties the right answers come first and the gold says how many they are; else the gold is the place of the right
    one, drawn by hash. Clusters are prompts; of Ties, a question together with its reference (`ref:N`, `tied:N`)."""
    group = row.one_of("subset", {name: name for name in SUBSETS})
    chosen, rejected = row.texts("chosen"), row.texts("rejected")
    if len(chosen) != row.integer("num_correct") or len(rejected) != row.integer("num_incorrect"):
        raise row.error("chosen", "and 'rejected' must hold as many answers as num_correct and num_incorrect say")
    name = row.name("id")
    item_id = f"{group}/{name}"
    if group == TIES:
        kind, _, number = name.partition(":")
        if kind not in ("ref", "tied") or not number or not rejected or len(chosen) < (1 if kind == "ref" else 2):
            raise row.error("id", "of Ties must read ref:N (one right answer) or tied:N (two or more), with wrong ones")
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


def orders(item: Item) -> Sequence[Order]:
    """Each answer of Ties alone; else the right answer and each other one, in an order drawn by hash."""
    if item.group == TIES:
        return [(place,) for place in range(len(item.candidates))]
    rivals = [place for place in range(len(item.candidates)) if place != item.gold]
    return [_drawn(item, rival) for rival in rivals]


def question(item: Item, order: Order) -> PairwiseTask | CustomPrompt:
    return (
        rating_question(item.instruction, item.texts[order[0]]) if item.group == TIES else pairwise_request(item, order)
    )


def aggregate(item: Item, games: Sequence[Vote]) -> AggregatedVerdict:
    return aggregate_ratings(item, games) if item.group == TIES else best_of_n(item, games)


def scores(outcomes: Sequence[ItemResult]) -> dict[str, Any]:
    """`ties`: the weighted score of Ties; `score`: the mean over the six subsets; None where a part is missing."""
    ties = ties_score([o for o in outcomes if o.group == TIES])
    means = []
    for subset in SUBSETS[:-1]:
        credits = [o.score for o in outcomes if o.group == subset]
        means += [sum(credits) / len(credits)] if credits else []
    whole = ties is not None and len(means) == len(SUBSETS) - 1
    return {"ties": ties, "score": (sum(means) + (ties or 0.0)) / len(SUBSETS) if whole else None}


def _drawn(item: Item, rival: int) -> Order:
    turned = int(content_hash("game", item.item_id, rival), 16) % 2
    return (rival, item.gold) if turned else (item.gold, rival)


BENCHMARKS.register("rewardbench2")(
    Benchmark(
        "the best of four answers by games of two; questions with many right answers by ratings",
        f"the split test, as a file or a folder, or {HUB}allenai/reward-bench-2",
        load,
        verified=False,
        subsets=", ".join(SUBSETS),
    )
)
