"""Run folders: resolved recipe, package versions, metrics, traces, checkpoints and model."""

import json
import platform
import shutil
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.folders import lacks, name_below
from judge_r1.core.version import installed
from judge_r1.files.append_log import AppendLog
from judge_r1.files.jsonl import write_atomic, write_json
from judge_r1.files.run_log import read_rows
from judge_r1.training.checkpoints import BEST, kept_best
from judge_r1.training.distributed import is_main
from judge_r1.training.metric_names import CollapseWatch
from judge_r1.training.recipe import Recipe, dump_recipe, load_recipe

PACKAGES = (
    "judge-r1", "torch", "transformers", "trl", "verl", "ray", "datasets", "accelerate", "deepspeed", "peft",
    "vllm", "flash-attn", "sentence-transformers", "faiss-cpu", "numpy", "pydantic",
)  # fmt: skip
RECIPE, VERSIONS = "recipe.yaml", "versions.json"
EXAMPLES, ADAPTERS = ".examples", ".adapters"
"""Folders in the run folder: examples that the first process shares with the others, and adapters before the merge."""


class Diverged(JudgeError):
    """The loss or the gradient norm (`what`) is not finite. The last checkpoint is still usable."""

    def __init__(self, step: int, what: str, folder: Path) -> None:
        super().__init__(
            f"step {step}: {what} is not finite; train again with another --out and a lower learning rate, "
            f"for example from the last checkpoint, which `judge-r1 merge {folder}` exports as a model"
        )


@cache  # reading the metadata of a package takes milliseconds
def versions() -> dict[str, str | None]:
    """The versions of `PACKAGES`; None if not installed."""
    return {"python": platform.python_version(), **{package: installed(package) for package in PACKAGES}}


class RunFolder:
    """Writes one run folder. Metrics are appended line by line, so a kill loses at most the last line. In a distributed
    run, only the first process writes. A run of another recipe that has not finished a step is replaced.

    Raises:
        JudgeError: The folder holds a run of another recipe, or a file named recipe.yaml that no run has written.
    """

    def __init__(self, folder: Path, recipe: Recipe) -> None:
        self.folder, self._collapse = folder, CollapseWatch()
        self.listeners: list[Callable[[Mapping[str, Any]], None]] = []
        """Called with each row of metrics.jsonl after it is written."""
        resolved = folder / RECIPE
        refuse_other_run(folder, recipe)
        if is_main() and resolved.exists() and load_recipe(resolved) != recipe:
            _remove_failed_start(folder)
        if is_main() and not finished(folder):  # a finished run keeps its versions
            # Before the recipe: a recipe.yaml without versions counts as a file that no run has written.
            write_json(folder / VERSIONS, versions())
            write_atomic(resolved, [dump_recipe(recipe)])

    @property
    def model(self) -> Path:
        """The trained model, a Hugging Face folder."""
        return self.folder / "model"

    @property
    def checkpoints(self) -> Path:
        return self.folder / "checkpoints"

    @property
    def best(self) -> Path:
        """The model of the best checkpoint, if the run evaluates on dev pairs and keeps the last weights as `model`."""
        return self.folder / "best"

    @property
    def best_checkpoints(self) -> Path:
        return self.checkpoints / BEST

    @property
    def last_step(self) -> int:
        """The newest step in metrics.jsonl; 0 without one."""
        file = self.folder / "metrics.jsonl"
        return max((row["step"] for row in read_rows(file)), default=0) if file.exists() else 0

    def log(self, row: Mapping[str, Any]) -> None:
        """Append one row to metrics.jsonl, and warn of a collapse of the labels (`label_collapse`)."""
        if is_main():
            _append(self.folder / "metrics.jsonl", row)
            if warning := self._collapse.warning(row):
                print(f"warning: {warning}", file=sys.stderr)
        for listener in self.listeners:
            listener(row)

    def trace(self, row: Mapping[str, Any]) -> None:
        """Append one episode to traces.jsonl."""
        if is_main():
            _append(self.folder / "traces.jsonl", row)

    def truncate_after(self, step: int) -> None:
        """Remove metrics, traces and the best weights of later steps before training resumes from a checkpoint at
        `step`."""
        for kept in kept_best(self.checkpoints) if is_main() else ():
            if kept.step > step:
                shutil.rmtree(kept.folder)
        for name in ("metrics.jsonl", "traces.jsonl"):
            if is_main() and (self.folder / name).exists():
                rows = read_rows(self.folder / name)
                write_atomic(self.folder / name, [_line(row) for row in rows if row["step"] <= step])


def refuse_other_run(folder: Path, recipe: Recipe) -> None:
    """Raises: JudgeError if the folder holds a run of another recipe that has finished a step, or a file named
    recipe.yaml that no run has written."""
    resolved = folder / RECIPE
    kept = has_progress(folder) or not (folder / VERSIONS).exists()
    if resolved.exists() and kept and (other := load_recipe(resolved)) != recipe:
        there, here = (_leaves(one.model_dump(mode="json")) for one in (other, recipe))
        both = {key: (there.get(key, "unset"), here.get(key, "unset")) for key in {**here, **there}}
        key, (before, now) = next((key, values) for key, values in both.items() if values[0] != values[1])
        raise JudgeError(
            f"{folder} holds a run of another recipe, with {key} {before!r} instead of {now!r}: "
            "choose another --out, or remove the folder"
        )


def _leaves(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The values of nested mappings by dotted key."""
    leaves: dict[str, Any] = {}
    for key, value in values.items():
        leaves |= _leaves(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return leaves


def recipe_of_run(folder: Path) -> Recipe:
    """The recipe of a run folder. Raises: JudgeError if it is none."""
    if not (folder / RECIPE).exists():
        raise JudgeError(
            f"{lacks(folder, f'run (no {RECIPE})')}: give the folder that `judge-r1 train` writes to"
            f"{name_below(folder, RECIPE, 'runs')}"
        )
    return load_recipe(folder / RECIPE)


def finished(folder: Path) -> bool:
    """Whether the run of this folder has written its model."""
    return (folder / "model" / "config.json").exists()


def has_progress(folder: Path) -> bool:
    """Whether the run of this folder has logged a step, begun a checkpoint or written its model."""
    metrics, saved = folder / "metrics.jsonl", folder / "checkpoints"
    logged = metrics.exists() and metrics.stat().st_size > 0
    return logged or finished(folder) or any(path.is_dir() for path in saved.glob("*"))


def _remove_failed_start(folder: Path) -> None:
    """Remove the files of a run that failed before its first step, except its logs."""
    for name in (
        RECIPE,
        "data.json",
        "examples.json",
        "traces.jsonl",
        "metrics.jsonl",
        "best.json",
    ):
        (folder / name).unlink(missing_ok=True)
    for name in ("checkpoints", "best", "verl", EXAMPLES, ADAPTERS):
        shutil.rmtree(folder / name, ignore_errors=True)


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def _append(path: Path, row: Mapping[str, Any]) -> None:
    with AppendLog(path) as log:
        log.append(_line(row).encode())
