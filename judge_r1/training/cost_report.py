"""Formats the cost estimate of a recipe's stages as YAML comments, so that the dry-run output is still a recipe."""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import counted
from judge_r1.episode.config import is_server
from judge_r1.training.checkpoints import checkpoints
from judge_r1.training.cost_estimate import (
    BANDWIDTH,
    COMPUTE,
    FULL,
    LOOKUP_SECONDS,
    NETWORK,
    TYPICAL,
    Gpu,
    Machine,
    Tokens,
    UnknownShape,
    cache,
    capacity,
    checkpoint_bytes,
    embeds_on_processor,
    lengths,
    memory,
    query_seconds,
    sampling,
    shape_of,
    step_seconds,
    tokens_of,
    typical_lengths,
    verl_key,
)
from judge_r1.training.cost_estimate import GPUS as KNOWN_GPUS
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import finished, refuse_other_run
from judge_r1.training.stage_graph import StageRun, remaining_stages

PAPER_GPUS = 8
"""GPUs per machine in the paper (appendix B)."""
GPUS = (1, PAPER_GPUS, 2 * PAPER_GPUS)
"""Numbers of GPUs for which memory is estimated."""
PLANNED = Machine(KNOWN_GPUS["H100"], PAPER_GPUS, 2)
"""Where the seconds of GRPO are estimated if no GPU is named."""


def report(
    stages: Sequence[StageRun],
    command: str,
    gpus: int,
    nodes: int = 1,
    gpu: Gpu | None = None,
) -> list[str]:
    """The cost of each stage, and the command. verl's command is for `nodes` machines with `gpus` GPUs each. With
    `gpu`, memory is compared with that GPU's, and seconds are estimated."""
    lines = []
    model, todo = stages[0][0].model, remaining_stages(stages)
    for recipe, folder in stages:
        lines += ["", f"{recipe.name}: {recipe.stage} from {recipe.model}, in {folder}"]
        try:
            if (recipe, folder) in todo:
                refuse_other_run(folder, recipe)
        except JudgeError as error:
            lines.append(f"  not possible: {error}")
        else:
            if finished(folder) or (recipe, folder) not in todo:
                why = "its model" if finished(folder) else "a model trained from it"
                lines.append(f"  {why} exists already: this stage is skipped")
                continue
        if saved := checkpoints(folder / "checkpoints", recipe.updates):
            lines.append(f"  continues after step {saved[-1].step}; the costs are those of the whole run")
        tokens = tokens_of(recipe.model_copy(update={"model": model}))
        machine = gpu and Machine(gpu, gpus, nodes)
        parts = *_tokens(recipe, tokens), *_memory(recipe, model, tokens, gpu)
        lines += [f"  {line}" for line in (*parts, *_seconds(recipe, model, tokens, machine))]
    lines += ["", "command:", f"  {command}"]
    last, folder = stages[-1]
    if nodes == 1:
        engine = " grpo.engine=verl" if last.stage == "grpo" and not last.on_verl else ""
        lines += [
            "on two nodes (`nodes: 2` in the cluster file; add --nodes 2 --gpus-per-node N here to estimate them):",
            f"  judge-r1 launch RECIPE --cluster clusters/slurm.yaml{engine}",
        ]
    if last.on_verl:
        where = "of one machine" if nodes == 1 else f"on each of {nodes} nodes of the Ray cluster at RAY_ADDRESS"
        lines.append(f"With {counted(gpus, 'GPU')} {where}, it writes verl's input files and runs:")
        lines += [f"  {line}" for line in verl_command(last, folder, gpus, nodes)]
    return [f"# {line}".rstrip() for line in lines]


def verl_command(recipe: Recipe, folder: Path, gpus: int, nodes: int = 1) -> list[str]:
    """verl's shell command, one argument per line. The files in it are written when the run starts."""
    from judge_r1.training.verl.runner import arguments, environment

    home = (folder / "verl").absolute()
    local = recipe.start is not None or Path(recipe.model).exists()
    model = str(Path(recipe.model).absolute()) if local else recipe.model
    given, dev = recipe.model_copy(update={"model": model}), recipe.data.dev is not None
    keys = arguments(given, folder, dev=dev, gpus=gpus, cpu=False, nodes=nodes, existing_ray=nodes > 1)
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
    lines = [f"data: {data}"]
    if recipe.data.dev:
        missing = "" if Path(recipe.data.dev).exists() else ", which does not exist yet"
        lines.append(f"evaluation: every {recipe.eval_every or recipe.save_every} steps on {recipe.data.dev}{missing}")
    lines += [f"steps: {steps}, of {tokens.examples:,} {what}"]
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


def _memory(recipe: Recipe, model: str, tokens: Tokens, gpu: Gpu | None) -> list[str]:
    try:
        shape = shape_of(model)
    except UnknownShape as error:
        return [f"memory: {error}"]
    grpo = recipe.stage == "grpo"
    counts = GPUS[:1] if grpo and recipe.grpo.engine == "trl" else GPUS
    lines = [f"model: {_short(shape.parameters)} parameters ({shape.source})", "GiB per GPU, at full length:"]
    lines += [_row(gpus, memory(recipe, shape, gpus, tokens.longest), gpu) for gpus in counts]
    disk = checkpoint_bytes(recipe, shape) / 1e9
    lines.append(f"disk: {disk:.{0 if disk >= 1 else 3}f} GB for checkpoints and model")
    if grpo:
        lines.append("while sampling:")
        for gpus in counts:
            parts = cache(recipe, shape, gpus, tokens.longest)
            lines.append(f"  {gpus:2} GPU: weights {parts['weights']:.1f} + cache {parts['kv_cache']:.1f} when full")
        if recipe.grpo.engine == "verl":
            share = verl_key(recipe, "utilisation")
            lines.append(f"  vLLM uses {share:.0%} of a GPU for both; episodes that do not fit wait")
            if gpu is not None:
                lines += [_row(gpus, sampling(recipe, shape, gpu, gpus), gpu) for gpus in counts]
                fit = capacity(recipe, shape, gpu, tokens.prompt, tokens.response)
                lines.append(f"  a replica on {gpu.name} holds {fit:.0f} episodes of full length at once")
    return lines


def _row(gpus: int, parts: Mapping[str, float], gpu: Gpu | None) -> str:
    total = sum(parts.values())
    fits = "" if gpu is None else f"; {'fits' if total <= gpu.memory else 'too much for'} {gpu.name} ({gpu.memory:.0f})"
    listed = " + ".join(f"{name} {size:.1f}" for name, size in parts.items() if size)
    return f"  {gpus:2} GPU: {total:.1f} = {listed}{fits}"


def _seconds(recipe: Recipe, model: str, tokens: Tokens, machine: Machine | None) -> list[str]:
    """Seconds per step by stage, at a typical and at the full length."""
    if recipe.stage == "grpo" and not recipe.on_verl:
        return ["seconds per step: estimated for SFT, DPO and GRPO on verl only"]
    if machine is None and recipe.stage != "grpo":
        return ["seconds per step: add --gpu H100 (or A100, H200, B200) to estimate them"]
    assumed = machine is None
    machine = machine or PLANNED
    try:
        shape = shape_of(model)
    except UnknownShape:
        return []
    both = typical_lengths(recipe, tokens), lengths(recipe, tokens.prompt, FULL)
    typical, full = (step_seconds(recipe, shape, machine, one) for one in both)
    totals = [sum(stage.seconds for stage in stages) for stages in (typical, full)]
    where = f"{machine.nodes} x {machine.gpus} {machine.gpu.name}"
    lines = [f"seconds per step on {where} (ESTIMATED from peak speeds; typical, and at most):"]
    for one, other in zip(typical, full, strict=True):
        lines.append(f"  {one.name:35} {one.seconds:7.1f} {other.seconds:8.1f}  {one.limit}")
    lines.append(f"  {'together':35} {totals[0]:7.1f} {totals[1]:8.1f}")
    worst = max(typical, key=lambda stage: stage.seconds)
    lines.append(f"bottleneck: {worst.name}, {worst.seconds / totals[0]:.0%} of a step, limited by {worst.limit}")
    if assumed:
        lines.append("machine: this one has no GPU of the table; change it with --gpu, --gpus-per-node and --nodes")
    lines += _assumptions(recipe, tokens, machine)
    if tokens.steps is not None:
        hours = [f"{tokens.steps * total / 3600:.1f}" for total in totals]
        lines.append(f"hours for {tokens.steps:,} steps (ESTIMATED): {hours[0]} typical, {hours[1]} at full length")
    return lines


def _assumptions(recipe: Recipe, tokens: Tokens, machine: Machine) -> list[str]:
    """The inputs of the seconds that no run on these GPUs has measured."""
    source = "the mean of the data" if tokens.mean_prompt is not None else "the longest, as there are no data"
    lines = [
        f"assumed: {COMPUTE:.0%} of peak TFLOPS, {BANDWIDTH:.0%} of memory bandwidth, {NETWORK:.0%} of the networks",
        f"assumed: prompts of {tokens.mean_prompt or tokens.prompt:,.0f} tokens ({source}), and typically "
        f"{TYPICAL:.0%} of the response budget and of the searches",
    ]
    if recipe.stage == "grpo" and recipe.episode.effective_budget.max_searches and is_server(recipe.episode.retriever):
        lines.append("assumed: the retrieval server embeds queries in no time")
    elif recipe.stage == "grpo" and recipe.episode.effective_budget.max_searches:
        one, where = query_seconds(recipe, machine), "a core" if embeds_on_processor(recipe) else "the GPU"
        workers = recipe.grpo.agent_workers(machine.total)
        lines.append(
            f"assumed: {1e3 * one:.1f} ms on {where} to embed a query, {1e3 * LOOKUP_SECONDS:.1f} ms to search its "
            f"case, in {counted(workers, 'process')}"
        )
    return lines


def _short(count: float) -> str:
    """12.3k, 4.56M, 7.89B."""
    for size, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return f"{count:.0f}"
