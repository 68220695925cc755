"""Formats the cost estimate of a recipe's stages as YAML comments, so that the dry-run output is still a recipe."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from judge_r1.training.cost_estimate.memory import ROLLOUT_SHARE, cache, memory
from judge_r1.training.cost_estimate.shape import Shape, UnknownShape, shape_of
from judge_r1.training.cost_estimate.tokens import Tokens, tokens_of
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import finished
from judge_r1.training.stage_graph import StageRun, remaining_stages
from judge_r1.training.verl.config import overrides

PAPER_GPUS = 8
"""GPUs per machine in the paper (appendix B)."""
GPUS = (1, PAPER_GPUS, 2 * PAPER_GPUS)
"""Numbers of GPUs for which memory is estimated."""


def report(stages: Sequence[StageRun], command: str, gpus: int, nodes: int = 1) -> list[str]:
    """The cost of each stage, and the command. verl's command is for `nodes` machines with `gpus` GPUs each."""
    lines = []
    model, todo = stages[0][0].model, remaining_stages(stages)
    for recipe, folder in stages:
        lines += ["", f"{recipe.name}: {recipe.stage} from {recipe.model}, in {folder}"]
        if finished(folder) or (recipe, folder) not in todo:
            why = "its model" if finished(folder) else "a model trained from it"
            lines.append(f"  {why} exists already: this stage is skipped")
            continue
        tokens = tokens_of(recipe.model_copy(update={"model": model}))
        lines += [f"  {line}" for line in [*_tokens(recipe, tokens), *_memory(recipe, model, tokens)]]
    lines += ["", "command:", f"  {command}"]
    last, folder = stages[-1]
    if last.on_verl:
        where = "of one machine" if nodes == 1 else f"on each of {nodes} nodes of the Ray cluster at RAY_ADDRESS"
        lines.append(f"With {gpus} GPU(s) {where}, it writes verl's input files and runs:")
        lines += [f"  {line}" for line in verl_command(last, folder, gpus, nodes)]
    return [f"# {line}".rstrip() for line in lines]


def verl_command(recipe: Recipe, folder: Path, gpus: int, nodes: int = 1) -> list[str]:
    """verl's shell command, one argument per line. The files in it are written when the run starts."""
    from judge_r1.training.verl.runner import environment, verl_variables

    home = (folder / "verl").absolute()
    local = recipe.start is not None or Path(recipe.model).exists()
    model = str(Path(recipe.model).absolute()) if local else recipe.model
    keys = overrides(
        recipe.model_copy(update={"model": model}),
        train_parquet=home / "train.parquet",
        agent_loops=home / "agent_loops.yaml",
        checkpoints=(folder / "checkpoints").absolute(),
        cpu=False,
        gpus=gpus,
        nodes=nodes,
        cluster_variables=verl_variables(home, False) if nodes > 1 else None,
    )
    ours = [f"{key}={value}" for key, value in environment(home, False).items() if os.environ.get(key) != value]
    words = ["env", *map(_quoted, ours), "python", "-m", "verl.trainer.main_ppo", *map(_quoted, keys)]
    return [
        " ".join(words[: len(ours) + 4]) + " \\",
        *(f"  {word} \\" for word in words[len(ours) + 4 : -1]),
        f"  {words[-1]}",
    ]


def _quoted(word: str) -> str:
    """A quoted shell word. Double quotes if possible, because Hydra needs single quotes around text."""
    return f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') else shlex.quote(word)


def _tokens(recipe: Recipe, tokens: Tokens) -> list[str]:
    what = "episodes" if recipe.stage == "grpo" else "examples"
    data = f"{tokens.pairs:,} pairs" if tokens.pairs is not None else f"{recipe.data.train} does not exist yet"
    steps = f"{tokens.steps:,}" if tokens.steps is not None else "one per batch of the data"
    lines = [f"data: {data}", f"steps: {steps}, of {tokens.examples:,} {what}"]
    lines.append(f"tokens each: prompt up to {tokens.prompt:,}, response up to {tokens.response:,}")
    lines.append(f"tokens per step: {_both(tokens, 1)}")
    if tokens.steps is not None:
        lines.append(f"tokens per run: {_both(tokens, tokens.steps)}")
    return lines


def _both(tokens: Tokens, steps: int) -> str:
    """Prompt and response tokens of `steps` steps: the maximum, and an estimate from the data."""
    count = tokens.examples * steps
    text = f"{_short(tokens.prompt * count)} prompt and {_short(tokens.response * count)} response at most"
    if tokens.mean_prompt is not None:
        text += f"; {_short(tokens.mean_prompt * count)} prompt in the data ({tokens.counted_by})"
    return text


def _memory(recipe: Recipe, model: str, tokens: Tokens) -> list[str]:
    try:
        shape = shape_of(model)
    except UnknownShape as error:
        return [f"memory: {error}"]
    grpo = recipe.stage == "grpo"
    counts = GPUS[:1] if grpo and recipe.grpo.engine == "trl" else GPUS
    lines = [f"model: {shape.parameters / 1e9:.2f}B parameters ({shape.source})", "GiB per GPU, at full length:"]
    lines += [_row(recipe, shape, gpus, tokens.longest) for gpus in counts]
    if grpo:
        lines.append("while sampling:")
        for gpus in counts:
            parts = cache(recipe, shape, gpus, tokens.longest)
            lines.append(f"  {gpus:2} GPU: weights {parts['weights']:.1f} + cache {parts['kv_cache']:.1f} when full")
        if recipe.grpo.engine == "verl":
            lines.append(f"  vLLM uses {ROLLOUT_SHARE:.0%} of a GPU for both; episodes that do not fit wait")
    return lines


def _row(recipe: Recipe, shape: Shape, gpus: int, longest: int) -> str:
    parts = memory(recipe, shape, gpus, longest)
    listed = " + ".join(f"{name} {size:.1f}" for name, size in parts.items() if size)
    return f"  {gpus:2} GPU: {sum(parts.values()):.1f} = {listed}"


def _short(count: float) -> str:
    """12.3k, 4.56M, 7.89B."""
    for size, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return f"{count:.0f}"
