"""A finished evaluation read back: its rows, with every game, beside the benchmark that they were played on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from judge_r1.benchmarks.base import BENCHMARKS, LoadedBenchmark
from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import suggest
from judge_r1.evaluation.results import PanelResults
from judge_r1.evaluation.traces import ROWS, TRACES, StoredTraces, items_hash, read_started, stored_traces


class AnalysisError(JudgeError):
    """An analysis that what is there does not allow; the message says what is missing."""


class Member(NamedTuple):
    """A judge of a row: its SPEC, and all else that its answers depend on."""

    judge: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Judged:
    """One row. `members` are its judges, by the place that traces know them by (one unless it is a panel); `suite`
    holds the items that it was played on."""

    name: str
    members: Sequence[Member]
    suite: LoadedBenchmark
    results: PanelResults

    @property
    def clusters(self) -> dict[str, str]:
        return {item.item_id: item.cluster_id for item in self.suite.items}

    @property
    def credits(self) -> dict[str, float]:
        """By item: 1 where the row is right, 0 where it is wrong or invalid."""
        return {outcome.item_id: outcome.score for outcome in self.results.items}


def read_evaluation(
    folder: Path, path: Path, *, benchmark: str = "lrbench", subset: str | None = None, rows: Sequence[str] = ()
) -> list[Judged]:
    """The rows of the evaluation in `folder` (all, or those named), played on the benchmark whose files lie in `path`.

    A row counts whole: its traces must be of exactly the items that it was started with, as the benchmark has them now.
    Errors: AnalysisError where one is not, or is not there.
    """
    started = read_started(folder)
    if not started or not (folder / TRACES).exists():
        raise AnalysisError(f"{folder} holds no evaluation ({ROWS} and {TRACES}): make one with judge-r1 eval --out")
    for row in rows:
        if row not in started:
            raise AnalysisError(f"{folder} holds no row {row!r}{suggest(row, started)}")
    suite = BENCHMARKS.get(benchmark).load(path, subset)
    traces, none = stored_traces(folder), StoredTraces(folder / TRACES)
    return [_judged(row, started[row], suite, traces.get(row, none), folder, path) for row in rows or started]


def _judged(
    row: str,
    entry: Mapping[str, Any],
    suite: LoadedBenchmark,
    games: StoredTraces,
    folder: Path,
    path: Path,
) -> Judged:
    played = replace(suite, items=[item for item in suite.items if item.item_id in games])
    if unknown := games.keys() - {item.item_id for item in played.items}:
        raise AnalysisError(f"row {row!r} of {folder} was played on item {min(unknown)}, which {path} does not hold")
    if entry.get("items") != items_hash(played.items):
        raise AnalysisError(
            f"row {row!r} of {folder} is not whole, or was played on other items than those of {path}: finish it with "
            "judge-r1 eval --resume, or name the files that it was played on"
        )
    counts = {games.count(item_id) for item_id in games}
    if len(counts) > 1 and len({len(suite.presentation_orders(item)) for item in played.items}) == 1:
        raise AnalysisError(f"row {row!r} of {folder} lacks games of some items: finish it with judge-r1 eval --resume")
    return Judged(row, _members(entry), played, PanelResults.of(row, played, games))


def _members(entry: Mapping[str, Any]) -> list[Member]:
    """As `runner.row_settings` notes them: those of a panel one by one."""
    settings = dict(entry.get("settings", {}))
    if "members" not in settings:
        return [Member(str(entry.get("judge", "")), settings)]
    return [Member(str(one.get("judge", "")), one) for one in settings["members"]]


def writing(judged: Sequence[Judged]) -> list[Judged]:
    """The rows whose judges wrote something. Errors: AnalysisError if none did."""
    found = [j for j in judged if any(trace.trajectory.turns for games in j.results.traces.values() for trace in games)]
    if not found:
        raise AnalysisError(f"no row wrote anything to look into: {', '.join(j.name for j in judged)}")
    return found
