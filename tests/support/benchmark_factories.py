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
    lines = "".join(json.dumps(panel) + "\n" for panel in rows)
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(lines if path.suffix == ".jsonl" else json.dumps(rows))
    return path


def run_baseline(text: str, benchmark: LoadedBenchmark) -> list[ItemResult]:
    """Results of a judge that needs no model."""
    panel = make_panel(text, JudgeBuild("", texts=benchmark.texts))
    outputs = run_all(panel.members[0], benchmark.requests(orders=panel.orders, samples=panel.samples))
    return results_of_verdicts(
        benchmark, lambda item, order: next(p.verdict for p in outputs if p.request.key == (item.item_id, order, 0))
    )


def results_of_verdicts(
    benchmark: LoadedBenchmark, verdict: Callable[[Item, tuple[int, ...]], Verdict]
) -> list[ItemResult]:
    """Results with a given verdict per vote, in terms of the shown order."""
    results = []
    for item in benchmark.items:
        votes = [
            Vote(order=order, sample=0, member=0, verdict=verdict(item, order), ended="answer", searches=0)
            for order in benchmark.presentation_orders(item)
        ]
        results.append(item_result("test", item, votes, benchmark.aggregate(item, votes)))
    return results


def accuracy(results: Sequence[ItemResult], group: str | None = None) -> float:
    scores = [o.score for o in results if group in (None, o.group)]
    return sum(scores) / len(scores)


def percent(results: Sequence[ItemResult], group: str | None = None) -> float:
    return round(100 * accuracy(results, group), 2)
