"""Long-RewardBench (Tang et al., 2025, arXiv 2510.06915): pairs and best-of-N over contexts of 4K to 128K tokens.

UNVERIFIED: the reader was not tested on the real files. The fields (`id`, `question`, `chosen`, `rejected`,
`candidates`, `candidates_score`) and the names of the seven files follow the data set card. `question` holds the
context. A row with `candidates` is a best-of-N task: all pairs of candidates are compared, each in an order chosen by
hash, and the score is the share of the pairs that `candidates_score` orders and the wins order alike. Any other row is
a pair, placed by hash(item_id). `best_of_n` is the share of best-of-N tasks whose most frequent winner is alone and has
the highest `candidates_score`.
"""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.aggregation import mean_or_none
from judge_r1.benchmarks.base import BENCHMARKS, Benchmark, LoadedBenchmark, Order, place_by_hash
from judge_r1.benchmarks.pairwise import cluster_of, pair_item, select_items
from judge_r1.core.items import Item, ItemResult
from judge_r1.core.record_base import content_hash
from judge_r1.core.tabular import Row, rows
from judge_r1.core.verdicts import ScoresVerdict
from judge_r1.judges.request import TokenLimits

TASKS = ("Cite", "Code", "ICL", "LongQA", "Math", "Safety", "Summ")
PAIRS, BEST_OF_N = "pairs", "best-of-n"
LIMITS = TokenLimits(prompt_tokens=262_144)
"""A context of 128K tokens and two answers: the model's own context is the limit."""


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    items = select_items(map(item_of, rows(path, TASKS)), path, subset, _parts)
    return LoadedBenchmark(items, presentation_orders=orders, metrics=metrics, limits=LIMITS)


def item_of(row: Row) -> Item:
    """Grouped by task. All items of a question form one cluster."""
    item_id, question = f"{row.split}/{row.name('id')}", row.text("question")
    if not row.values.get("candidates"):
        candidates, gold = place_by_hash(item_id, row.text("chosen"), row.text("rejected"))
        return pair_item(item_id, question, candidates, gold, row.split)
    texts, scores = row.texts("candidates"), row.value("candidates_score")
    numeric = isinstance(scores, list) and all(type(score) in (int, float) for score in scores)
    if not numeric or len(scores) != len(texts) or len(set(scores)) < 2:
        raise row.error(
            "candidates_score", "must hold one number for each of 'candidates', at least two different ones"
        )
    return Item(
        item_id=item_id,
        cluster_id=cluster_of(question),
        group=row.split,
        instruction=question,
        candidates=tuple(texts),
        gold=[float(score) for score in scores],
    )


def orders(item: Item) -> Sequence[Order]:
    """A pair as placed; every pair of the candidates of a best-of-N task, in an order chosen by hash."""
    if isinstance(item.gold, str):
        return [(0, 1)]
    pairs = combinations(range(len(item.candidates)), 2)
    return [(b, a) if int(content_hash("order", item.item_id, a, b), 16) % 2 else (a, b) for a, b in pairs]


def metrics(results: Sequence[ItemResult]) -> dict[str, Any]:
    return {
        PAIRS: mean_or_none(result.score for result in results if isinstance(result.gold, str)),
        "best_of_n": mean_or_none(_finds_best(result) for result in results if not isinstance(result.gold, str)),
    }


def _finds_best(result: ItemResult) -> bool:
    if not isinstance(result.verdict, ScoresVerdict):
        return False
    scores = result.verdict.scores
    winners = [index for index, score in enumerate(scores) if score == max(scores)]
    return len(winners) == 1 and result.gold[winners[0]] == max(result.gold)


def _parts(item: Item) -> Sequence[str]:
    return (item.group, PAIRS if isinstance(item.gold, str) else BEST_OF_N)


BENCHMARKS.register("longrewardbench")(
    Benchmark(
        "answers to questions over contexts of 4K to 128K tokens: pairs, and the ranking of three or four",
        f"a folder with {', '.join(f'{task}.jsonl' for task in TASKS)}",
        load,
        verified=False,
        subsets=f"{', '.join(TASKS)}; {PAIRS}; {BEST_OF_N}",
    )
)
