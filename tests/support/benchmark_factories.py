"""Benchmark files in the original formats, and results without a runner."""

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.items import Item, ItemResult, Vote, item_result
from judge_r1.core.verdicts import Verdict
from judge_r1.judges.base import JudgeBuild, run_all
from judge_r1.judges.panel import make_panel

Rows = Sequence[dict[str, Any]]


def write(path: Path, rows: Rows) -> Path:
    """Writes rows in the format of the file name's suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(lines if path.suffix == ".jsonl" else json.dumps(rows))
    return path


def play(text: str, suite: LoadedBenchmark) -> list[ItemResult]:
    """Results of a judge that needs no model."""
    row = make_panel(text, JudgeBuild("", texts=suite.texts))
    played = run_all(row.members[0], suite.requests(orders=row.orders, samples=row.samples))
    return decided(
        suite, lambda item, order: next(p.verdict for p in played if p.request.key == (item.item_id, order, 0))
    )


def decided(suite: LoadedBenchmark, verdict: Callable[[Item, tuple[int, ...]], Verdict]) -> list[ItemResult]:
    """Results with a given verdict per vote, in terms of the shown order."""
    outcomes = []
    for item in suite.items:
        games = [
            Vote(order=order, sample=0, member=0, verdict=verdict(item, order), ended="answer", searches=0)
            for order in suite.presentation_orders(item)
        ]
        outcomes.append(item_result("toy", item, games, suite.aggregate(item, games)))
    return outcomes


def accuracy(outcomes: Sequence[ItemResult], group: str | None = None) -> float:
    credits = [o.score for o in outcomes if group in (None, o.group)]
    return sum(credits) / len(credits)


def percent(outcomes: Sequence[ItemResult], group: str | None = None) -> float:
    return round(100 * accuracy(outcomes, group), 2)
