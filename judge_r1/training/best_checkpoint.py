"""Keeps the best checkpoint of a run by a dev metric, and exports it as a model."""

import os
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from math import isfinite
from pathlib import Path
from typing import Any

from judge_r1.files.jsonl import write_json
from judge_r1.files.run_log import read_rows
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


def best_of(recipe: Recipe, rows: Iterable[Mapping[str, Any]], steps: Collection[int] | None = None) -> Best | None:
    """The best of the evaluations in the rows of metrics.jsonl, of all steps or of `steps`; None without any."""
    metric = recipe.best_metric or DEV_METRICS[recipe.stage][0]
    column = COLUMNS.get(metric, f"dev/{metric}")
    chosen = (row for row in rows if steps is None or row["step"] in steps)
    found = [(row[column], row["step"]) for row in chosen if isfinite(row.get(column, float("nan")))]
    if not found:
        return None
    sign = -1 if metric == "loss" else 1
    value, step = max(found, key=lambda both: (sign * both[0], -both[1]))  # of equal values the earliest step
    return Best(metric, step, value)


def keep_if_best(run: RunFolder, recipe: Recipe, checkpoint: Checkpoint) -> None:
    """Keep the weights of a checkpoint if its step is better than those kept before, in place of them.

    Call it for each new checkpoint and for the one that a run resumes from: a kill may have come before its weights
    were kept. Files are hard links, so they take no space until the checkpoint itself is pruned."""
    kept = {other.step for other in kept_best(run.checkpoints)}
    best = best_of(recipe, read_rows(run.folder / "metrics.jsonl"), kept | {checkpoint.step})
    # Compared with those that are kept, not with all: the weights of an earlier, better step may be lost.
    if best is None or best.step != checkpoint.step:
        return
    if checkpoint.step not in kept:
        partial = run.best_checkpoints / ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        try:
            _link(checkpoint.folder, partial)
        except FileNotFoundError:  # the engine has pruned it while its metrics were read
            shutil.rmtree(partial, ignore_errors=True)
            print(f"{checkpoint.folder} was pruned before its weights could be kept as the best", file=sys.stderr)
            return
        partial.rename(run.best_checkpoints / f"step-{checkpoint.step}")
    # Last of all: a kill before this leaves one too many, and never none.
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

    If the weights of the best step are lost, the best step whose weights are kept is taken, with a warning. A run that
    keeps its last weights ends with them although it has no best model, with a warning, too.

    Raises:
        NoCheckpoint: The recipe keeps the best, and no weights of an evaluated step are kept, or they are damaged.
    """
    try:
        best, kept = _kept_best(run, recipe)
    except NoCheckpoint as error:
        if recipe.keep == "best":
            raise
        print(f"warning: {error}", file=sys.stderr)
        return
    from judge_r1.training.export_checkpoint import export

    target = run.model if recipe.keep == "best" else run.best
    shutil.rmtree(target, ignore_errors=True)  # of an attempt that ended before its model was written
    write_json(run.folder / BEST_FILE, {"metric": best.metric, "value": best.value, "step": best.step})
    export(run.folder, recipe, kept, target)


def _kept_best(run: RunFolder, recipe: Recipe) -> tuple[Best, Checkpoint]:
    rows, kept = read_rows(run.folder / "metrics.jsonl"), {c.step: c for c in kept_best(run.checkpoints)}
    first, best = best_of(recipe, rows), best_of(recipe, rows, kept)
    if first is None or best is None:
        why = "no evaluation has the metric" if first is None else f"the weights of step {first.step} are lost"
        raise NoCheckpoint(f"{run.folder} has no best model: {why}; `judge-r1 merge` exports another checkpoint")
    if first != best:
        print(
            f"warning: the weights of step {first.step}, the best by {best.metric}, are lost: the best model is that "
            f"of step {best.step}",
            file=sys.stderr,
        )
    chosen = kept[best.step]
    if chosen.has_manifest and (damage := find_damage(chosen.folder)):
        raise NoCheckpoint(f"{chosen.folder}, the best checkpoint, is damaged: {damage}")
    return best, chosen
