"""PandaLM's test set (Wang et al., 2023): pairs of answers of small models, with three people's preferences.

The gold is the majority of the three, ties included. Each pair is judged once, in the order of the file, like the
shipped results. Accuracy counts ties; `macro F1` and the accuracy without human ties are also reported. Some answers in
the original file are the boolean `true`, because a table editor converted the word; they are read as "True".

Accuracy and macro F1 of the shipped results are reproduced. The ratio in PandaLM's README (93.75 % of GPT-3.5's F1) is
not: no rule tried here derives it from the shipped files.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from judge_r1.benchmarks.aggregation import majority
from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark
from judge_r1.benchmarks.pairwise import Preferred, pair_item, published_vote, result_of, select_items, with_ties
from judge_r1.core.items import Item, ItemResult, Vote
from judge_r1.core.text_check import counted, short_name
from judge_r1.files.tabular import Row, file_rows, first_file

VOTES: Mapping[str, str] = {"1": "A", "2": "B", "0": "tie"}
RESULTS: Mapping[str, Preferred] = {"1": 0, "2": 1, "0": "tie", "Tie": "tie"}


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is the application the instruction was written for (`motivation_app`)."""
    file = first_file(path, "testset-v1.json", "data/testset-v1.json")
    pairs = [(item_of(row), row.name("motivation_app")) for row in file_rows(file)]
    written_for = {item.item_id: application for item, application in pairs}
    items = select_items((item for item, _ in pairs), file, subset, lambda item: (written_for[item.item_id],))
    return LoadedBenchmark(items, metrics=with_ties)


def item_of(row: Row) -> Item:
    instruction = "\n\n".join(part for part in (row.text("instruction"), row.text("input")) if part.strip())
    candidates = (_answer(row, "response1"), _answer(row, "response2"))
    return pair_item(row.name("idx"), instruction, candidates, _gold(row))


def predictions(path: Path, file: Path, subset: str | None) -> list[ItemResult]:
    """Scores the repository's `*-testset-v1.json` results. The column that ends in `_result` holds 1, 2, 0 or Tie; any
    other value (`garbage`) marks an unreadable answer, which is invalid."""
    benchmark, whole = load(path, subset), {item.item_id for item in load(path, None).items}
    votes: dict[str, Vote] = {}
    for row in file_rows(file):
        name = row.name("idx")
        if name not in whole or name in votes:
            problem = "occurs twice in the file" if name in votes else f"is not an item of {path}"
            raise row.error("idx", f"{short_name(name)} {problem}")
        votes[name] = published_vote((0, 1), _preferred(row))
    missing = [item.item_id for item in benchmark.items if item.item_id not in votes]
    if missing:
        raise BadBenchmark(
            f"{file} has no result for {counted(len(missing), 'item')}, such as idx {short_name(missing[0])}"
        )
    return [result_of(benchmark, item, [votes[item.item_id]]) for item in benchmark.items]


def _gold(row: Row) -> str:
    winner = majority(Counter(row.one_of(f"annotator{number}", VOTES) for number in (1, 2, 3)))
    if winner is None:
        raise row.error("annotator3", "differs from the two other votes, which differ too: the item has no majority")
    return winner


def _answer(row: Row, column: str) -> str:
    value = row.value(column)
    return str(value) if isinstance(value, bool) else row.text(column)


def _preferred(row: Row) -> Preferred:
    column = next((name for name in row.values if name.endswith("_result")), None)
    if column is None:
        raise row.error("..._result", "is missing: these are not results of a judge on PandaLM's test set")
    return RESULTS.get(row.name(column))


BENCHMARKS.register("pandalm")(
    Benchmark(
        "human preferences with ties (majority of three); one order",
        "the repository's folder, its data folder, or testset-v1.json",
        load,
        verified=True,
        predictions=predictions,
        subsets="an application, such as Grammarly",
    )
)
