"""Run a judge over pairs and lose nothing: every finished episode is on disk before the next one counts."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from judge_r1.errors import JudgeError
from judge_r1.evaluation.outcomes import Outcome, outcome
from judge_r1.jsonl import dump_line, read_jsonl, write_json
from judge_r1.records import NonEmpty, ReasoningPair, Record, Trajectory, content_hash

TRACES = "traces.jsonl"
ROWS = "rows.json"
"""Beside the traces: for each row its judge, its settings and a hash of its pairs, so that no run mixes two."""


class EvaluationError(JudgeError):
    """An evaluation that cannot start, go on, or be told from another one."""


class Judge(Protocol):
    """Whatever turns pairs into scored trajectories. `settings` are the decoding settings, as JSON."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> dict[str, Any]: ...

    def judge(self, pairs: Sequence[ReasoningPair]) -> Iterator[tuple[ReasoningPair, Trajectory]]:
        """Every pair once, with its trajectory, as the episodes finish, in any order."""
        ...


class Trace(Record):
    """One line of `traces.jsonl`."""

    row: NonEmpty
    pair_id: NonEmpty
    trajectory: Trajectory


def evaluate(
    judge: Judge, pairs: Sequence[ReasoningPair], *, row: str, out: Path, resume: bool, console: Console | None = None
) -> list[Outcome]:
    """The outcomes of `judge` on `pairs`, in their order, each trace in `out/traces.jsonl` under the name `row`.

    With `resume` the episodes found there are read back and only the others are run; a last line that a kill has torn
    is dropped and run again. Episodes that the infrastructure ended are not kept, so that a resume
    runs them again. `out` may hold other rows. Without `resume` it may not hold this one; with it, the row must have
    been started by the same judge with the same settings on the same pairs. Raises EvaluationError.
    """
    by_id = {pair.pair_id: pair for pair in pairs}
    if len(by_id) != len(pairs) or not pairs:
        raise EvaluationError(
            f"row {row!r} needs pairs that differ, and at least one; it has {len(pairs)} of which {len(by_id)} differ"
        )
    console = console or Console(stderr=True)
    done = _begin(judge, pairs, row, out, resume, console)
    outcomes = {i: outcome(row, by_id[i], trajectory) for i, trajectory in done.items()}
    waiting = {i: pair for i, pair in by_id.items() if i not in outcomes}
    failures: Counter[str] = Counter()
    with _progress(console, row, len(pairs)) as tell:
        tell(outcomes)
        for pair, trajectory in judge.judge(list(waiting.values())) if waiting else ():
            if pair.pair_id not in waiting:
                raise EvaluationError(
                    f"judge {judge.name!r} answered pair {pair.pair_id}, which it was not asked for "
                    "or had answered already: that is a mistake in the judge"
                )
            if trajectory.lost:
                failures[trajectory.ended] += 1
                continue
            result = outcome(row, by_id[pair.pair_id], trajectory)
            _append(out / TRACES, Trace(row=row, pair_id=pair.pair_id, trajectory=trajectory))
            outcomes[pair.pair_id] = result
            del waiting[pair.pair_id]
            tell(outcomes)
    if waiting:
        raise EvaluationError(
            f"judge {judge.name!r} left {len(waiting)} of {len(pairs)} pairs without an answer, such "
            f"as {next(iter(waiting))} (failures: {dict(failures) or 'none'}): run again with --resume to judge those"
        )
    return [outcomes[pair.pair_id] for pair in pairs]


def read_traces(out: Path, row: str | None = None) -> Iterator[Trace]:
    """The traces of `out/traces.jsonl`, of one row or of all, in the order they were finished."""
    return (trace for trace in read_jsonl(out / TRACES, Trace) if row is None or trace.row == row)


def _begin(
    judge: Judge, pairs: Sequence[ReasoningPair], row: str, out: Path, resume: bool, console: Console
) -> dict[str, Trajectory]:
    """Check that `out` may take this row and note it there; returns the trajectories it has already."""
    rows = _read_rows(out / ROWS)
    if _drop_torn_line(out / TRACES):
        console.print(f"{escape(str(out / TRACES))}: its last line was torn by a kill and is dropped")
    done: dict[str, Trajectory] = {}
    for trace in read_traces(out, row) if (out / TRACES).exists() else ():
        if trace.pair_id in done:
            raise EvaluationError(f"{out / TRACES} holds pair {trace.pair_id} of row {row!r} twice: remove one line")
        done[trace.pair_id] = trace.trajectory
    if done and not resume:
        raise EvaluationError(
            f"{out} holds {len(done)} trace(s) of row {row!r} already: add --resume to go on with "
            "them, or choose another --out"
        )
    placed = sorted((pair.pair_id, pair.preferred) for pair in pairs)
    entry = {"judge": judge.name, "settings": json.loads(json.dumps(judge.settings)), "pairs": content_hash(placed)}
    changed = [key for key in entry if rows.get(row, {}).get(key) != entry[key]]
    if done and changed:
        raise EvaluationError(
            f"{out} holds traces of row {row!r} made with other {' and '.join(changed)}: resume with "
            "what it was started with, or choose another --out"
        )
    if changed:
        write_json(out / ROWS, {**rows, row: entry})
    return done


def _read_rows(path: Path) -> dict[str, dict[str, Any]]:
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{path} cannot be read ({error}): choose another --out") from None
    return dict(rows)


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


def _append(path: Path, trace: Trace) -> None:
    try:
        with path.open("ab") as log:
            log.write(dump_line(trace).encode())
    except OSError as error:
        raise EvaluationError(
            f"{path} cannot be written ({error.strerror}): what was judged so far is kept; make room "
            "and run again with --resume"
        ) from error


@contextmanager
def _progress(console: Console, row: str, total: int) -> Iterator[Callable[[Mapping[str, Outcome]], None]]:
    """A bar with the accuracy so far on a terminal; about ten plain lines elsewhere."""
    right = counted = 0
    told = -1

    def so_far(outcomes: Mapping[str, Outcome]) -> str:
        nonlocal right, counted
        fresh = list(outcomes.values())[counted:]
        right, counted = right + sum(o.correct for o in fresh), counted + len(fresh)
        return f"accuracy {right / counted:.2f}" if counted else "accuracy –"

    if not console.is_terminal:

        def say(outcomes: Mapping[str, Outcome]) -> None:
            nonlocal told
            tenth = 10 * len(outcomes) // total
            if tenth > told:
                told = tenth
                console.out(f"{row}: {len(outcomes)}/{total} judged, {so_far(outcomes)}", highlight=False)

        yield say
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[right]}"), TimeRemainingColumn())
    with Progress(TextColumn("{task.description}"), *columns, console=console) as bar:
        task = bar.add_task(escape(row), total=total, right="")
        yield lambda outcomes: bar.update(task, completed=len(outcomes), right=so_far(outcomes))
