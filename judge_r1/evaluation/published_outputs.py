"""Scores published judge outputs by a benchmark's own rule, without a judge."""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ItemResult
from judge_r1.evaluation.pins import pinned
from judge_r1.evaluation.summary import add_systems, compared_pairs, summarize, what_it_says, with_baselines

PUBLISHED = "published"
"""The judge and the prompt in the pins of outputs whose own are not known."""


class NoPredictions(JudgeError):
    """Published outputs that cannot be scored; the message says why."""


def score_predictions(
    benchmark: str,
    path: Path,
    files: Sequence[Path],
    subset: str | None,
    names: Sequence[str | None] = (),
    reference: str | None = None,
) -> dict[str, Any]:
    """The summary (`judge_r1.evaluation.summary`) of output files in the benchmark's own format.

    Each file is a judge, with its name in `names`, or else named after the file. Judges of the same items are compared,
    each with the one before it, or with `reference`. The benchmark's baselines are added for the items of the files.

    Raises:
        NoPredictions: Outputs of this benchmark cannot be scored, or two files have one name.
        BadBenchmark: The files of the benchmark are invalid.
    """
    entry = BENCHMARKS.get(benchmark)
    if entry.predictions is None:
        known = ", ".join(name for name in BENCHMARKS.names() if BENCHMARKS.get(name).predictions)
        raise NoPredictions(f"published outputs of {benchmark} cannot be scored; those of {known} can")
    loaded = entry.predicted(path, files, subset) if entry.predicted else entry.load(path, subset)
    results: dict[str, Sequence[ItemResult]] = {}
    seconds: dict[str, float] = {}
    given = [name or own for name, own in zip_longest(names, row_names(files))]
    if double := next((name for name in given if given.count(name) > 1), None):
        raise NoPredictions(f"two files of --predictions have the name {double!r}: give each another, as NAME=FILE")
    pairs = [] if loaded.rates_texts else compared_pairs(given, reference)
    for name, file in zip(given, files, strict=True):
        started = time.monotonic()
        outcomes = entry.predictions(path, file, subset)
        results[name] = [outcome.model_copy(update={"judge": name}) for outcome in outcomes]
        seconds[name] = round(time.monotonic() - started, 1)
    settings = {name: {"predictions": file.name} for name, file in zip(results, files, strict=True)}
    same_items = [(a, b) for a, b in pairs if {o.item_id for o in results[a]} == {o.item_id for o in results[b]}]
    judged = {outcome.item_id for outcomes in results.values() for outcome in outcomes}
    shown = replace(loaded, items=[item for item in loaded.items if item.item_id in judged])
    every, decoded = with_baselines(shown, results, settings)
    pins = {**loaded.pins, "prompt": PUBLISHED} if loaded.pins else {}
    summary = summarize(
        every, same_items, seconds, decoded, loaded.metrics, loaded.counts, loaded.tables, loaded.joint_tables
    )
    add_systems(summary["rows"], shown, every)
    return {
        "benchmark": benchmark,
        **summary,
        "subset": subset,
        **what_it_says(shown),
        **pinned(pins, dict.fromkeys(results, PUBLISHED), {name: {} for name in results}),
    }


def row_names(files: Sequence[Path]) -> list[str]:
    """The name of each file without its suffix, with as many parent folders as make the names unique."""
    parts = [(*file.absolute().parts[1:-1], file.name.split(".json")[0]) for file in files]
    if len(set(parts)) < len(parts):
        raise NoPredictions("two files of --predictions have the same name in the same folder: give each file once")
    depth = next(n for n in range(1, max(map(len, parts)) + 1) if len({part[-n:] for part in parts}) == len(parts))
    return ["/".join(part[-depth:]) for part in parts]
