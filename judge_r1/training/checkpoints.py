"""Finds the complete checkpoints of a run, of either engine, and verifies them."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, StrictInt

from judge_r1.core.errors import JudgeError, invalid_as
from judge_r1.files.jsonl import write_atomic
from judge_r1.files.strict_json import read_json
from judge_r1.training.checkpoint_manifest import MANIFEST, find_damage

VERL_MARKER, VERL_LAST = "latest_checkpointed_iteration.txt", "data.pt"
"""The file in which verl notes its newest checkpoint, and the one that it writes just before."""
BEST = "best"
"""Folder beside the checkpoints with the weights of the best one, which is not pruned."""


class Processes(BaseModel):
    """processes.json, beside TRL's checkpoints: the number of processes that write each."""

    NAME: ClassVar = "processes.json"

    processes: StrictInt


class NoCheckpoint(JudgeError):
    """The run has no such checkpoint, or it is damaged."""


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint. `step` is a step of the recipe: in GRPO, one batch of episodes."""

    step: int
    folder: Path
    sharded: bool
    """Whether it holds verl's shards, one per rank, instead of a Hugging Face folder with the optimiser state."""

    @property
    def has_manifest(self) -> bool:
        return (self.folder / MANIFEST).exists()


def checkpoints(folder: Path, updates: int = 1) -> list[Checkpoint]:
    """The complete checkpoints in a run's `checkpoints` folder, oldest first. Their content is not verified.

    TRL numbers them by optimiser steps, of which one step of the recipe has `updates`. One of TRL is complete with its
    manifest, which is written last. verl notes its complete ones itself, and they get their manifests later."""
    noted = _noted(folder)
    trl = [Checkpoint(_step(f.parent) // updates, f.parent, False) for f in folder.glob(f"checkpoint-*/{MANIFEST}")]
    verl = [Checkpoint(_step(f.parent), f.parent, True) for f in folder.glob(f"global_step_*/{VERL_LAST}")]
    return sorted((*trl, *(c for c in verl if c.step <= noted)), key=lambda c: c.step)


def kept_best(folder: Path) -> list[Checkpoint]:
    """The weights that are kept as the best of a run, in a run's `checkpoints` folder, oldest first."""
    found = (folder / BEST).glob("step-*")
    return sorted((Checkpoint(_step(f), f, sharded=(f / "actor").is_dir()) for f in found), key=lambda c: c.step)


def verl_checkpoint(folder: Path, step: int) -> Checkpoint:
    """verl's checkpoint of a step in a run's `checkpoints` folder."""
    return Checkpoint(step, folder / f"global_step_{step}", sharded=True)


def newest_whole(folder: Path, updates: int = 1, *, logged: int | None = None) -> Checkpoint | None:
    """The newest checkpoint whose files are as they were saved. Prints a warning for each newer one that is damaged,
    and if one of verl has no manifest yet.

    If an older one exists, those after the step `logged` are passed over: verl saves, then evaluates, then logs a step,
    and a kill in between would lose the row of the step."""
    found = checkpoints(folder, updates)
    if logged is not None:
        found = [checkpoint for checkpoint in found if checkpoint.step <= logged] or found
    for checkpoint in reversed(found):
        if not checkpoint.has_manifest:  # a kill came between verl's checkpoint and its manifest
            _warn(f"{checkpoint.folder} has no {MANIFEST}, so its files are not verified")
            return checkpoint
        damage = find_damage(checkpoint.folder)
        if damage is None:
            return checkpoint
        _warn(f"checkpoint {checkpoint.folder} is damaged and is not used: {damage}")
    return None


def checkpoint_at(folder: Path, step: int | None, updates: int = 1) -> Checkpoint:
    """The checkpoint of `step`, verified; None means the newest whole one.

    Raises:
        NoCheckpoint: There is none, or it is damaged. The message lists the steps that have one.
    """
    complete = checkpoints(folder, updates)
    steps = f"it has steps {', '.join(str(c.step) for c in complete)}" if complete else "none is complete"
    if step is None:
        chosen = newest_whole(folder, updates)
    else:
        chosen = next((c for c in (*kept_best(folder), *complete) if c.step == step), None)
        if chosen is not None and chosen.has_manifest and (damage := find_damage(chosen.folder)):
            raise NoCheckpoint(f"checkpoint {chosen.folder} is damaged ({damage}): choose another step; {steps}")
    if chosen is None:
        what = "whole checkpoint" if complete and step is None else "checkpoint"
        raise NoCheckpoint(f"{folder} has no {what}{'' if step is None else f' of step {step}'}: {steps}")
    return chosen


def clear_newer(folder: Path, checkpoint: Checkpoint | None) -> None:
    """Remove incomplete checkpoints of TRL that are newer than `checkpoint`, from which a run resumes, and rename
    damaged ones to damaged-checkpoint-N. Else TRL would keep them instead of the next ones that it saves."""
    last = _step(checkpoint.folder) if checkpoint else 0
    for newer in [path for path in folder.glob("checkpoint-*") if _step(path) > last]:
        aside = newer.with_name(f"damaged-{newer.name}")
        shutil.rmtree(aside, ignore_errors=True)
        if (newer / MANIFEST).exists():
            newer.rename(aside)
            _warn(f"{newer} is now {aside.name}: remove it if you do not need it")
        else:
            shutil.rmtree(newer)


def resume_verl_at(folder: Path, checkpoint: Checkpoint | None) -> None:
    """Note in verl's marker the checkpoint from which it resumes; without one, remove the marker.

    verl would not start with an empty marker, which a kill may leave."""
    marker = folder / VERL_MARKER
    if checkpoint is not None:
        write_atomic(marker, [str(checkpoint.step)])
    else:
        marker.unlink(missing_ok=True)


def _noted(folder: Path) -> float:
    """The newest step that verl has noted: 0 without a note, infinity for a damaged one. verl opens the note only after
    the checkpoint is complete."""
    marker = folder / VERL_MARKER
    if not marker.exists():
        return 0.0
    noted = marker.read_bytes().strip()
    # A damaged note still says that the newest checkpoint is complete.
    return float(noted) if noted.isdigit() else float("inf")


def _step(folder: Path) -> int:
    return int(folder.name.replace("_", "-").rpartition("-")[2])


def processes_of(folder: Path) -> int | None:
    """The number of processes that started the run of this `checkpoints` folder; None if it has not started.

    Raises:
        JudgeError: The file is damaged.
    """
    file = folder / Processes.NAME
    if not file.exists():
        return None
    advice = "; remove the file if there was one process"
    with invalid_as(JudgeError, f"{file} does not hold the number of processes", advice):
        return Processes.model_validate(read_json(file)).processes


def _warn(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)
