"""Checks the packages and the NVIDIA driver of this environment, before a run waits hours in a queue to fail.

    for problem in problems(needed(recipe, gpu=True)):
        print(problem)  # "vllm is not installed, and verl samples with it: use the environment of …"

A check is a function without arguments that returns None, or one sentence that says what is wrong and what to do. A new
one is a function and a line in `CHECKS`. `doctor`, `train` and the node check share them: `train` raises the sentences,
`doctor` prints them, and a node of a cluster sends them to the one that starts the run.
"""

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from judge_r1.core.errors import JudgeError
from judge_r1.core.version import installed
from judge_r1.models.shape import UnknownShape, shape_of
from judge_r1.training.cost_estimate import checkpoint_bytes
from judge_r1.training.recipe import Recipe, Tracker

MINIMUM_DRIVER = {12: 525, 13: 580}
"""The oldest driver for each major version of CUDA (table 2 of NVIDIA's CUDA compatibility guide)."""
SETUP = "use the environment of `make setup-gpu` or of the Dockerfile"
SMI_SECONDS = 30.0


class NotReady(JudgeError):
    """The environment cannot train the recipe."""


def driver() -> str | None:
    """Checks that the NVIDIA driver is new enough for torch's CUDA. Passes without a driver or with a CPU build."""
    cuda, found = torch_cuda(), driver_version()
    if cuda is None or found is None:
        return None
    needed = MINIMUM_DRIVER.get(int(cuda.split(".")[0]), max(MINIMUM_DRIVER.values()))
    if int(found.split(".")[0]) >= needed:
        return None
    return f"torch is built for CUDA {cuda}, which needs the NVIDIA driver {needed} or newer, not {found}: update it"


def flash_attention() -> str | None:
    """Checks that flash-attn, verl's default attention, is installed and fits the installed torch."""
    if installed("flash-attn") is None:
        return f"flash-attn is not installed, and verl attends with it: {SETUP}, which compile it for their torch"
    # Its metadata do not say for which torch it was compiled: only the import tells.
    try:
        import_module("flash_attn")
    except Exception as error:  # an extension that was compiled for another torch fails in several ways
        why = (str(error).strip().splitlines() or [type(error).__name__])[0]
        found = f"flash-attn {installed('flash-attn')} cannot be imported ({why})"
        return f"{found}: compile it for torch {installed('torch')}"
    return None


def vllm() -> str | None:
    """Checks that vLLM, which samples the episodes of verl, is installed."""
    return None if installed("vllm") else f"vllm is not installed, and verl samples with it: {SETUP}"


def deepspeed() -> str | None:
    """Checks that DeepSpeed, which shards SFT and DPO (zero2, zero3), is installed."""
    if installed("deepspeed"):
        return None
    fix = "DS_BUILD_OPS=0 pip install 'judge-r1[deepspeed]'"
    return f"deepspeed is not installed, and recipes with zero2 or zero3 need it: {fix}"


def tracker(name: str) -> str | None:
    """Checks that a tracker of the recipe is installed."""
    return None if installed(name) else f"tracker {name} is not installed: pip install 'judge-r1[{name}]'"


GPU_CHECKS: Mapping[str, Callable[[], str | None]] = MappingProxyType(
    {"driver": driver, "flash-attn": flash_attention, "vllm": vllm, "deepspeed": deepspeed}
)
CHECKS: Mapping[str, Callable[[], str | None]] = MappingProxyType(
    {**GPU_CHECKS, **{name: partial(tracker, name) for name in get_args(Tracker)}}
)


def needed(recipe: Recipe, *, gpu: bool) -> list[str]:
    """The names of the checks that apply to a recipe, on GPUs or on the processor."""
    names = ["driver"] if gpu else []
    if recipe.on_verl and gpu:
        names += ["flash-attn", "vllm"]
    return [*names, *(["deepspeed"] if recipe.deepspeed else []), *recipe.trackers]


def problems(names: Sequence[str]) -> list[str]:
    """The sentences of the named checks that fail."""
    return [problem for name in names if (problem := CHECKS[name]())]


def check_environment(recipes: Sequence[Recipe]) -> None:
    """Check this machine before it trains `recipes`. A machine of a Ray cluster is checked by the node check.

    Raises:
        NotReady: A package is missing or does not fit, or the driver is too old.
    """
    # A login node may have the GPU build of torch and no GPU: it is no machine that trains on GPUs. Without a recipe,
    # torch is not imported, which takes a second.
    gpu = bool(recipes) and for_gpus() and driver_version() is not None
    for recipe in recipes:
        if found := problems(needed(recipe, gpu=gpu)):
            raise NotReady(f"recipe {recipe.name}: {'; '.join(found)}")


def described(recipes: Sequence[Recipe], *, gpu: bool) -> list[str]:
    """The state of this environment for `recipes`, one line per failed check, for --dry-run. `gpu`: judge it as an
    environment for GPUs, although its torch may be a CPU build."""
    gpu = gpu or for_gpus()
    names = list(dict.fromkeys(name for recipe in recipes for name in needed(recipe, gpu=gpu)))
    found = problems(names)
    if not gpu:
        found.append("torch is a CPU build: repeat --dry-run, or run doctor, in the environment of the GPU nodes")
    return found or [f"passed: {', '.join(names)}"]


def for_gpus() -> bool:
    """Whether this environment is for GPUs: its torch is built with CUDA, whether or not the machine has a GPU."""
    return torch_cuda() is not None


def torch_cuda() -> str | None:
    """The version of CUDA that torch is built for; None for a CPU build or without torch."""
    if installed("torch") is None:
        return None
    import torch

    return torch.version.cuda


@cache
def driver_version() -> str | None:
    """The version of the NVIDIA driver, as nvidia-smi prints it; None without one."""
    if shutil.which("nvidia-smi") is None:
        return None
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SMI_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    # One line per GPU, all with the same version. Where the driver is broken, nvidia-smi prints a sentence instead.
    lines = done.stdout.split()
    return lines[0] if done.returncode == 0 and lines and lines[0][0].isdigit() else None


def node_checks(recipe: Recipe, run_folder: Path) -> dict[str, Any]:
    """The checks of one node. `gpu_packages` apply to nodes whose torch is built for CUDA."""
    on_processor = needed(recipe, gpu=False)
    files: list[tuple[str, list[Any]]] = [("tokenizer", [recipe.model]), ("weights", [recipe.model])]
    if recipe.episode.effective_budget.max_searches and recipe.stage != "dpo":  # which samples no episodes
        files.append(("embedder", [recipe.episode.retriever]))
    with suppress(UnknownShape):  # an architecture without an estimate
        saved = sum(path.stat().st_size for path in (run_folder / "checkpoints").rglob("*") if path.is_file())
        wanted = checkpoint_bytes(recipe, shape_of(recipe.model)) - saved
        files.append(("disk", [str(run_folder.absolute()), wanted]))
    return {
        "packages": on_processor,
        "gpu_packages": [name for name in needed(recipe, gpu=True) if name not in on_processor],
        "files": files,
    }
