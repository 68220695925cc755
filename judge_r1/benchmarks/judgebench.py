"""JudgeBench (Tan et al., 2024): pairs of answers by one model, exactly one of them objectively correct.

Each pair is judged in both orders. A vote that agrees with the label counts +1, a vote that disagrees -1, and a tie or
invalid answer 0; the pair is correct if the sum is positive (`judge_r1.benchmarks.aggregation.majority_vote`). Reward
models score each answer separately, so only the first judgment of their outputs counts. Labels are "A>B" or "B>A"; the
category follows from `source`. Files: `data/*.jsonl` of the repository, one file per answering model.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.aggregation import mean
from judge_r1.benchmarks.base import BENCHMARKS, IN_PATH, BadBenchmark, Benchmark, LoadedBenchmark, both_orders
from judge_r1.benchmarks.pairwise import pair_item, published_vote, result_of, select_items
from judge_r1.core.items import Item, ItemResult, Vote
from judge_r1.core.text_check import short_name
from judge_r1.files.tabular import HUB, Row, file_rows, rows

LABELS = {"A>B": "A", "B>A": "B"}
TIE = "A=B"
WITHHELD = "[HELD OUT]"
"""Placeholder for the texts of pairs in redacted copies of output files. Their decisions are complete."""
CATEGORIES: Mapping[str, str] = {
    "mmlu-pro": "Knowledge",
    "livebench-reasoning": "Reasoning",
    "livebench-math": "Math",
    "livecodebench": "Coding",
}
"""Prefix of `source` -> category."""


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is a category or an answering model."""
    return _benchmark([(item_of(row), row) for row in rows(path)], subset, path)


def item_of(row: Row) -> Item:
    """Grouped by category. All pairs of a question form one cluster, across answering models."""
    pair_id, question, source = row.name("pair_id"), row.text("question"), row.name("source")
    category = next((name for start, name in CATEGORIES.items() if source.startswith(start)), None)
    if category is None:
        raise row.error("source", f"must begin with one of {', '.join(CATEGORIES)}, not {source[:80]!r}")
    candidates, cluster = (row.text("response_A"), row.text("response_B")), pair_id if question == WITHHELD else ""
    return pair_item(pair_id, question, candidates, row.one_of("label", LABELS), category, cluster)


def predictions(path: Path, file: Path, subset: str | None) -> list[ItemResult]:
    """Scores the repository's `outputs/*.jsonl`: each pair with its label and `judgments[].decision`. The second
    decision refers to the swapped order. All pairs of the file are scored, also those missing from `path`
    (`known_pairs`). Labels of pairs in both files must agree."""
    labels = {item.item_id: item.gold for item in map(item_of, rows(path))}
    pairs = [(item_of(row), row) for row in file_rows(file)]
    for item, row in pairs:
        if labels.get(item.item_id, item.gold) != item.gold:
            raise row.error("label", f"of pair {short_name(item.item_id)} differs from the label in {path}")
    benchmark = _benchmark(pairs, subset, file)
    votes = {item.item_id: list(_votes(row)) for item, row in pairs}
    return [result_of(benchmark, item, votes[item.item_id]) for item in benchmark.items]


def _benchmark(pairs: Sequence[tuple[Item, Row]], subset: str | None, path: Path) -> LoadedBenchmark:
    models = {item.item_id: row.name("response_model") for item, row in pairs}
    items = select_items((item for item, _ in pairs), path, subset, lambda item: (item.group, models[item.item_id]))
    return LoadedBenchmark(items, presentation_orders=both_orders, metrics=partial(known_pairs, models.keys()))


def known_pairs(known: Container[str], results: Sequence[ItemResult]) -> dict[str, float]:
    """`IN_PATH`: the share of the pairs that the benchmark's files hold, too, if it is not all of them. The labels of
    the others are those of the outputs alone."""
    share = mean(result.item_id in known for result in results)
    return {} if share == 1 else {IN_PATH: share}


def _votes(row: Row) -> Iterator[Vote]:
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
            raise BadBenchmark(f"{row.where}: decision must be A>B, B>A, A=B or null, not {str(decision)[:80]!r}")
        shown = "AB".index(LABELS[decision]) if decision in LABELS else None
        yield published_vote(
            order, "tie" if decision == TIE else None if shown is None else order[shown], "no_decision"
        )


BENCHMARKS.register("judgebench")(
    Benchmark(
        "pairs of answers, one objectively correct; both orders, JudgeBench's rule for two votes",
        f"the repository's folder, one of its data/*.jsonl, or {HUB}ScalerLab/JudgeBench",
        load,
        verified=True,
        predictions=predictions,
        subsets=f"{', '.join(CATEGORIES.values())}; gpt-4o-2024-05-13, claude-3-5-sonnet-20240620 (answering models)",
    )
)
