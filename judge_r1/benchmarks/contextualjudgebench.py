"""ContextualJudgeBench (Xu et al., 2025): which answer is better by a given context (2,000 pairs in eight splits)?

UNVERIFIED: the files are not at hand here; the fields `question`, `context`, `positive_response` and
`negative_response` and the names of the splits are those that the repository's own loader reads. The context is the
case: judges are shown it or search it, as their episode says. The better answer always comes first in the file, so
pairs are placed by hash(item_id). Both orders are played, and a pair is right where both games are: the paper's
consistent accuracy. `given` is the accuracy of the first order alone.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.aggregation import require_consistent
from judge_r1.benchmarks.base import BENCHMARKS, Benchmark, LoadedBenchmark, Order, both_orders, place_by_hash
from judge_r1.benchmarks.pairwise import check_subset, cluster_of, unique_items
from judge_r1.core.items import Item, ItemResult
from judge_r1.core.principles import GENERAL
from judge_r1.core.tabular import HUB, Row, rows
from judge_r1.episode.task import PairwiseTask

SPLITS = (
    *("refusal_answerable", "refusal_unanswerable", "faithfulness_qa", "faithfulness_summ"),
    *("completeness_qa", "completeness_summ", "conciseness_qa", "conciseness_summ"),
)


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is a split."""
    check_subset(subset, SPLITS)
    texts: dict[str, str] = {}
    items: list[Item] = []
    numbers: Counter[str] = Counter()
    for row in rows(path, (subset,) if subset else SPLITS):
        item = item_of(row, numbers[row.split])
        numbers[row.split] += 1
        texts[item.cluster_id] = row.text("context")
        items.append(item)

    def question(item: Item, order: Order) -> PairwiseTask:
        first, second = (item.texts[index] for index in order)
        return PairwiseTask(GENERAL, item.instruction, first, second, item.case_id, texts[item.cluster_id])

    return LoadedBenchmark(
        unique_items(items, path),
        task=question,
        presentation_orders=both_orders,
        aggregate=require_consistent,
        texts=texts,
        metrics=_given,
    )


def item_of(row: Row, number: int) -> Item:
    """Grouped by split; the pairs of one context are one cluster, which is also the case to search."""
    if not row.text("context").strip():
        raise row.error("context", "must not be empty")
    item_id = f"{row.split}/{number}"
    candidates, gold = place_by_hash(item_id, row.text("positive_response"), row.text("negative_response"))
    case = cluster_of(row.text("context"))
    return Item(
        item_id=item_id,
        cluster_id=case,
        group=row.split,
        case_id=case,
        instruction=row.text("question"),
        candidates=candidates,
        gold=gold,
    )


def _given(outcomes: Sequence[ItemResult]) -> dict[str, Any]:
    games = [(game, o.gold) for o in outcomes for game in o.votes if game.order == (0, 1)]
    right = sum(game.winner is not None and "AB"[game.winner] == gold for game, gold in games)
    return {"given": right / len(games) if games else None}


BENCHMARKS.register("contextualjudgebench")(
    Benchmark(
        "answers and summaries judged by a context, which agentic judges search; both orders must agree",
        f"a folder with a table for each split, or {HUB}Salesforce/ContextualJudgeBench",
        load,
        verified=False,
        subsets=", ".join(SPLITS),
    )
)
