"""Auto-J's pairwise test set (Li et al., 2023): human preferences with ties over 58 scenarios, 24 pairs each.

UNVERIFIED: the reader follows the repository's README and was not tested on the real files. Fields: `scenario`, `label`
(0/1/2 = first, second, tie), `prompt`, `response 1`, `response 2`. Each pair is judged in both orders and is correct if
both votes give the label, ties included (the repository's agreement). The repository's consistency is the column
`consistent`, which here excludes tie votes.
"""

from pathlib import Path

from judge_r1.benchmarks.aggregation import require_consistent
from judge_r1.benchmarks.base import BENCHMARKS, Benchmark, LoadedBenchmark, both_orders
from judge_r1.benchmarks.pairwise import pair_item, select_items, with_ties
from judge_r1.core.items import Item
from judge_r1.core.tabular import Row, file_rows, first_file

NAME = "testdata_pairwise.jsonl"
LABELS = {"0": "A", "1": "B", "2": "tie"}


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is a scenario."""
    file = first_file(path, NAME, f"data/test/{NAME}")
    items = (item_of(row, number) for number, row in enumerate(file_rows(file)))
    selected = select_items(items, file, subset, lambda item: (item.item_id.rpartition("/")[0],))
    return LoadedBenchmark(selected, presentation_orders=both_orders, aggregate=require_consistent, metrics=with_ties)


def item_of(row: Row, number: int) -> Item:
    candidates = (row.text("response 1"), row.text("response 2"))
    return pair_item(f"{row.name('scenario')}/{number}", row.text("prompt"), candidates, row.one_of("label", LABELS))


BENCHMARKS.register("autoj")(
    Benchmark(
        "human preferences with ties over 58 scenarios; both orders must agree",
        f"the repository's folder, or {NAME}",
        load,
        verified=False,
        subsets="a scenario, such as seeking_advice",
    )
)
