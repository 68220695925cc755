"""Prints estimated memory, seconds per step and hours of the shipped recipes as CSV, for docs/cluster.md.

python -m scripts.cost_table --gpu H100 --gpus-per-node 8 --nodes 2
"""

import argparse
import csv
import io
import re
from pathlib import Path

from judge_r1.models.shape import shape_of
from judge_r1.training.cost_estimate import (
    FULL,
    GPUS,
    TYPICAL,
    Gpu,
    Machine,
    lengths,
    memory,
    sampling,
    step_seconds,
    tokens_of,
)
from judge_r1.training.recipe import Recipe, load_recipe

RECIPES = (
    "paper/sft-21k", "paper/dpo-21k", "paper/grpo-21k", "paper/warmup-fc-search", "paper/judge-r1-warm-fc-search",
    "paper/search-r1", "sizes/qwen3-1.7b", "sizes/qwen3-4b", "options/qwen3-14b", "options/qwen3-32b",
)  # fmt: skip
HEADER = ("recipe", "model", "GiB training", "GiB sampling", "seconds per step", "steps", "hours", "bottleneck")


def table(gpu: Gpu, gpus: int, nodes: int, folder: Path = Path("recipes")) -> str:
    """The table as CSV. SFT and DPO use one machine."""
    rows = [HEADER, *(_row(load_recipe(folder / f"{name}.yaml"), name, gpu, gpus, nodes) for name in RECIPES)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _row(recipe: Recipe, name: str, gpu: Gpu, gpus: int, nodes: int) -> tuple[str, ...]:
    model = _initial(recipe).model
    shape, machine = shape_of(model), Machine(gpu, gpus, nodes if recipe.on_verl else 1)
    tokens = tokens_of(recipe.model_copy(update={"model": model}))
    parts = memory(recipe, shape, machine.total, tokens.longest)
    while_sampling = f"{sum(sampling(recipe, shape, gpu, machine.total).values()):.0f}" if recipe.on_verl else ""
    typical = step_seconds(recipe, shape, machine, lengths(recipe, tokens.mean_prompt or tokens.prompt, TYPICAL))
    full = step_seconds(recipe, shape, machine, lengths(recipe, tokens.prompt, FULL))
    seconds = [sum(stage.seconds for stage in stages) for stages in (typical, full)]
    steps = tokens.steps or _steps(recipe)
    worst = max(typical, key=lambda stage: stage.seconds)
    fits = "" if sum(parts.values()) <= gpu.memory else " (too much)"
    return (
        name,
        model.split("/")[-1],
        f"{sum(parts.values()):.0f}{fits}",
        while_sampling,
        f"{seconds[0]:.0f} to {seconds[1]:.0f}",
        str(steps),
        f"{steps * seconds[0] / 3600:.1f} to {steps * seconds[1] / 3600:.1f}",
        f"{worst.name} ({worst.limit})",
    )


def _initial(recipe: Recipe) -> Recipe:
    """The recipe at the start of the chain, whose model is on the hub."""
    return recipe if recipe.start is None else _initial(recipe.start)


def _steps(recipe: Recipe) -> int:
    """The steps of SFT and DPO on data of the size in the folder's name (train_21k)."""
    size = re.search(r"_(\d+)k$", recipe.data.train.name)
    if size is None:
        raise ValueError(f"recipe {recipe.name}: {recipe.data.train} does not exist, and its name tells no size")
    part = recipe.sft if recipe.stage == "sft" else recipe.dpo
    return -(-round(part.epochs * int(size[1]) * 1000) // part.batch_size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpu", choices=sorted(GPUS), default="H100")
    parser.add_argument("--gpus-per-node", type=int, default=8)
    parser.add_argument("--nodes", type=int, default=2)
    arguments = parser.parse_args()
    print(table(GPUS[arguments.gpu], arguments.gpus_per_node, arguments.nodes), end="")


if __name__ == "__main__":
    main()
