"""Keeps the best checkpoint of a run by a dev metric, and exports it as a model."""

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from math import isfinite
from pathlib import Path
from typing import Any

from judge_r1.core.jsonl import write_json
from judge_r1.core.run_log import read_metrics
from judge_r1.training.checkpoint_manifest import find_damage
from judge_r1.training.checkpoints import Checkpoint, NoCheckpoint, kept_best
from judge_r1.training.recipe import DEV_METRICS, Recipe
from judge_r1.training.run_folder import RunFolder

BEST_FILE = "best.json"
COLUMNS = {"reward": "dev/reward/r", "label_f1": "dev/reward/F1"}
"""Names in metrics.jsonl of the metrics that are not called dev/NAME."""
_NOT_WEIGHTS = (
    "manifest.json", "optimizer*", "scheduler*", "rng_state*", "global_step*", "optim_world_size*",
    "extra_state_world_size*", "data.pt", "transfer_queue",
)  # fmt: skip
"""Files and folders that only resuming needs: manifest, optimiser, random state, position in the data."""


@dataclass(frozen=True)
class Best:
    """The best step of a run: the earliest one with the best value of the metric."""

    metric: str
    step: int
    value: float


def best_of(recipe: Recipe, rows: Iterable[Mapping[str, Any]]) -> Best | None:
    """The best of the evaluations in the rows of metrics.jsonl; None without any."""
    metric = recipe.best_metric or DEV_METRICS[recipe.stage][0]
    column = COLUMNS.get(metric, f"dev/{metric}")
    found = [(row[column], row["step"]) for row in rows if isfinite(row.get(column, float("nan")))]
    if not found:
        return None
    sign = -1 if metric == "loss" else 1
    value, step = max(found, key=lambda both: (sign * both[0], -both[1]))
    return Best(metric, step, value)


def keep_if_best(run: RunFolder, recipe: Recipe, checkpoint: Checkpoint) -> None:
    """Keep the weights of a checkpoint if its step is the best so far, in place of those kept before.

    Files are hard links, so they take no space until the checkpoint itself is pruned."""
    best = best_of(recipe, read_metrics(run.folder / "metrics.jsonl"))
    if best is None or best.step != checkpoint.step:
        return
    folder = run.best_checkpoints / f"step-{checkpoint.step}"
    partial = folder.with_name(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    _link(checkpoint.folder, partial)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    for other in kept_best(run.checkpoints):
        if other.step != checkpoint.step:
            shutil.rmtree(other.folder)


def _link(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for path in source.iterdir():
        if any(fnmatch(path.name, pattern) for pattern in _NOT_WEIGHTS):
            continue
        if path.is_dir():
            _link(path, target / path.name)
            continue
        try:
            os.link(path, target / path.name)
        except OSError:  # a file system without hard links
            shutil.copy2(path, target / path.name)


def export_best(run: RunFolder, recipe: Recipe) -> None:
    """Write the best checkpoint as a model: to `run.model` if the recipe keeps the best, else to `run.best`.

    Raises:
        NoCheckpoint: The run has no evaluation, or the weights of its best step are lost or damaged.
    """
    from judge_r1.training.export_checkpoint import export

    best = best_of(recipe, read_metrics(run.folder / "metrics.jsonl"))
    kept = next((c for c in kept_best(run.checkpoints) if best is not None and c.step == best.step), None)
    if best is None or kept is None:
        why = "no evaluation has the metric" if best is None else f"the weights of step {best.step} are lost"
        raise NoCheckpoint(f"{run.folder} has no best model: {why}; `judge-r1 merge` exports another checkpoint")
    if kept.has_manifest and (damage := find_damage(kept.folder)):
        raise NoCheckpoint(f"{kept.folder}, the best checkpoint, is damaged: {damage}")
    target = run.model if recipe.keep == "best" else run.best
    shutil.rmtree(target, ignore_errors=True)  # of an attempt that ended before its model was written
    write_json(run.folder / BEST_FILE, {"metric": best.metric, "value": best.value, "step": best.step})
    export(run.folder, recipe, kept, target)
