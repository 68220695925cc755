"""The plan of a chain of runs as text, in lines that YAML reads as comments: a recipe stays a recipe."""

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
"""GPUs of one machine of the paper (appendix B)."""
GPUS = (1, PAPER_GPUS, 2 * PAPER_GPUS)
"""Numbers of GPUs that memory is given for."""


def report(chain: Sequence[StageRun], command: str, gpus: int, nodes: int = 1) -> list[str]:
    """What each run of the chain costs, and the command; verl's is written for `nodes` machines with `gpus` each."""
    lines = []
    model, left = chain[0][0].model, remaining_stages(chain)
    for recipe, folder in chain:
        lines += ["", f"{recipe.name}: {recipe.stage} from {recipe.model}, in {folder}"]
        if finished(folder) or (recipe, folder) not in left:
            why = "its model" if finished(folder) else "a model trained from it"
            lines.append(f"  {why} is there already: nothing is run")
            continue
        tokens = tokens_of(recipe.model_copy(update={"model": model}))
        lines += [f"  {line}" for line in [*_tokens(recipe, tokens), *_memory(recipe, model, tokens)]]
    lines += ["", "command:", f"  {command}"]
    last, folder = chain[-1]
    if last.on_verl:
        where = "of one machine" if nodes == 1 else f"on each of {nodes} nodes of the Ray at RAY_ADDRESS"
        lines.append(f"which, with {gpus} GPU(s) {where}, writes what verl reads, and runs:")
        lines += [f"  {line}" for line in verl_command(last, folder, gpus, nodes)]
    return [f"# {line}".rstrip() for line in lines]


def verl_command(recipe: Recipe, folder: Path, gpus: int, nodes: int = 1) -> list[str]:
    """verl's own command for a shell, a word a line; the files that it names are written when the run starts."""
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
    """A word for a shell, in double quotes where these do: Hydra wants single ones around text."""
    return f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') else shlex.quote(word)


def _tokens(recipe: Recipe, tokens: Tokens) -> list[str]:
    what = "episodes" if recipe.stage == "grpo" else "examples"
    data = f"{tokens.pairs:,} pairs" if tokens.pairs is not None else f"{recipe.data.train} is not there yet"
    steps = f"{tokens.steps:,}" if tokens.steps is not None else "as many as the data have batches"
    lines = [f"data: {data}", f"steps: {steps}, of {tokens.examples:,} {what}"]
    lines.append(f"tokens of one: a prompt of {tokens.prompt:,} and a response of {tokens.response:,} at most")
    lines.append(f"tokens of a step: {_both(tokens, 1)}")
    if tokens.steps is not None:
        lines.append(f"tokens of the run: {_both(tokens, tokens.steps)}")
    return lines


def _both(tokens: Tokens, steps: int) -> str:
    """Prompt and response tokens of so many steps: at most, and as the data have it."""
    count = tokens.examples * steps
    text = f"{_short(tokens.prompt * count)} prompt and {_short(tokens.response * count)} response at most"
    if tokens.mean_prompt is not None:
        text += f"; {_short(tokens.mean_prompt * count)} prompt by the data ({tokens.counted_by})"
    return text


def _memory(recipe: Recipe, model: str, tokens: Tokens) -> list[str]:
    try:
        shape = shape_of(model)
    except UnknownShape as error:
        return [f"memory: {error}"]
    grpo = recipe.stage == "grpo"
    counts = GPUS[:1] if grpo and recipe.grpo.engine == "trl" else GPUS
    lines = [f"model: {shape.parameters / 1e9:.2f}B parameters ({shape.source})", "GiB on each GPU, at full length:"]
    lines += [_row(recipe, shape, gpus, tokens.longest) for gpus in counts]
    if grpo:
        lines.append("while sampling:")
        for gpus in counts:
            parts = cache(recipe, shape, gpus, tokens.longest)
            lines.append(
                f"  {gpus:2} GPU: weights {parts['weights']:.1f} + cache {parts['kv_cache']:.1f} if all were full"
            )
        if recipe.grpo.engine == "verl":
            lines.append(f"  vLLM takes {ROLLOUT_SHARE:.0%} of a GPU for both; what does not fit waits")
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
