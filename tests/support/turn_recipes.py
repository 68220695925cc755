"""Small single-turn SFT and DPO recipes, and readers of their runs: metrics without timings, weights."""

import re
from pathlib import Path
from typing import Any

from paths import RECIPES

from judge_r1.core.run_log import read_rows
from judge_r1.training.recipe import DataConfig, Recipe, load_recipe

MINI = RECIPES / "mini"
RECIPE = Recipe(name="test", stage="sft", model="bundled:tiny", data=DataConfig(train=Path("data")))


def turn_recipe(stage: str, data: Path, *changes: str) -> Recipe:
    """Four steps of eight examples on the bundled tiny model."""
    small = [f"{stage}.batch_size=8", f"{stage}.micro_batch_size=2", f"{stage}.max_steps=4", "save_every=2"]
    start = ["start=null"] if stage == "dpo" else []
    shared = [*start, "model=bundled:tiny", f"data.train={data}", *small, *changes]
    return load_recipe(MINI / ("json.yaml" if stage == "sft" else "dpo.yaml"), shared)


def timeless(folder: Path) -> list[dict[str, Any]]:
    """Metric rows of a run without timings, without TRL's token count (which restarts at a resume) and without the last
    row (the trainer's own summary)."""
    return timeless_rows(folder)[:-1]


def timeless_rows(folder: Path) -> list[dict[str, Any]]:
    clocks = re.compile("time|per_second|num_tokens")
    rows = read_rows(folder / "metrics.jsonl")
    return [{key: value for key, value in row.items() if not clocks.search(key)} for row in rows]


def weights(folder: Path) -> dict[str, Any]:
    from transformers import AutoModelForCausalLM

    return dict(AutoModelForCausalLM.from_pretrained(folder / "model").named_parameters())
