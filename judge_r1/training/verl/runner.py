"""GRPO on verl: writes verl's input files, runs its trainer as released, and follows its logs into the run folder."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.episode.questions import Question, question, question_keys
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.jsonl import write_atomic
from judge_r1.files.pair_set import PairSet, open_pairs
from judge_r1.files.strict_yaml import dump_yaml
from judge_r1.models.hub import load_tokenizer, resolve
from judge_r1.training.best_checkpoint import export_best, keep_if_best
from judge_r1.training.checkpoints import newest_whole, resume_verl_at
from judge_r1.training.data.training_pairs import check_data, dev_pairs, question_rows
from judge_r1.training.export_checkpoint import merge
from judge_r1.training.preemption import FILE_VARIABLE, StopRequest
from judge_r1.training.preflight.packages import node_checks
from judge_r1.training.recipe import DataConfig, Recipe, dump_recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.verl.cluster_check import Machines, wait_for_nodes, watch_nodes
from judge_r1.training.verl.config import check_names, overrides
from judge_r1.training.verl.dataset import AGENT_NAME, DEV, write_parquet
from judge_r1.training.verl.log_follower import LogFollower, ManifestThread
from judge_r1.training.verl.rollout_log import DEV_ROLLOUTS, RolloutReader
from judge_r1.training.verl.supervisor import EarlyStop, exit_on_sigterm, run_supervised

SHARED_SECONDS = 120.0
"""Seconds until a file of another node must be visible here (NFS caches directory listings for a minute)."""
PLUGIN, CPU_PLUGIN = "judge_r1.training.verl.advantage", "judge_r1.training.verl.cpu"
VLLM_CPU_DEFAULTS = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}


def train_verl(
    recipe: Recipe, data_folder: Path, run: RunFolder, *, cpu: bool, nodes: int = 1, gpus_per_node: int | None = None
) -> None:
    """Train `recipe.model` on the pairs of `data_folder` and write `run.model`, resuming from the last checkpoint.

    With `cpu`, ranks and rollouts run on the processor; otherwise verl uses vLLM and `gpus_per_node` GPUs (default: all
    of this machine). With RAY_ADDRESS set, verl joins that Ray cluster, whose nodes report whether they have GPUs.
    """
    with exit_on_sigterm():
        data = open_pairs(data_folder)
        recipe = recipe.model_copy(update={"model": _absolute(resolve(recipe.model))})
        given = recipe
        if (dev := dev_pairs(recipe, data)) is not None:
            recipe = recipe.model_copy(update={"data": _absolute_data(recipe.data)})
        check_data(recipe, data, SafeTokenizer(load_tokenizer(recipe.model)), dev)
        existing_ray = "RAY_ADDRESS" in os.environ
        gpus = gpus_per_node or (1 if cpu else _gpu_count())
        if existing_ray:
            shared = [
                data_folder,
                *([recipe.data.dev] if recipe.data.dev else []),
                *([Path(recipe.model)] if Path(recipe.model).is_absolute() else []),
            ]
            checks = node_checks(recipe, run.folder)
            cpu = not wait_for_nodes(Machines(nodes, gpus), run.folder, shared, checks=checks)
        elif not cpu and gpus > _gpu_count():
            raise JudgeError(f"--gpus-per-node {gpus}: this machine has {_gpu_count()}")
        command = prepare(
            recipe, data, data_folder, run, dev=dev, gpus=gpus, cpu=cpu, nodes=nodes, existing_ray=existing_ray
        )
        checkpoint = newest_whole(run.checkpoints, logged=run.last_step)
        resume_verl_at(run.checkpoints, checkpoint)
        run.truncate_after(checkpoint.step if checkpoint else 0)
        if dev is not None and checkpoint is not None:  # a kill may have come before its weights were kept
            keep_if_best(run, recipe, checkpoint)
        home = run.folder / "verl"
        wait_seconds = SHARED_SECONDS if existing_ray else 0.0
        swaps = recipe.grpo.swaps
        reader = RolloutReader(home / "rollouts", data.by_id(), wait_seconds=wait_seconds, swaps=swaps)
        dev_log = None if dev is None else RolloutReader(home / DEV_ROLLOUTS, dev.by_id(), wait_seconds=wait_seconds)
        evaluations = None if dev is None or dev_log is None else (dev_log, len(question_keys(dev, recipe.grpo.task)))
        follower = LogFollower(run, home, reader, recipe, evaluations)
        manifests = ManifestThread(run.checkpoints)

        def follow() -> None:
            follower.update()
            manifests.update()

        stop = EarlyStop(StopRequest(run.folder), lambda: follower.step)
        with watch_nodes() if existing_ray else nullcontext(lambda: None) as lost_node:
            try:
                run_supervised(command, run.folder, environment(home, cpu), follow, lost_node, stop)
            finally:
                manifests.finish()
        if dev is not None:
            export_best(run, given)
        if recipe.keep == "last":
            merge(run.folder, out=run.model)


def in_training_order(recipe: Recipe, data: PairSet) -> Iterator[Question]:
    """The questions in the order of training, in whole epochs. TRL trains in the same order."""
    by_id = data.by_id()
    return (question(key, by_id, seed=recipe.seed) for key in question_rows(recipe, data, whole_epochs=True))


def prepare(
    recipe: Recipe,
    data: PairSet,
    data_folder: Path,
    run: RunFolder,
    *,
    dev: PairSet | None = None,
    gpus: int,
    cpu: bool,
    nodes: int = 1,
    existing_ray: bool = False,
) -> list[str]:
    """Write the parquet files, the workers' recipe and the agent-loop file. Returns verl's command."""
    home = (run.folder / "verl").absolute()
    check_names(data_folder.absolute())
    for path in home.glob("*"):  # files of an earlier attempt, whose rows are in the run's logs
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    home.mkdir(parents=True, exist_ok=True)
    write_parquet(in_training_order(recipe, data), home / "train.parquet")
    if dev is not None:
        # Of a pair whose reasonings are scored alone, the row of the reference stands for both.
        keys = question_keys(dev, recipe.grpo.task)[:: 2 if recipe.grpo.task == "pointwise" else 1]
        by_id = dev.by_id()
        write_parquet((question(key, by_id) for key in keys), home / "dev.parquet", split=DEV)
    write_atomic(home / "recipe.yaml", [dump_recipe(recipe)])
    agent_loop = {
        "name": AGENT_NAME,
        "_target_": "judge_r1.training.verl.agent_loop.JudgeAgentLoop",
        "recipe": str(home / "recipe.yaml"),
        "data": str(data_folder.absolute()),
        "rollouts": str(home / "rollouts"),
    }
    write_atomic(home / "agent_loops.yaml", [dump_yaml([agent_loop])])
    keys = arguments(
        recipe, run.folder, dev=dev is not None, gpus=gpus, cpu=cpu, nodes=nodes, existing_ray=existing_ray
    )
    return [sys.executable, "-m", "verl.trainer.main_ppo", *keys]


def arguments(
    recipe: Recipe, folder: Path, *, dev: bool, gpus: int, cpu: bool, nodes: int, existing_ray: bool
) -> list[str]:
    """verl's arguments for a run in `folder`, whose files `prepare` writes."""
    home = (folder / "verl").absolute()
    return overrides(
        recipe,
        train_parquet=home / "train.parquet",
        dev_parquet=home / "dev.parquet" if dev else None,
        agent_loops=home / "agent_loops.yaml",
        checkpoints=(folder / "checkpoints").absolute(),
        cpu=cpu,
        gpus=gpus,
        nodes=nodes,
        cluster_variables=verl_variables(home, cpu) if existing_ray else None,
    )


def shell_command(recipe: Recipe, folder: Path, gpus: int, nodes: int = 1) -> list[str]:
    """verl's shell command, one argument per line. The files in it are written when the run starts."""
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


def environment(home: Path, cpu: bool) -> dict[str, str]:
    """This process's environment plus `verl_variables`."""
    return {**os.environ, **verl_variables(home, cpu)}


def verl_variables(home: Path, cpu: bool) -> dict[str, str]:
    """The environment variables that verl's processes need."""
    variables = {
        "VERL_USE_EXTERNAL_MODULES": CPU_PLUGIN if cpu else PLUGIN,
        "VERL_FILE_LOGGER_PATH": str((home / "metrics.jsonl").absolute()),
        FILE_VARIABLE: str(StopRequest(home.parent).file),
        # The supervisor takes a process that prints nothing for one that hangs.
        "PYTHONUNBUFFERED": "1",
        # The log keeps the reason of every lost episode, also where many are alike.
        "RAY_DEDUP_LOGS": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "TOKENIZERS_PARALLELISM": "false",
    }
    if cpu:
        variables |= {"VERL_PLATFORM": "cpu", "OMP_NUM_THREADS": "1"}
        # vLLM: gigabytes of key-value cache per replica, and no threads bound to cores that other replicas use
        variables |= {name: os.environ.get(name, value) for name, value in VLLM_CPU_DEFAULTS.items()}
    return variables


def _absolute(model: str) -> str:
    """The absolute path of a folder, because verl runs in another one; a hub name unchanged."""
    return str(Path(model).absolute()) if Path(model).exists() else model


def _absolute_data(data: DataConfig) -> DataConfig:
    return data.model_copy(update={"dev": data.dev and data.dev.absolute()})


def _gpu_count() -> int:
    import torch

    if not torch.cuda.is_available():
        raise JudgeError("there is no GPU here: train with cpu=True")
    return torch.cuda.device_count()
