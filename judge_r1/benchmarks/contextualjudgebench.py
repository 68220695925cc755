"""ContextualJudgeBench (Xu et al., 2025): pairs of answers judged against a context (2,000 pairs in eight splits).

UNVERIFIED: the reader was not tested on the real files. The fields `question`, `context`, `positive_response` and
`negative_response` and the split names follow the repository's loader. The context is the case: depending on the
episode, a judge reads it in the prompt or searches it. The files list the better answer first, so candidates are
ordered by hash(item_id). Each pair is judged in both orders and is correct if both votes are (the paper's consistent
accuracy). `given` is the accuracy of the first order alone.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.aggregation import mean_or_none, require_consistent
from judge_r1.benchmarks.base import BENCHMARKS, Benchmark, LoadedBenchmark, Order, both_orders, place_by_hash
from judge_r1.benchmarks.pairwise import check_subset, cluster_of, unique_items
from judge_r1.core.items import Item, ItemResult
from judge_r1.core.principles import GENERAL
from judge_r1.episode.task import PairwiseTask
from judge_r1.files.tabular import HUB, Row, rows

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

    def task(item: Item, order: Order) -> PairwiseTask:
        first, second = (item.texts[index] for index in order)
        return PairwiseTask(GENERAL, item.instruction, first, second, item.case_id, texts[item.cluster_id])

    return LoadedBenchmark(
        unique_items(items, path),
        task=task,
        presentation_orders=both_orders,
        aggregate=require_consistent,
        texts=texts,
        metrics=_given,
    )


def item_of(row: Row, number: int) -> Item:
    """Grouped by split. All pairs of a context form one cluster, which is also the case to search."""
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


def _given(results: Sequence[ItemResult]) -> dict[str, Any]:
    votes = [(vote.winner, result.gold) for result in results for vote in result.votes if vote.order == (0, 1)]
    return {"given": mean_or_none(winner is not None and "AB"[winner] == gold for winner, gold in votes)}


BENCHMARKS.register("contextualjudgebench")(
    Benchmark(
        "answers and summaries judged against a context, which agentic judges search; both orders must agree",
        f"a folder with a table for each split, or {HUB}Salesforce/ContextualJudgeBench",
        load,
        verified=False,
        subsets=", ".join(SPLITS),
    )
)
