"""JudgeBench (Tan et al., 2024): pairs of answers of one model, of which one is objectively right.

Each pair is judged twice, in both orders. A game that agrees with the label counts +1, one against it -1, a tie or no
answer 0; the pair is right where the sum is above 0 (`judge_r1.benchmarks.aggregation.settle_pair`). Reward models
score each answer by
itself, so that one game says it all: of their outputs the first judgment counts. Labels are "A>B" or "B>A"; the
category follows from `source`. Files: `data/*.jsonl` of the repository, one file for each model that answered.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark, both_orders
from judge_r1.benchmarks.pairwise import cluster_of, published_vote, result_of, select_subset, unique_items
from judge_r1.core.items import Item, ItemResult, Vote
from judge_r1.core.tabular import HUB, Row, file_rows, rows

LABELS = {"A>B": "A", "B>A": "B"}
TIE = "A=B"
WITHHELD = "[HELD OUT]"
"""Stands for the texts of pairs that a copy of an output file keeps back; its decisions are whole."""
CATEGORIES: Mapping[str, str] = {
    "mmlu-pro": "Knowledge",
    "livebench-reasoning": "Reasoning",
    "livebench-math": "Math",
    "livecodebench": "Coding",
}
"""Where the name of a source begins -> category."""


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is a category, or the model that answered."""
    return _suite([(item_of(row), row) for row in rows(path)], subset, path)


def item_of(row: Row) -> Item:
    """Grouped by category; the pairs of one question, by whatever model, are one cluster."""
    pair_id, asked, source = row.name("pair_id"), row.text("question"), row.name("source")
    category = next((name for start, name in CATEGORIES.items() if source.startswith(start)), None)
    if category is None:
        raise row.error("source", f"must begin with one of {', '.join(CATEGORIES)}, not {source[:80]!r}")
    return Item(
        item_id=pair_id,
        cluster_id=pair_id if asked == WITHHELD else cluster_of(asked),
        group=category,
        instruction=asked,
        candidates=(row.text("response_A"), row.text("response_B")),
        gold=row.one_of("label", LABELS),
    )


def predictions(path: Path, file: Path, subset: str | None) -> list[ItemResult]:
    """The repository's `outputs/*.jsonl`: every pair with its label and `judgments[].decision`, the second of them in
    terms of the swapped order. All pairs of the file are scored, also those that `path` lacks; where both have a pair
    its label must be the same."""
    labels = {item.item_id: item.gold for item in map(item_of, rows(path))}
    pairs = [(item_of(row), row) for row in file_rows(file)]
    for item, row in pairs:
        if labels.get(item.item_id, item.gold) != item.gold:
            raise row.error("label", f"of pair {item.item_id} is another one than in {path}")
    suite = _suite(pairs, subset, file)
    games = {item.item_id: list(_games(row)) for item, row in pairs}
    return [result_of(suite, item, games[item.item_id]) for item in suite.items]


def _suite(pairs: Sequence[tuple[Item, Row]], subset: str | None, path: Path) -> LoadedBenchmark:
    models = {item.item_id: row.name("response_model") for item, row in pairs}
    items = unique_items((item for item, _ in pairs), path)
    kept = select_subset(items, subset, lambda item: (item.group, models[item.item_id]))
    return LoadedBenchmark(list(kept), presentation_orders=both_orders)


def _games(row: Row) -> Iterator[Vote]:
    judgments: list[Any] = row.value("judgments")
    if not isinstance(judgments, list) or len(judgments) not in (1, 2):
        raise row.error("judgments", "must be a list of one or two judgments")
    if row.name("judge_name") == "reward_model":
        judgments = judgments[:1]
    for order, judgment in zip(((0, 1), (1, 0)), judgments, strict=False):
        if not isinstance(judgment, dict) or "decision" not in judgment:
            raise row.error("judgments", "must hold objects with a decision")
        decision = judgment["decision"]
        if decision not in (*LABELS, TIE, None):
            raise BadBenchmark(f"{row.where}: decision {str(decision)[:80]!r} is none of A>B, B>A, A=B and null")
        shown = "AB".index(LABELS[decision]) if decision in LABELS else None
        yield published_vote(
            order, "tie" if decision == TIE else None if shown is None else order[shown], "no_decision"
        )


BENCHMARKS.register("judgebench")(
    Benchmark(
        "pairs of answers of which one is objectively right; both orders, JudgeBench's two-game rule",
        f"the repository's folder, one of its data/*.jsonl, or {HUB}ScalerLab/JudgeBench",
        load,
        predictions=predictions,
        subsets=f"{', '.join(CATEGORIES.values())}; gpt-4o-2024-05-13, claude-3-5-sonnet-20240620 (who answered)",
    )
)
