"""Auto-J's pairwise test set (Li et al., 2023): human preferences with ties over 58 scenarios, 24 pairs each.

UNVERIFIED: the reader follows the repository's README and was not tested on the real files. Fields: `scenario`, `label`
(0/1/2 = first, second, tie), `prompt`, `response 1`, `response 2`. Each pair is judged in both orders and is correct if
both votes give the label, ties included (the repository's agreement). The repository's consistency, the share of pairs
with the same answer in both orders, is the metric `equal`. It counts two ties; the column `consistent` leaves out pairs
with a tie vote.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.aggregation import mean, require_consistent, shown_preference
from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark, Order, both_orders
from judge_r1.benchmarks.pairwise import pair_item, result_of, select_items, vote_of, with_ties
from judge_r1.core.items import Item, ItemResult, Vote
from judge_r1.core.text_check import counted
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.files.tabular import Row, file_rows, first_file

NAME = "testdata_pairwise.jsonl"
LABELS = {"0": "A", "1": "B", "2": "tie"}
"""A label -> the better answer in the order of the data; an output -> the better answer in the order shown."""


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is a scenario."""
    return _benchmark(_items(path), path, subset)


def item_of(row: Row, number: int) -> Item:
    candidates = (row.text("response 1"), row.text("response 2"))
    return pair_item(f"{row.name('scenario')}/{number}", row.text("prompt"), candidates, row.one_of("label", LABELS))


def with_equal(results: Sequence[ItemResult]) -> dict[str, Any]:
    """`with_ties`, and `equal`: the share of items with the same answer in both orders, two ties included. An invalid
    answer counts as different. None unless each item has exactly one vote per order."""
    both = [[shown_preference(vote) for vote in result.votes] for result in results]
    complete = all(len({vote.order for vote in result.votes}) == len(result.votes) == 2 for result in results)
    equal = mean(one == other is not None for one, other in both) if results and complete else None
    return {**with_ties(results), "equal": equal}


def predictions(path: Path, file: Path, subset: str | None) -> list[ItemResult]:
    """Scores outputs in the format of the repository's leaderboard: one line {"output": 0, 1 or 2} for each pair, in
    the order of the test data. The outputs for swapped responses are in a file beside it (`exchange_file`). Without it,
    a pair has one vote, as the repository does it for judges that rate each response alone."""
    items = _items(path)
    benchmark = _benchmark(items, path, subset)
    votes = [[vote] for vote in _votes(file, (0, 1), len(items))]
    if (swapped := exchange_file(file)).exists():
        for found, vote in zip(votes, _votes(swapped, (1, 0), len(items)), strict=True):
            found.append(vote)
    votes_of = {item.item_id: found for item, found in zip(items, votes, strict=True)}
    return [result_of(benchmark, item, votes_of[item.item_id]) for item in benchmark.items]


def exchange_file(file: Path) -> Path:
    """The file of outputs for swapped responses: `pairwise_exchange_NAME` for `pairwise_NAME`, else `exchange_NAME`."""
    start = "pairwise_" if file.name.startswith("pairwise_") else ""
    return file.with_name(f"{start}exchange_{file.name.removeprefix(start)}")


def _items(path: Path) -> list[Item]:
    file = first_file(path, NAME, f"data/test/{NAME}")
    return [item_of(row, number) for number, row in enumerate(file_rows(file))]


def _benchmark(items: Sequence[Item], path: Path, subset: str | None) -> LoadedBenchmark:
    selected = select_items(items, path, subset, lambda item: (item.item_id.rpartition("/")[0],))
    return LoadedBenchmark(selected, presentation_orders=both_orders, aggregate=require_consistent, metrics=with_equal)


def _votes(file: Path, order: Order, count: int) -> list[Vote]:
    answers = [{"winner": row.one_of("output", LABELS)} for row in file_rows(file)]
    if len(answers) != count:
        raise BadBenchmark(
            f"{file} has {counted(len(answers), 'output')}, but the test data have {counted(count, 'pair')}: one line "
            "for each"
        )
    return [vote_of(order, PairwiseVerdict.model_validate(answer)) for answer in answers]


BENCHMARKS.register("autoj")(
    Benchmark(
        "human preferences with ties over 58 scenarios; both orders must agree",
        f"the repository's folder, or {NAME}",
        load,
        verified=False,
        predictions=predictions,
        subsets="a scenario, such as seeking_advice",
    )
)
