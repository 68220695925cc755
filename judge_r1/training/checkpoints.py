"""The whole checkpoints of a run, whichever engine wrote them."""

import json
from dataclasses import dataclass
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import write_atomic

TRL_STATE, VERL_MARKER, VERL_LAST = "trainer_state.json", "latest_checkpointed_iteration.txt", "data.pt"
"""What TRL writes last into a checkpoint; where verl notes its newest one, and what it writes just before that."""
PROCESSES = "processes.json"
"""Beside the checkpoints: how many processes write each of TRL's."""


class NoCheckpoint(JudgeError):
    """A run without the checkpoint that was asked for."""


@dataclass(frozen=True)
class Checkpoint:
    """One that was written to its end. `step` is the recipe's: on GRPO, one batch of episodes."""

    step: int
    folder: Path
    sharded: bool
    """verl's shards, one a rank; else a Hugging Face folder with the optimiser's state beside it."""


def checkpoints(folder: Path, updates: int = 1) -> list[Checkpoint]:
    """Those in a run's `checkpoints` folder, oldest first; what a kill left half-written is not among them. TRL numbers
    them by optimiser steps, of which a step has `updates`."""
    count = processes_of(folder) or 1
    trl = [Checkpoint(_step(f) // updates, f, False) for f in folder.glob("checkpoint-*") if _whole(f, count)]
    noted = _noted(folder)
    verl = [Checkpoint(_step(f), f, True) for f in folder.glob("global_step_*") if (f / VERL_LAST).exists()]
    return sorted((c for c in (*trl, *verl) if not c.sharded or c.step <= noted), key=lambda c: c.step)


def checkpoint_at(folder: Path, step: int | None, updates: int = 1) -> Checkpoint:
    """The checkpoint of a step, the newest for None. Errors: NoCheckpoint, with those there are."""
    found = checkpoints(folder, updates)
    chosen = [c for c in found if step in (None, c.step)]
    if not chosen:
        there = f"there are {', '.join(str(c.step) for c in found)}" if found else "none was written to its end"
        raise NoCheckpoint(f"{folder} has no checkpoint{'' if step is None else f' of step {step}'}: {there}")
    return chosen[-1]


def mend_marker(folder: Path) -> None:
    """A kill can leave verl's note of its newest checkpoint empty, and verl would not start again: write it anew."""
    marker = folder / VERL_MARKER
    if marker.exists() and not marker.read_text():
        write_atomic(marker, [str(checkpoint_at(folder, None).step)])


def _noted(folder: Path) -> float:
    """The newest step that verl has noted: 0 without a note, and infinity for an empty one, which verl opens only when
    the checkpoint it is for has been written."""
    marker = folder / VERL_MARKER
    return float(marker.read_text() or "inf") if marker.exists() else 0.0


def _step(folder: Path) -> int:
    return int(folder.name.replace("_", "-").rpartition("-")[2])


def processes_of(folder: Path) -> int | None:
    """How many processes began the run of this `checkpoints` folder; None for a run that has not begun."""
    file = folder / PROCESSES
    return int(json.loads(file.read_text(encoding="utf-8"))["processes"]) if file.exists() else None


def _whole(checkpoint: Path, processes: int) -> bool:
    """Has every process written its part? The state of its random numbers is each one's last file, the trainer's state
    the first one's."""
    parts = [f"rng_state_{rank}.pth" for rank in range(processes)] if processes > 1 else []
    try:
        json.loads((checkpoint / TRL_STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return all((checkpoint / name).exists() for name in parts)
