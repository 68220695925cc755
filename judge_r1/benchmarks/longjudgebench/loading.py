"""The queries of a options out of a checkout, and what of the paper's whole is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.longjudgebench.query import COLUMNS, Query, present
from judge_r1.benchmarks.longjudgebench.requests import DATASETS, answerable
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions

PAPER = {
    "DR": (50, 200),
    "RealDR": (40, 640),
    "Structure": (41, 164),
    "Content": (41, 164),
    "WP": (263, 526),
    "Verify": (316, 316),
    "MA": (90, 180),
}
"""Queries and outputs of each column in the paper."""


def read_queries(root: Path, options: SubsetOptions) -> list[Query]:
    """Every query that has a gold, with or without its texts. Of several sets, those are read that can be.

    Raises BadBenchmark, with the first set's reason where none can be."""
    queries: list[Query] = []
    reasons: list[BadBenchmark] = []
    for name in options.sets:
        try:
            queries += DATASETS[name].read(root, options)
        except BadBenchmark as error:
            reasons.append(error)
    if reasons and (len(options.sets) == 1 or not queries):
        raise reasons[0]
    if repeated := len(queries) - len({query.item_id for query in queries}):
        raise BadBenchmark(f"{root}: {repeated} queries of longjudgebench occur twice: its files are not whole")
    return queries


def judgeable(queries: Sequence[Query], options: SubsetOptions) -> list[Query]:
    """Those whose texts are there, and whose references where the setting shows them."""
    return [found for query in queries if answerable(query, options) and (found := present(query)) is not None]


@dataclass(frozen=True)
class Coverage:
    """Of a column: queries of the paper, in the ground truth and to be judged; outputs of the paper and with text."""

    column: str
    paper: int
    known: int
    judged: int
    paper_outputs: int
    outputs: int


def coverage(queries: Sequence[Query], options: SubsetOptions) -> list[Coverage]:
    """The manifest: what is missing is said, and no denominator shrinks unseen."""
    able = judgeable(queries, options)
    return [
        Coverage(
            column,
            PAPER[column][0],
            sum(query.column == column for query in queries),
            sum(query.column == column for query in able),
            PAPER[column][1],
            sum(text is not None for query in queries if query.column == column for text in query.texts),
        )
        for column in COLUMNS
    ]


def describe_coverage(queries: Sequence[Query], options: SubsetOptions) -> str:
    """The coverage as one sentence."""
    rows = [row for row in coverage(queries, options) if row.known]
    return "; ".join(f"{row.column}: {row.judged} of {row.known} queries" for row in rows)
