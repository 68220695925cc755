"""Finds the complete checkpoints of a run, of either engine."""

import json
from dataclasses import dataclass
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import write_atomic

TRL_STATE, VERL_MARKER, VERL_LAST = "trainer_state.json", "latest_checkpointed_iteration.txt", "data.pt"
"""The file that TRL writes last into a checkpoint; the file in which verl notes its newest checkpoint, and the one that
verl writes just before."""
PROCESSES = "processes.json"
"""File beside TRL's checkpoints with the number of processes that write each."""


class NoCheckpoint(JudgeError):
    """The run has no such checkpoint."""


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint. `step` is a step of the recipe: in GRPO, one batch of episodes."""

    step: int
    folder: Path
    sharded: bool
    """Whether it holds verl's shards, one per rank, instead of a Hugging Face folder with the optimiser state."""


def checkpoints(folder: Path, updates: int = 1) -> list[Checkpoint]:
    """The complete checkpoints in a run's `checkpoints` folder, oldest first.

    TRL numbers them by optimiser steps, of which one step of the recipe has `updates`."""
    count = processes_of(folder) or 1
    trl = [Checkpoint(_step(f) // updates, f, False) for f in folder.glob("checkpoint-*") if _complete(f, count)]
    noted = _noted(folder)
    verl = [Checkpoint(_step(f), f, True) for f in folder.glob("global_step_*") if (f / VERL_LAST).exists()]
    return sorted((c for c in (*trl, *verl) if not c.sharded or c.step <= noted), key=lambda c: c.step)


def checkpoint_at(folder: Path, step: int | None, updates: int = 1) -> Checkpoint:
    """The checkpoint of `step`; None means the newest.

    Raises:
        NoCheckpoint: There is none. The message lists the steps that have one.
    """
    complete = checkpoints(folder, updates)
    chosen = [c for c in complete if step in (None, c.step)]
    if not chosen:
        steps = f"it has steps {', '.join(str(c.step) for c in complete)}" if complete else "none is complete"
        raise NoCheckpoint(f"{folder} has no checkpoint{'' if step is None else f' of step {step}'}: {steps}")
    return chosen[-1]


def mend_marker(folder: Path) -> None:
    """Rewrite verl's note of its newest checkpoint if a kill left it empty, because verl would not start with it."""
    marker = folder / VERL_MARKER
    if marker.exists() and not marker.read_text():
        write_atomic(marker, [str(checkpoint_at(folder, None).step)])


def _noted(folder: Path) -> float:
    """The newest step that verl has noted: 0 without a note, infinity for an empty one. verl opens the note only after
    the checkpoint is complete."""
    marker = folder / VERL_MARKER
    return float(marker.read_text() or "inf") if marker.exists() else 0.0


def _step(folder: Path) -> int:
    return int(folder.name.replace("_", "-").rpartition("-")[2])


def processes_of(folder: Path) -> int | None:
    """The number of processes that started the run of this `checkpoints` folder; None if it has not started."""
    file = folder / PROCESSES
    return int(json.loads(file.read_text(encoding="utf-8"))["processes"]) if file.exists() else None


def _complete(checkpoint: Path, processes: int) -> bool:
    """Whether every process has written its part. The last file of each process is its random state, that of the first
    one the trainer state."""
    parts = [f"rng_state_{rank}.pth" for rank in range(processes)] if processes > 1 else []
    try:
        json.loads((checkpoint / TRL_STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return all((checkpoint / name).exists() for name in parts)
