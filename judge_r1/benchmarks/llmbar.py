"""LLMBar (Zeng et al., 2024): pairs of outputs of which one follows the instruction and the other only seems to.

Each pair is judged in both orders. Accuracy is the average over the two, as in the paper; beside it stand the counts of
the repository's `statistics.json`: right in each order, right in both, and the same output preferred in both. Five sets
are LLMBar itself; three sets of human preferences from elsewhere (MT-Bench, FairEval, LLMEval^2) come processed with
it. Labels are 1 or 2, as a number or a text.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.aggregation import mean_correct
from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark, both_orders
from judge_r1.benchmarks.pairwise import GOLD, check_subset, cluster_of, published_vote, result_of, unique_items
from judge_r1.core.items import Item, ItemResult, Vote
from judge_r1.core.tabular import Row, file_rows

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
    """`subset` is a set, Adversarial (four of them) or Processed (the three from elsewhere); LLMBar's own five without
    one."""
    return _suite(path, _sets(subset))


def by_order(outcomes: Sequence[ItemResult]) -> dict[str, Any]:
    """The shares of `statistics.json`: `given` and `swapped` (right in that order), `both`, and `equal` (the same
    output preferred in both orders, or none in either). None unless every item was played in both orders once."""
    played = [{game.order: game.winner for game in outcome.votes} for outcome in outcomes]
    if not outcomes or any(len(o.votes) != 2 or len(p) != 2 for o, p in zip(outcomes, played, strict=True)):
        return dict.fromkeys(("given", "swapped", "both", "equal"))
    gold = ["AB".index(outcome.gold) for outcome in outcomes]
    given = [winners[0, 1] for winners in played]
    swapped = [winners[1, 0] for winners in played]
    counts = {
        "given": sum(a == g for a, g in zip(given, gold, strict=True)),
        "swapped": sum(b == g for b, g in zip(swapped, gold, strict=True)),
        "both": sum(a == b == g for a, b, g in zip(given, swapped, gold, strict=True)),
        "equal": sum(a == b for a, b in zip(given, swapped, strict=True)),
    }
    return {name: count / len(outcomes) for name, count in counts.items()}


def predictions(path: Path, file: Path, subset: str | None) -> list[ItemResult]:
    """A `result.json` of the repository's evaluators. Its rows are found again in `path` by their three texts, and must
    have the same label; `winner` numbers the outputs as they stand in the data, in both orders."""
    present = [name for name in SETS if (_base(path) / SETS[name] / FILE).exists()]
    suite = _suite(path, _sets(subset) if subset or path.is_file() else present or LLMBAR)
    known = {(item.instruction, *item.texts): item for item in suite.items}
    found: list[tuple[Item, Row]] = []
    for row in file_rows(file):
        item = known.get((row.text("input"), row.text("output_1"), row.text("output_2")))
        if item is None:
            raise BadBenchmark(f"{row.where}: {path} holds no pair with these texts{f' in {subset}' if subset else ''}")
        if row.one_of("label", GOLD) != item.gold:
            raise row.error("label", f"of item {item.item_id} is another one than in {path}")
        found.append((item, row))
    unique_items((item for item, _ in found), file)
    return [result_of(suite, item, list(_games(row))) for item, row in found]


def _sets(subset: str | None) -> Sequence[str]:
    check_subset(subset, PARTS)
    return PARTS[subset] if subset else LLMBAR


def _suite(path: Path, sets: Sequence[str]) -> LoadedBenchmark:
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
            raise BadBenchmark(f"{path} is one set of several: name it, as in --subset Natural, or give the folder")
        for number, row in enumerate(file_rows(file)):
            yield Item(
                item_id=f"{name}/{number}",
                cluster_id=cluster_of(row.text("input")),
                group=name,
                instruction=row.text("input"),
                candidates=(row.text("output_1"), row.text("output_2")),
                gold=row.one_of("label", GOLD),
            )


def _games(row: Row) -> Iterator[Vote]:
    results = row.value("results")
    last = results[-1] if isinstance(results, list) and results else None
    for order, key in (((0, 1), "swap = False"), ((1, 0), "swap = True")):
        game = last.get(key) if isinstance(last, dict) else None
        if not isinstance(game, dict) or "winner" not in game:
            raise row.error("results", f"must end in an object with a winner for {key!r}")
        winner = game["winner"]
        if winner not in ("1", "2", None):
            raise row.error("results", f"has the winner {str(winner)[:80]!r}, which is none of '1', '2' and null")
        yield published_vote(order, None if winner is None else int(winner) - 1, "no_winner")


BENCHMARKS.register("llmbar")(
    Benchmark(
        "does an output follow the instruction, or only seem to; both orders, average accuracy",
        "the repository's folder, its Dataset folder, or (with --subset) one dataset.json",
        load,
        predictions=predictions,
        subsets=f"{', '.join(LLMBAR)}; Adversarial; {', '.join(PARTS['Processed'])}; Processed",
    )
)
