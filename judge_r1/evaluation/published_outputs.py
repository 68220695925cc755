"""Scores published judge outputs by a benchmark's own rule, without a judge."""

import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ItemResult
from judge_r1.evaluation.summary import summarise, with_baselines


class NoPredictions(JudgeError):
    """Published outputs that cannot be scored; the message says why."""


def score_predictions(benchmark: str, path: Path, files: Sequence[Path], subset: str | None) -> dict[str, Any]:
    """The summary (`judge_r1.evaluation.summary`) of output files in the benchmark's own format, a row each, named
    after its file. Rows of the same items that follow each other are compared, and the benchmark's own
    baselines follow. Raises: NoPredictions, BadBenchmark.
    """
    entry = BENCHMARKS.get(benchmark)
    if entry.predictions is None:
        known = ", ".join(name for name in BENCHMARKS.names() if BENCHMARKS.get(name).predictions)
        raise NoPredictions(f"published outputs of {benchmark} cannot be scored; those of {known} can")
    suite = entry.load(path, subset)
    rows: dict[str, list[ItemResult]] = {}
    seconds: dict[str, float] = {}
    for name, file in zip(row_names(files), files, strict=True):
        started = time.monotonic()
        outcomes = entry.predictions(path, file, subset)
        rows[name] = [outcome.model_copy(update={"judge": name}) for outcome in outcomes]
        seconds[name] = round(time.monotonic() - started, 1)
    settings = {name: {"predictions": file.name} for name, file in zip(rows, files, strict=True)}
    alike = [(b, a) for a, b in pairwise(rows) if {o.item_id for o in rows[a]} == {o.item_id for o in rows[b]}]
    every, decoded = with_baselines(suite, rows, settings)
    summary = summarise(every, alike, seconds, decoded, suite.metrics)
    return {"benchmark": benchmark, **summary, "subset": subset}


def row_names(files: Sequence[Path]) -> list[str]:
    """Each file's name without its ending, with as many of its folders as it takes to tell the files apart."""
    parts = [(*file.absolute().parts[1:-1], file.name.split(".json")[0]) for file in files]
    if len(set(parts)) < len(parts):
        raise NoPredictions("two files of --predictions have the same name in the same folder: give each of them once")
    depth = next(n for n in range(1, max(map(len, parts)) + 1) if len({part[-n:] for part in parts}) == len(parts))
    return ["/".join(part[-depth:]) for part in parts]
