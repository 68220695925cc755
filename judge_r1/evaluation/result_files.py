"""Checks that the files of an evaluation belong together: a copy may be cut, or hold lines twice."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import BaseModel, ConfigDict

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.jsonl import read_jsonl
from judge_r1.core.text_check import counted
from judge_r1.evaluation.folder import SUMMARY
from judge_r1.evaluation.results import OUTCOMES
from judge_r1.evaluation.traces import EvaluationError, StoredTraces

_RESTORE = "restore the file, or write it again with `judge-r1 eval --resume` and the original options"
_ROUNDING = 1e-6


class _Result(BaseModel):
    """The fields of a result that are compared with the summary."""

    model_config = ConfigDict(extra="ignore")
    judge: str
    item_id: str
    score: float


def check_outcomes(folder: Path, summary: Mapping[str, Any]) -> None:
    """Compares `folder/outcomes.jsonl`, if it is there, with the summary: its judges, items and accuracies.

    Raises:
        EvaluationError: A judge or an item is missing or there twice, or the scores give another accuracy.
    """
    path = folder / OUTCOMES
    if not path.exists():
        return
    scores: dict[str, dict[str, float]] = {row["name"]: {} for row in summary["rows"]}
    for result in read_jsonl(path, _Result):
        own = scores.get(result.judge)
        if own is None or result.item_id in own:
            problem = f"is not in {SUMMARY}" if own is None else f"has item {result.item_id} twice"
            raise EvaluationError(f"{path}: judge {result.judge!r} {problem}: {_RESTORE}")
        own[result.item_id] = result.score
    for row in summary["rows"]:
        found, where = scores[row["name"]], f"{path}: judge {row['name']!r} has"
        if len(found) < row["n"]:
            raise EvaluationError(f"{where} {counted(len(found), 'item')}, and {SUMMARY} counts {row['n']}: {_RESTORE}")
        if len(found) == row["n"] and abs(fmean(found.values()) - row["accuracy"]) > _ROUNDING:
            raise EvaluationError(f"{where} another accuracy than in {SUMMARY}: {_RESTORE}")


def expected_votes(settings: Mapping[str, Any], benchmark: LoadedBenchmark) -> Counter[str]:
    """The number of votes on each item that a panel with these settings in rows.json gives."""
    members = settings.get("members", [None])
    panel = settings if "members" in settings else {}
    requests = benchmark.requests(orders=panel.get("orders"), samples=panel.get("samples", 1))
    counts = zip(requests.ids, requests.counts(), strict=True)
    return Counter({item_id: count * len(members) for item_id, count in counts})


def refuse_surplus(where: str, traces: StoredTraces, expected: Mapping[str, int]) -> None:
    """Raises: EvaluationError if an item has more votes than expected."""
    if odd := [item_id for item_id in traces if traces.count(item_id) > expected.get(item_id, 0)]:
        raise EvaluationError(
            f"{where} has more votes than the judge gives on {counted(len(odd), 'item')}, such as {min(odd)}: "
            "remove the lines that are there twice"
        )
