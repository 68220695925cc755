"""What an evaluation leaves on disk and how it is read back: the games of each row, and what they come to."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Item, ItemResult, Vote, item_result
from judge_r1.core.jsonl import read_jsonl, write_jsonl
from judge_r1.core.records import NonEmpty, Record, Trajectory, Verdict, content_hash

TRACES, OUTCOMES = "traces.jsonl", "outcomes.jsonl"
ROWS = "rows.json"
"""Beside the traces: for each row its judges, their settings and a hash of its items, so that no run mixes two."""


class EvaluationError(JudgeError):
    """An evaluation that cannot start, go on, or be told from another one."""


class Trace(Record):
    """One line of `traces.jsonl`: a game (`judge_r1.benchmarks.aggregation`) with all that was written in it.
    `member` is the place of
    its judge in the row."""

    row: NonEmpty
    item_id: NonEmpty
    order: tuple[int, ...]
    sample: int
    member: int
    verdict: Verdict
    trajectory: Trajectory
    usage: dict[str, float] | None = None
    """What the game has cost at an endpoint: calls, tokens, seconds."""

    @property
    def key(self) -> tuple[int, str, tuple[int, ...], int]:
        return self.member, self.item_id, self.order, self.sample

    @property
    def vote(self) -> Vote:
        judgment = self.trajectory.judgment
        return Vote(
            order=self.order,
            sample=self.sample,
            member=self.member,
            verdict=self.verdict,
            ended=self.trajectory.ended,
            searches=self.trajectory.searches,
            confidence=judgment.confidence if judgment else None,
        )


class Results(Mapping[str, list[Trace]]):
    """The games of a row by item, items in the order of the suite, and what they come to."""

    def __init__(self, row: str, suite: LoadedBenchmark, games: Mapping[str, list[Trace]]) -> None:
        self.row, self.suite, self._games = row, suite, games

    def __getitem__(self, item_id: str) -> list[Trace]:
        return self._games[item_id]

    def __iter__(self) -> Iterator[str]:
        return (item.item_id for item in self.suite.items)

    def __len__(self) -> int:
        return len(self.suite.items)

    def outcomes(self) -> list[ItemResult]:
        return [settled(self.row, self.suite, item, self[item.item_id]) for item in self.suite.items]


def settled(row: str, suite: LoadedBenchmark, item: Item, traces: Sequence[Trace]) -> ItemResult:
    """The outcome of one item; its games in the order in which they are asked, whatever the order of the file."""
    games = sorted((trace.vote for trace in traces), key=lambda game: (game.member, game.sample, game.order))
    return item_result(row, item, games, suite.aggregate(item, games))


def write_outcomes(out: Path, rows: Mapping[str, Sequence[ItemResult]]) -> None:
    """What every row made of every item: `out/outcomes.jsonl`."""
    write_jsonl(out / OUTCOMES, (outcome for outcomes in rows.values() for outcome in outcomes))


def read_outcomes(out: Path) -> dict[str, list[ItemResult]]:
    """The outcomes of `out/outcomes.jsonl`, by row. Errors: EvaluationError where there is none."""
    if not (out / OUTCOMES).exists():
        raise EvaluationError(f"{out} holds no {OUTCOMES}: give a folder that `judge-r1 eval` has finished")
    rows: dict[str, list[ItemResult]] = {}
    for outcome in read_jsonl(out / OUTCOMES, ItemResult):
        rows.setdefault(outcome.judge, []).append(outcome)
    return rows


def read_traces(out: Path, row: str | None = None) -> Iterator[Trace]:
    """The traces of `out/traces.jsonl`, of one row or of all, in the order they were finished."""
    return (trace for trace in read_jsonl(out / TRACES, Trace) if row is None or trace.row == row)


def total_usage(traces: Iterable[Trace]) -> dict[str, float] | None:
    """What games have cost at endpoints, all together; None where none was played there."""
    total: Counter[str] = Counter()
    for trace in traces:
        total.update(trace.usage or {})
    return {name: round(value, 3) for name, value in total.items()} or None


def items_hash(items: Sequence[Item]) -> str:
    """What `rows.json` knows the items of a row by."""
    return content_hash(sorted((item.item_id, item.model_dump()["candidates"], item.gold) for item in items))


def read_started(out: Path) -> dict[str, dict[str, Any]]:
    """By row: its judges, their settings and the hash of its items, as noted when it was started."""
    path = out / ROWS
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{path} cannot be read ({error}): choose another --out") from None
    return dict(rows)
