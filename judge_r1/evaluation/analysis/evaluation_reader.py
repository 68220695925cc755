"""Reads a finished evaluation back, with its benchmark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from judge_r1.benchmarks.base import BENCHMARKS, LoadedBenchmark, files_of
from judge_r1.core.errors import JudgeError, invalid_as
from judge_r1.core.folders import lacks, name_below
from judge_r1.core.registry import suggest
from judge_r1.episode.config import EpisodeConfig
from judge_r1.evaluation.folder import LRBENCH, read_started, read_summary
from judge_r1.evaluation.results import PanelResults
from judge_r1.evaluation.votes import StoredVotes, items_hash, summarized_votes
from judge_r1.files.evaluation_files import ROWS, SUMMARY, VOTES, refuse_earlier_name


class AnalysisError(JudgeError):
    """An evaluation that cannot be analysed; the message says what is missing."""


class Member(NamedTuple):
    """A judge of a panel: its SPEC and its settings."""

    judge: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Judged:
    """One panel with its results. `members` are its judges, by the member index of the votes; `benchmark` holds the
    items that it judged."""

    name: str
    members: Sequence[Member]
    benchmark: LoadedBenchmark
    results: PanelResults

    @property
    def clusters(self) -> dict[str, str]:
        return {item.item_id: item.cluster_id for item in self.benchmark.items}

    def episode(self, member: int) -> EpisodeConfig:
        """The episode settings of a member.

        Raises:
            AnalysisError: rows.json holds other settings.
        """
        settings = self.members[member].settings
        with invalid_as(AnalysisError, f"{ROWS}, settings of judge {self.name!r}"):
            return EpisodeConfig.model_validate({k: v for k, v in settings.items() if k in EpisodeConfig.model_fields})

    @property
    def credits(self) -> dict[str, float]:
        """The score of each item: 1 if right, 0 if wrong or invalid."""
        return {outcome.item_id: outcome.score for outcome in self.results.items}


def read_evaluation(
    folder: Path,
    path: Path | None,
    *,
    benchmark: str | None = None,
    subset: str | None = None,
    rows: Sequence[str] = (),
) -> list[Judged]:
    """The panels of the evaluation in `folder` (all, or those named), with the benchmark whose files are in `path`, or
    in the package.

    `benchmark` and `subset` default to those of the folder's summary.json.
    The votes of a panel must cover exactly the items that it was started with, as the benchmark has them now.

    Raises:
        AnalysisError: A panel is missing, incomplete, or judged other items.
    """
    refuse_earlier_name(folder)
    if not all((folder / name).exists() for name in (SUMMARY, ROWS, VOTES)):
        raise AnalysisError(
            f"{lacks(folder, f'finished evaluation ({SUMMARY}, {ROWS} and {VOTES})')}: make one with judge-r1 "
            f"eval --out, or finish it with --resume{name_below(folder, SUMMARY)}"
        )
    summary, started = read_summary(folder), read_started(folder)
    votes = summarized_votes(folder, summary)
    for row in rows:
        if row not in votes:
            raise AnalysisError(f"{folder} holds no judge {row!r} in {SUMMARY}{suggest(row, votes)}")
    benchmark = summary.get("benchmark", LRBENCH) if benchmark is None else benchmark
    path = files_of(benchmark, path)
    loaded = BENCHMARKS.get(benchmark).load(path, summary.get("subset") if subset is None else subset)
    return [_judged(row, started[row], loaded, votes[row], folder, path) for row in rows or votes]


def _judged(
    row: str,
    entry: Mapping[str, Any],
    benchmark: LoadedBenchmark,
    votes_by_item: StoredVotes,
    folder: Path,
    path: Path,
) -> Judged:
    judged_items = replace(benchmark, items=[item for item in benchmark.items if item.item_id in votes_by_item])
    if unknown := votes_by_item.keys() - {item.item_id for item in judged_items.items}:
        raise AnalysisError(f"judge {row!r} of {folder} judged item {min(unknown)}, which {path} does not hold")
    if entry.get("items") != items_hash(judged_items.items):
        raise AnalysisError(
            f"judge {row!r} of {folder} is incomplete, or judged other items than those of {path}: finish it with "
            "judge-r1 eval --resume, or give the files that it judged"
        )
    counts = {votes_by_item.count(item_id) for item_id in votes_by_item}
    if len(counts) > 1 and len({len(benchmark.presentation_orders(item)) for item in judged_items.items}) == 1:
        raise AnalysisError(
            f"judge {row!r} of {folder} lacks votes on some items: finish it with judge-r1 eval --resume"
        )
    results = PanelResults.of(row, judged_items, votes_by_item, entry.get("settings"))
    return Judged(row, _members(entry), judged_items, results)


def _members(entry: Mapping[str, Any]) -> list[Member]:
    """The members of a panel, from its entry in `rows.json`."""
    settings = dict(entry.get("settings", {}))
    if "members" not in settings:
        return [Member(str(entry.get("judge", "")), settings)]
    return [Member(str(one.get("judge", "")), one) for one in settings["members"]]


def writing(judged: Sequence[Judged]) -> list[Judged]:
    """The panels whose judges wrote text.

    Raises:
        AnalysisError: No judge wrote text.
    """
    found = [
        j for j in judged if any(stored.trajectory.turns for votes in j.results.votes.values() for stored in votes)
    ]
    if not found:
        raise AnalysisError(f"no judge wrote text: {', '.join(j.name for j in judged)}")
    return found
