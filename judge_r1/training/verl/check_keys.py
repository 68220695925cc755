"""Checks the keys of `grpo.verl` by composing verl's configuration with them, in a process of its own: importing verl
changes torch and transformers for the whole process."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import fields
from difflib import get_close_matches
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.training.recipe import Recipe
from judge_r1.training.verl.config import overrides

CHECK_SECONDS = 300.0
"""verl takes 10 seconds to import, and more on a busy machine."""
_FREE = ("ray_kwargs.ray_init",)
"""Sections that verl passes on as arguments."""


class BadVerlKey(JudgeError):
    """verl has no such key, or does not accept the value."""


def can_check() -> bool:
    """Whether verl is installed."""
    return importlib.util.find_spec("verl") is not None


def check_keys(recipe: Recipe, gpus: int, nodes: int) -> None:
    """Check `grpo.verl` of a recipe within the whole command line of verl, with `gpus` GPUs on each of `nodes`.

    Raises:
        BadVerlKey: verl does not know a key, its own checks fail, or it is not installed.
    """
    if not recipe.grpo.verl:
        return
    if not can_check():
        raise BadVerlKey(f"recipe {recipe.name}: grpo.verl needs verl: pip install 'judge-r1[verl]'")
    folder = Path("verl")
    arguments = overrides(
        recipe,
        train_parquet=folder / "train.parquet",
        dev_parquet=folder / "dev.parquet" if recipe.data.dev else None,
        agent_loops=folder / "agent_loops.yaml",
        checkpoints=folder / "checkpoints",
        cpu=False,
        gpus=gpus,
        nodes=nodes,
    )
    if problem := _problem(json.dumps([recipe.grpo.verl, arguments])):
        raise BadVerlKey(f"recipe {recipe.name}: grpo.verl: {problem}")


@lru_cache(maxsize=8)
def _problem(request: str) -> str:
    command = [sys.executable, "-m", __name__]
    # Importing verl loads the modules that this variable names, and the check needs none.
    environment = {**os.environ, "VERL_USE_EXTERNAL_MODULES": ""}
    done = subprocess.run(
        command, input=request, capture_output=True, text=True, timeout=CHECK_SECONDS, env=environment, check=False
    )
    if done.returncode:
        last = "".join(done.stderr.strip().splitlines()[-1:])
        raise JudgeError(f"verl's configuration could not be composed: {last}")
    return str(json.loads(done.stdout.splitlines()[-1]))


def problem_of(keys: Mapping[str, Any], arguments: Sequence[str]) -> str:
    """What verl finds wrong with the keys, as part of a sentence; empty if nothing. Imports verl."""
    for key, value in keys.items():
        if problem := _unknown(key, _shipped()) or _other_type(key, value, _shipped()):
            return problem
    try:
        config = composed(arguments)
        _validate(config)
    except Exception as error:  # of hydra, omegaconf and verl: assertions, ValueError, validation errors
        return f"verl refuses the configuration: {' '.join(str(error).split())}"
    return _impossible(config)


def composed(arguments: Sequence[str] = ()) -> Any:
    """verl's configuration with these arguments."""
    from hydra import compose, initialize_config_module

    with initialize_config_module("verl.trainer.config", version_base=None):
        return compose("ppo_trainer", overrides=list(arguments))


@cache
def _shipped() -> dict[str, Any]:
    from omegaconf import OmegaConf

    return dict(OmegaConf.to_container(composed(), resolve=False))


def _unknown(key: str, shipped: dict[str, Any]) -> str:
    """An error if neither verl's files nor its dataclasses have the key."""
    node: Any = shipped
    parts = key.split(".")
    for at, part in enumerate(parts):
        if ".".join(parts[:at]) in _FREE or (at and node == {}):
            return ""
        if not isinstance(node, dict) or not (part in node or part in _fields_of(node)):
            return f"{key} is no key of verl{_nearest(key, shipped)}"
        if part not in node:  # a field of the dataclass that verl's files leave out
            return ""
        node = node[part]
    return f"{key} is a section: give the keys below it" if isinstance(node, dict) and node else ""


def _other_type(key: str, value: Any, shipped: dict[str, Any]) -> str:
    """An error if a value is of another type than verl's default, which verl would find out in its workers."""
    default: Any = shipped
    for part in key.split("."):
        default = default.get(part) if isinstance(default, dict) else None
    if default is None or value is None or (isinstance(default, str) and "$" in default):
        return ""
    kinds: tuple[tuple[type, ...], ...] = ((bool,), (int, float), (str,), (list,))
    kind = next((kind for kind in kinds if isinstance(default, kind)), (object,))
    if isinstance(value, kind) and (isinstance(value, bool) == isinstance(default, bool)):
        return ""
    return f"{key} is {default!r} by default and cannot be {value!r}"


def _fields_of(node: Mapping[str, Any]) -> set[str]:
    from hydra.utils import get_class

    return {field.name for field in fields(get_class(node["_target_"]))} if "_target_" in node else set()


def _nearest(key: str, shipped: dict[str, Any]) -> str:
    known = list(_leaves(shipped))
    last = key.rpartition(".")[2]
    near = get_close_matches(key, known, n=1, cutoff=0.75) or [name for name in known if name.endswith(f".{last}")][:1]
    return f"; did you mean {near[0]}?" if near else ""


def _leaves(node: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for name, value in node.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{above}{name}.")
        elif name != "_target_":
            yield f"{above}{name}"


def _validate(config: Any) -> None:
    """verl's own checks, and the types of the sections that verl would read later, in its workers."""
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import omega_conf_to_dataclass, validate_config

    validate_config(config, use_reference_policy=need_reference_policy(config), use_critic=need_critic(config))
    omega_conf_to_dataclass(config.actor_rollout_ref.rollout)
    omega_conf_to_dataclass(config.algorithm)


def _impossible(config: Any) -> str:
    """Values that verl accepts, and that fail or have no effect when it trains."""
    parts = config.actor_rollout_ref
    gpus = config.trainer.n_gpus_per_node * config.trainer.nnodes
    sizes = {
        "rollout.tensor_model_parallel_size": parts.rollout.tensor_model_parallel_size,
        "actor.ulysses_sequence_parallel_size": parts.actor.ulysses_sequence_parallel_size,
        "actor.fsdp_config.fsdp_size": max(parts.actor.fsdp_config.fsdp_size, 1),
    }
    for name, size in sizes.items():
        if size < 1 or gpus % size:
            return f"actor_rollout_ref.{name} {size} does not divide the {gpus} GPUs of the run"
    if not 0 < parts.rollout.gpu_memory_utilization <= 1:
        return (
            f"actor_rollout_ref.rollout.gpu_memory_utilization {parts.rollout.gpu_memory_utilization} is no share of a "
            "GPU: choose a number above 0 and at most 1"
        )
    longest = config.data.max_prompt_length + config.data.max_response_length
    fits = parts.actor.ppo_max_token_len_per_gpu * parts.actor.ulysses_sequence_parallel_size
    if parts.actor.use_dynamic_bsz and fits < longest:
        return (
            f"actor_rollout_ref.actor.ppo_max_token_len_per_gpu {parts.actor.ppo_max_token_len_per_gpu} is too small: "
            f"the longest prompt and episode have {longest} tokens"
        )
    if parts.rollout.max_model_len and parts.rollout.max_model_len < longest:
        return (
            f"actor_rollout_ref.rollout.max_model_len {parts.rollout.max_model_len} is too small: "
            f"the longest prompt and episode have {longest} tokens"
        )
    correction = config.algorithm.rollout_correction
    if correction.bypass_mode and (correction.rollout_is or correction.rollout_rs):
        return (
            "algorithm.rollout_correction.rollout_is and rollout_rs have no effect with bypass_mode, which uses the "
            "sampler's log-probabilities as the old ones: set one of them"
        )
    return ""


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):  # verl prints while it checks
        answer = problem_of(*json.load(sys.stdin))
    print(json.dumps(answer))
