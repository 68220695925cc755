"""LLMBar (Zeng et al., 2024): pairs of outputs; one follows the instruction, the other only appears to.

Each pair is judged in both orders. Accuracy is the average over the two orders, as in the paper. The extra metrics are
the counts of the repository's `statistics.json`: correct in each order, correct in both, and the same output preferred
in both. Five sets form LLMBar itself; the repository also ships three processed sets of human preferences (MT-Bench,
FairEval, LLMEval^2). Labels are 1 or 2, as a number or a string.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.aggregation import mean, mean_correct
from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark, both_orders
from judge_r1.benchmarks.pairwise import GOLD, check_subset, pair_item, published_vote, result_of, unique_items
from judge_r1.core.items import Item, ItemResult, Vote
from judge_r1.files.tabular import Row, file_rows

SETS: Mapping[str, str] = {
    "Natural": "LLMBar/Natural",
    "Neighbor": "LLMBar/Adversarial/Neighbor",
    "GPTInst": "LLMBar/Adversarial/GPTInst",
    "GPTOut": "LLMBar/Adversarial/GPTOut",
    "Manual": "LLMBar/Adversarial/Manual",
    "MT-Bench": "Processed/MT-Bench",
    "FairEval": "Processed/FairEval",
    "LLMEval^2": "Processed/LLMEval^2",
}
LLMBAR = ("Natural", "Neighbor", "GPTInst", "GPTOut", "Manual")
PARTS: Mapping[str, Sequence[str]] = {
    **{name: (name,) for name in SETS},
    "Adversarial": LLMBAR[1:],
    "Processed": tuple(SETS)[5:],
}
FILE = "dataset.json"


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is a set, Adversarial (four sets) or Processed (the three external sets). The default is LLMBar's own
    five sets."""
    return _benchmark(path, _sets(subset))


def by_order(results: Sequence[ItemResult]) -> dict[str, Any]:
    """The shares of `statistics.json`: `given` and `swapped` (correct in that order), `both`, and `equal` (the same
    output preferred in both orders, or none in either). None unless each item has exactly one vote per order."""
    answers = []
    for result in results:
        winners = {vote.order: vote.winner for vote in result.votes}
        if len(result.votes) == len(winners) == 2:
            answers.append((winners[0, 1], winners[1, 0], "AB".index(result.gold)))
    if not results or len(answers) < len(results):
        return dict.fromkeys(("given", "swapped", "both", "equal"))
    return {
        "given": mean(given == gold for given, _, gold in answers),
        "swapped": mean(swapped == gold for _, swapped, gold in answers),
        "both": mean(given == swapped == gold for given, swapped, gold in answers),
        "equal": mean(given == swapped for given, swapped, _ in answers),
    }


def predictions(path: Path, file: Path, subset: str | None) -> list[ItemResult]:
    """Scores a `result.json` of the repository's evaluators. Rows are matched to `path` by their three texts, and the
    labels must agree. In both orders `winner` refers to the output numbers of the data."""
    present = [name for name in SETS if (_base(path) / SETS[name] / FILE).exists()]
    benchmark = _benchmark(path, _sets(subset) if subset or path.is_file() else present or LLMBAR)
    known = {(item.instruction, *item.texts): item for item in benchmark.items}
    found: list[tuple[Item, Row]] = []
    for row in file_rows(file):
        item = known.get((row.text("input"), row.text("output_1"), row.text("output_2")))
        if item is None:
            raise BadBenchmark(f"{row.where}: {path} holds no pair with these texts{f' in {subset}' if subset else ''}")
        if row.one_of("label", GOLD) != item.gold:
            raise row.error("label", f"of item {item.item_id} differs from the label in {path}")
        found.append((item, row))
    unique_items((item for item, _ in found), file)
    return [result_of(benchmark, item, list(_votes(row))) for item, row in found]


def _sets(subset: str | None) -> Sequence[str]:
    check_subset(subset, PARTS)
    return PARTS[subset] if subset else LLMBAR


def _benchmark(path: Path, sets: Sequence[str]) -> LoadedBenchmark:
    return LoadedBenchmark(
        unique_items(_items(path, sets), path),
        presentation_orders=both_orders,
        aggregate=mean_correct,
        metrics=by_order,
    )


def _base(path: Path) -> Path:
    return path / "Dataset" if (path / "Dataset").is_dir() else path


def _items(path: Path, sets: Sequence[str]) -> Iterator[Item]:
    for name in sets:
        file = path if path.is_file() else _base(path) / SETS[name] / FILE
        if path.is_file() and len(sets) > 1:
            raise BadBenchmark(f"{path} is a single set: name it, as in --subset Natural, or give the folder")
        for number, row in enumerate(file_rows(file)):
            candidates = (row.text("output_1"), row.text("output_2"))
            yield pair_item(f"{name}/{number}", row.text("input"), candidates, row.one_of("label", GOLD), name)


def _votes(row: Row) -> Iterator[Vote]:
    results = row.value("results")
    last_result = results[-1] if isinstance(results, list) and results else None
    for order, key in (((0, 1), "swap = False"), ((1, 0), "swap = True")):
        vote = last_result.get(key) if isinstance(last_result, dict) else None
        if not isinstance(vote, dict) or "winner" not in vote:
            raise row.error("results", f"must end in an object with a winner for {key!r}")
        winner = vote["winner"]
        if winner not in ("1", "2", None):
            raise row.error("results", f"must have the winner '1', '2' or null, not {str(winner)[:80]!r}")
        yield published_vote(order, None if winner is None else int(winner) - 1, "no_winner")


BENCHMARKS.register("llmbar")(
    Benchmark(
        "which output follows the instruction; both orders, average accuracy",
        "the repository's folder, its Dataset folder, or (with --subset) one dataset.json",
        load,
        verified=True,
        predictions=predictions,
        subsets=f"{', '.join(LLMBAR)}; Adversarial; {', '.join(PARTS['Processed'])}; Processed",
    )
)
