"""Small recipes on the toy model, and readers of their runs: metrics without timings, weights."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paths import RECIPES
from toy_model import toy_model

from judge_r1.files.run_log import read_rows
from judge_r1.training.recipe import DataConfig, Recipe, load_recipe

Runs = Callable[[str], tuple[Recipe, Path]]
"""Trains a stage once, and returns the recipe and the run folder."""
MINI = RECIPES / "mini"
RECIPE = Recipe(name="test", stage="sft", model="bundled:tiny", data=DataConfig(train=Path("data")))


def turn_recipe(stage: str, data: Path, *changes: str) -> Recipe:
    """Four steps of eight examples on the toy model."""
    small = [f"{stage}.batch_size=8", f"{stage}.micro_batch_size=2", f"{stage}.max_steps=4", "save_every=2"]
    start = ["start=null"] if stage == "dpo" else []
    shared = [*start, f"model={toy_model()}", f"data.train={data}", *small, *changes]
    return load_recipe(MINI / ("json.yaml" if stage == "sft" else "dpo.yaml"), shared)


EVALUATED = {
    "sft": ["sft.examples=12", "sft.max_steps=6", "sft.batch_size=4", "sft.micro_batch_size=4"],
    "dpo": ["start=null", "dpo.max_steps=4", "dpo.batch_size=4", "dpo.micro_batch_size=4"],
    "grpo": [
        "grpo.steps=4", "grpo.pairs_per_step=2", "grpo.group_size=2", "grpo.micro_batch_size=2",
        "grpo.updates_per_step=2", "grpo.learning_rate=1e-3", "episode.budget.response_tokens=8",
    ],
}  # fmt: skip
FILES = {"sft": "warmup", "dpo": "dpo", "grpo": "grpo"}


def evaluated_recipe(stage: str, data: Path, *changes: str) -> Recipe:
    """Every stage of the mini recipes in a few steps over more than one epoch, with a checkpoint after each step and an
    evaluation on three of the dev pairs after every second one."""
    own = [f"model={toy_model()}", f"data.train={data / 'train'}", f"data.dev={data / 'dev'}", "save_every=1"]
    small = [*EVALUATED[stage], *own, "eval_every=2", "eval_pairs=3"]
    return load_recipe(MINI / f"{FILES[stage]}.yaml", [*small, *changes])


def timeless(folder: Path) -> list[dict[str, Any]]:
    """Metric rows of a run without timings, without TRL's token count (which restarts at a resume) and without the last
    row (the trainer's own summary)."""
    return timeless_rows(folder)[:-1]


def timeless_rows(folder: Path) -> list[dict[str, Any]]:
    clocks = re.compile("time|per_second|num_tokens")
    rows = read_rows(folder / "metrics.jsonl")
    return [{key: value for key, value in row.items() if not clocks.search(key)} for row in rows]


def evaluations(folder: Path) -> dict[int, dict[str, float]]:
    """The dev metrics of a run by step."""
    rows = read_rows(folder / "metrics.jsonl")
    return {
        row["step"]: {key: value for key, value in row.items() if key.startswith("dev/")}
        for row in rows
        if any(key.startswith("dev/") for key in row)
    }


def weights(folder: Path) -> dict[str, Any]:
    from transformers import AutoModelForCausalLM

    return dict(AutoModelForCausalLM.from_pretrained(folder / "model").named_parameters())
