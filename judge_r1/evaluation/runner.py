"""Play every game of a benchmark and lose nothing: each finished game is on disk before the next one counts."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import isfinite
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.jsonl import write_json
from judge_r1.core.records import ReasoningPair
from judge_r1.evaluation.results import reward_as_shown
from judge_r1.evaluation.traces import (
    ROWS,
    TRACES,
    EvaluationError,
    Results,
    Trace,
    items_hash,
    read_started,
    read_traces,
    settled,
)
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.panel import JudgePanel


def evaluate(
    row: JudgePanel, suite: LoadedBenchmark, *, out: Path, resume: bool, console: Console | None = None
) -> Results:
    """Play every game of `row` on `suite`; each trace stands in `out/traces.jsonl` under the row's name.

    With `resume` the games found there are read back and only the others are played; a last line that a kill has torn
    is dropped and played again. Games that the infrastructure ended are not kept, so that a resume plays them again.
    `out` may hold other rows. Without `resume` it may not hold this one; with it, the row must have been started by
    the same judges with the same settings on the same items. Raises EvaluationError.
    """
    return asyncio.run(_evaluate(row, suite, out, resume, console or Console(stderr=True)))


async def _evaluate(row: JudgePanel, suite: LoadedBenchmark, out: Path, resume: bool, console: Console) -> Results:
    items = {item.item_id: item for item in suite.items}
    if len(items) != len(suite.items) or not items:
        raise EvaluationError(
            f"row {row.name!r} needs items that differ, and at least one; it has {len(suite.items)} of which "
            f"{len(items)} differ"
        )
    asks = suite.requests(orders=row.orders, samples=row.samples)
    for judge in row.members:
        judge.check(asks)
    games: dict[str, list[Trace]] = {item_id: [] for item_id in items}
    done = _begin(row, suite, out, resume, console)
    for trace in done.values():
        games[trace.item_id].append(trace)
    expected = Counter(ask.item.item_id for ask in asks)
    wanted = {item_id: count * len(row.members) for item_id, count in expected.items()}
    pairs = suite.pairs.by_id() if suite.pairs else {}
    failures: Counter[str] = Counter()
    with _progress(console, row.name, len(items)) as tell, _appending(out / TRACES) as append:
        right = [
            settled(row.name, suite, items[i], found).score for i, found in games.items() if len(found) == wanted[i]
        ]
        tell(right)
        for member, judge in enumerate(row.members):
            waiting = {ask.key: ask for ask in asks if (member, *ask.key) not in done}
            if not waiting:
                continue
            async for played in judge.judge(list(waiting.values())):
                if waiting.pop(played.ask.key, None) is None:
                    raise EvaluationError(
                        f"judge {judge.name!r} answered item {played.ask.item.item_id}, which it was not asked for "
                        "or had answered already: that is a mistake in the judge"
                    )
                if played.trajectory.infrastructure_failed:
                    failures[played.trajectory.ended] += 1
                    continue
                trace = _trace(row.name, member, played, pairs)
                item = played.ask.item
                games[item.item_id].append(trace)
                if len(games[item.item_id]) == wanted[item.item_id]:
                    right.append(settled(row.name, suite, item, games[item.item_id]).score)
                append(trace)
                tell(right)
            if waiting:
                failures["unanswered"] += len(waiting)
    missing = sum(wanted.values()) - sum(map(len, games.values()))
    if missing:
        example = next(i for i, found in games.items() if len(found) < wanted[i])
        raise EvaluationError(
            f"row {row.name!r}: {missing} of {sum(wanted.values())} games are without an answer, such as one of item "
            f"{example} (failures: {dict(failures)}): run again with --resume to play those"
        )
    return Results(row.name, suite, games)


def _trace(row: str, member: int, played: JudgeOutput, pairs: Mapping[str, ReasoningPair]) -> Trace:
    ask, trajectory = played.ask, played.trajectory
    if not all(map(isfinite, trajectory.logprobs)):
        raise EvaluationError(
            f"row {row!r}: item {ask.item.item_id} was answered with log-probabilities that are no numbers, which no "
            "file of traces can hold: that is a mistake in the judge or its server"
        )
    if played.confidence is not None and trajectory.judgment is not None:
        sure = trajectory.judgment.model_copy(update={"confidence": played.confidence})
        trajectory = trajectory.model_copy(update={"judgment": sure})
    if ask.item.item_id in pairs and trajectory.turns:
        trajectory = reward_as_shown(trajectory, pairs[ask.item.item_id], ask.order)
    return Trace(
        row=row,
        item_id=ask.item.item_id,
        order=ask.order,
        sample=ask.sample,
        member=member,
        verdict=played.verdict,
        trajectory=trajectory,
        usage=None if played.usage is None else dict(played.usage),
    )


def _begin(
    row: JudgePanel, suite: LoadedBenchmark, out: Path, resume: bool, console: Console
) -> dict[tuple[int, str, tuple[int, ...], int], Trace]:
    """Check that `out` may take this row and note it there; returns the games it has already."""
    rows = read_started(out)
    if _drop_torn_line(out / TRACES):
        console.print(f"{escape(str(out / TRACES))}: its last line was torn by a kill and is dropped")
    done: dict[tuple[int, str, tuple[int, ...], int], Trace] = {}
    for trace in read_traces(out, row.name) if (out / TRACES).exists() else ():
        if trace.key in done:
            raise EvaluationError(
                f"{out / TRACES} holds a game of item {trace.item_id} of row {row.name!r} twice: remove one line"
            )
        done[trace.key] = trace
    if done and not resume:
        raise EvaluationError(
            f"{out} holds {len(done)} trace(s) of row {row.name!r} already: add --resume to go on with "
            "them, or choose another --out"
        )
    entry = {
        "judge": "|".join(judge.name for judge in row.members),
        "settings": json.loads(json.dumps(row_settings(row))),
        "items": items_hash(suite.items),
    }
    changed = [key for key in entry if rows.get(row.name, {}).get(key) != entry[key]]
    if done and changed:
        raise EvaluationError(
            f"{out} holds traces of row {row.name!r} made with other {' and '.join(changed)}: resume with "
            "what it was started with, or choose another --out"
        )
    if changed:
        write_json(out / ROWS, {**rows, row.name: entry})
    return done


def row_settings(row: JudgePanel) -> dict[str, Any]:
    """Everything that the row's answers depend on besides weights: its judge's settings, or those of all members."""
    if len(row.members) == 1 and row.orders is None and row.samples == 1:
        return row.members[0].settings
    members = [{"judge": judge.name, **judge.settings} for judge in row.members]
    return {"orders": row.orders, "samples": row.samples, "members": members}


def _drop_torn_line(path: Path) -> bool:
    """Cut the file back to its last whole line; True where that took something away."""
    if not path.exists():
        return False
    with path.open("r+b") as log:
        position = end = log.seek(0, os.SEEK_END)
        while position and (log.seek(position - 1), log.read(1))[1] != b"\n":
            position -= 1
        if position < end:
            log.truncate(position)
    return position < end


@contextmanager
def _appending(path: Path) -> Iterator[Callable[[Trace], None]]:
    """What appends a trace to the file and gives it to the system at once: a kill tears no more than the last line."""

    def append(trace: Trace) -> None:
        try:
            log.write(trace.model_dump_json(by_alias=True).encode() + b"\n")
            log.flush()
        except OSError as error:
            raise EvaluationError(
                f"{path} cannot be written ({error.strerror}): what was judged so far is kept; make room "
                "and run again with --resume"
            ) from error

    try:
        log = path.open("ab")
    except OSError as error:
        raise EvaluationError(f"{path} cannot be written ({error.strerror}): choose another --out") from error
    try:
        yield append
    finally:
        with suppress(OSError):  # what could not be written was reported above
            log.close()


@contextmanager
def _progress(console: Console, row: str, total: int) -> Iterator[Callable[[Sequence[float]], None]]:
    """A bar with the accuracy so far on a terminal; about ten plain lines elsewhere. It is told the credits so far."""
    right, counted, told = 0.0, 0, -1

    def so_far(credits: Sequence[float]) -> str:
        nonlocal right, counted
        right, counted = right + sum(credits[counted:]), len(credits)
        return f"accuracy {right / counted:.2f}" if counted else "accuracy –"

    if not console.is_terminal:

        def say(credits: Sequence[float]) -> None:
            nonlocal told
            tenth = 10 * len(credits) // total
            if tenth > told:
                told = tenth
                console.out(f"{row}: {len(credits)}/{total} judged, {so_far(credits)}", highlight=False)

        yield say
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[right]}"), TimeRemainingColumn())
    with Progress(TextColumn("{task.description}"), *columns, console=console) as bar:
        task = bar.add_task(escape(row), total=total, right="")
        yield lambda credits: bar.update(task, completed=len(credits), right=so_far(credits))
