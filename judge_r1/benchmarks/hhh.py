"""HHH alignment (Askell et al., 2021) as shipped by prometheus-eval: which answer is more helpful, honest or harmless?

Each row holds two prompts for absolute grading that differ only in the response. The reader extracts the request and
the two responses and drops the task and rubric. The file lists the better response first, so candidates are ordered by
hash(item_id). Each pair is judged once.
"""

from pathlib import Path

from judge_r1.benchmarks.base import BENCHMARKS, Benchmark, LoadedBenchmark, place_by_hash
from judge_r1.benchmarks.pairwise import pair_item, select_items
from judge_r1.core.items import Item
from judge_r1.files.tabular import Row, file_rows, first_file

NAME = "hhh_alignment_eval.json"
MARKS = ("###The instruction to evaluate:\n", "\n\n###Response to evaluate:\n", "\n\n###Score Rubrics:\n")


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is a source: helpful, honest, harmless or other."""
    file = first_file(path, NAME, f"eval/benchmark/data/{NAME}")
    items = (item_of(row, number) for number, row in enumerate(file_rows(file)))
    return LoadedBenchmark(select_items(items, file, subset))


def item_of(row: Row, number: int) -> Item:
    """Grouped by source."""
    request, better = _parts(row, "chosen_instruction")
    rejected_request, worse = _parts(row, "rejected_instruction")
    if request != rejected_request:
        raise row.error("rejected_instruction", "must hold the same request as chosen_instruction")
    item_id = f"{row.name('source')}/{number}"
    return pair_item(item_id, request, *place_by_hash(item_id, better, worse), group=row.name("source"))


def _parts(row: Row, column: str) -> tuple[str, str]:
    """(request, response) of a grading prompt."""
    text = row.text(column)
    if any(text.count(mark) != 1 for mark in MARKS):
        raise row.error(column, f"must hold each of the headings {', '.join(mark.strip() for mark in MARKS)} once")
    request, _, rest = text.partition(MARKS[0])[2].partition(MARKS[1])
    return request, rest.partition(MARKS[2])[0]


BENCHMARKS.register("hhh")(
    Benchmark(
        "helpful, honest and harmless answers; one order, chosen by hash",
        f"prometheus-eval's folder, or {NAME}",
        load,
        verified=True,
        subsets="helpful, honest, harmless, other",
    )
)
