"""GRPO on verl: writes what verl reads, runs its trainer as it is released, and follows its log into the run folder."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import yaml

from judge_r1.core.errors import TRY_AGAIN, JudgeError
from judge_r1.core.jsonl import write_atomic
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.episode.rollout import check_prompts
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import context_length, load_tokenizer, resolve
from judge_r1.training.checkpoints import checkpoints, mend_marker
from judge_r1.training.data.data_order import shuffled
from judge_r1.training.export.export_checkpoint import merge
from judge_r1.training.metric_names import from_verl
from judge_r1.training.recipe import Recipe, dump_recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.metrics_callback import Diverged
from judge_r1.training.verl.cluster_check import Machines, wait_for_nodes, watch_nodes
from judge_r1.training.verl.config import overrides
from judge_r1.training.verl.dataset import AGENT_NAME, write_parquet
from judge_r1.training.verl.rollout_log import RolloutReader, new_lines

SILENCE_SECONDS = 3600.0
"""verl prints lines at every step; a process that says nothing for so long hangs."""
SHARED_SECONDS = 120.0
"""How long a file that another node has written may take to show itself here (NFS keeps listings for a minute)."""
NOT_TRAINED_ON = ("training/filter_groups/evicted_samples", "training/filter_groups/discarded_surplus_samples")
"""Groups of a step that verl has replaced, and has played beyond what the step needs (dynamic sampling)."""
PLUGIN, CPU_PLUGIN = "judge_r1.training.verl.advantage", "judge_r1.training.verl.cpu"


class VerlFailed(JudgeError):
    """verl's trainer ended with an error; its log says why. A node may be gone: another try can do."""

    exit_status = TRY_AGAIN


def train_verl(
    recipe: Recipe, data_folder: Path, run: RunFolder, *, cpu: bool, nodes: int = 1, gpus_per_node: int | None = None
) -> None:
    """Train `recipe.model` on the pairs of `data_folder` and write `run.model`; goes on from the last checkpoint if
    there is one. `cpu` runs everything on the processor, else vLLM and GPUs are used: `gpus_per_node` (on a CPU: ranks)
    of this machine, all by default. Where RAY_ADDRESS is set, the Ray that runs there is used, and its nodes tell
    whether they have GPUs."""
    recipe, data = recipe.model_copy(update={"model": _lasting(resolve(recipe.model))}), load_pairs(data_folder)
    check(recipe, data)
    joins = "RAY_ADDRESS" in os.environ
    if joins:
        gpus = gpus_per_node or (1 if cpu else _gpus())
        seen = [data_folder, *([Path(recipe.model)] if Path(recipe.model).is_absolute() else [])]
        cpu = not wait_for_nodes(Machines(nodes, gpus), run.folder, seen).cuda
    else:
        gpus = gpus_per_node or (1 if cpu else _gpus())
        if not cpu and gpus > _gpus():
            raise JudgeError(f"--gpus-per-node {gpus}: this machine has {_gpus()}")
    command = prepare(recipe, data, data_folder, run, gpus=gpus, cpu=cpu, nodes=nodes, joins=joins)
    mend_marker(run.checkpoints)
    found = checkpoints(run.checkpoints)
    run.truncate_after(found[-1].step if found else 0)
    home = run.folder / "verl"
    reader = RolloutReader(home / "rollouts", data.by_id(), patience=SHARED_SECONDS if joins else 0.0)
    follow = LogFollower(run, home, reader, recipe)
    with watch_nodes() if joins else nullcontext(lambda: None) as lost:
        _run(command, run, environment(home, cpu), follow.update, lost)
    merge(run.folder, out=run.model)


def check(recipe: Recipe, data: PairSet) -> None:
    """Every prompt fits and the pairs fill a step; verl would leave out what does not, and say so in its log only."""
    if len(data.pairs) < recipe.grpo.pairs_per_step:
        raise JudgeError(
            f"recipe {recipe.name}: {len(data.pairs)} pairs do not fill one step of "
            f"grpo.pairs_per_step {recipe.grpo.pairs_per_step}"
        )
    check_prompts(data, recipe.episode, SafeTokenizer(load_tokenizer(recipe.model)), context_length(recipe.model))


def in_order(recipe: Recipe, data: PairSet) -> PairSet:
    """The pairs as the run will meet them, in whole epochs: the order that TRL's trainer is given."""
    count, wanted = len(data.pairs), recipe.grpo.steps * recipe.grpo.pairs_per_step
    order = shuffled(count, count * -(-wanted // count), recipe.seed)
    return PairSet(data.cases, [data.pairs[i] for i in order])


def prepare(
    recipe: Recipe,
    data: PairSet,
    data_folder: Path,
    run: RunFolder,
    *,
    gpus: int,
    cpu: bool,
    nodes: int = 1,
    joins: bool = False,
) -> list[str]:
    """Write the parquet file, the recipe for the workers and the agent loop's file; returns verl's command. `joins`:
    it is for a Ray that runs already."""
    home = (run.folder / "verl").absolute()
    shutil.rmtree(home, ignore_errors=True)  # of an earlier attempt: its rows are in the run's logs
    home.mkdir(parents=True)
    write_parquet(in_order(recipe, data), home / "train.parquet", recipe.episode)
    write_atomic(home / "recipe.yaml", [dump_recipe(recipe)])
    loop = {
        "name": AGENT_NAME,
        "_target_": "judge_r1.training.verl.agent_loop.JudgeAgentLoop",
        "recipe": str(home / "recipe.yaml"),
        "data": str(data_folder.absolute()),
        "rollouts": str(home / "rollouts"),
    }
    write_atomic(home / "agent_loops.yaml", [yaml.safe_dump([loop], sort_keys=False)])
    keys = overrides(
        recipe,
        train_parquet=home / "train.parquet",
        agent_loops=home / "agent_loops.yaml",
        checkpoints=run.checkpoints.absolute(),
        cpu=cpu,
        gpus=gpus,
        nodes=nodes,
        joins=settings(home, cpu) if joins else None,
    )
    return [sys.executable, "-m", "verl.trainer.main_ppo", *keys]


def environment(home: Path, cpu: bool) -> dict[str, str]:
    """This process's environment with what verl's processes find there besides."""
    return {**os.environ, **settings(home, cpu)}


def settings(home: Path, cpu: bool) -> dict[str, str]:
    """What verl's processes must find in their environment."""
    ours = {
        "VERL_USE_EXTERNAL_MODULES": CPU_PLUGIN if cpu else PLUGIN,
        "VERL_FILE_LOGGER_PATH": str((home / "metrics.jsonl").absolute()),
        "PYTHONUNBUFFERED": "1",
        "RAY_DEDUP_LOGS": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "TOKENIZERS_PARALLELISM": "false",
    }
    if cpu:
        ours |= {"VERL_PLATFORM": "cpu", "OMP_NUM_THREADS": "1"}
    return ours


class LogFollower:
    """Turns what verl and the rollout workers write down into rows of the run's logs, step by step."""

    def __init__(self, run: RunFolder, home: Path, rollouts: RolloutReader, recipe: Recipe) -> None:
        self.run, self.metrics, self.rollouts = run, home / "metrics.jsonl", rollouts
        self.size, self.steps = recipe.grpo.group_size, recipe.grpo.steps
        self.episodes = recipe.grpo.pairs_per_step * self.size
        self.redraws = recipe.grpo.dynamic_sampling  # verl then plays more groups than a step trains on
        self._read = 0

    def update(self) -> None:
        """Log the steps that verl has finished since the last call. Errors: `Diverged`; `VerlFailed` if episodes of a
        step never came back (verl fills their place and trains on)."""
        lines, self._read = new_lines(self.metrics, self._read)
        for line in lines:
            row = json.loads(line)
            step, metrics = row["step"], row["data"]
            wanted = self.episodes + self.size * sum(int(metrics.get(name) or 0) for name in NOT_TRAINED_ON)
            means, traces = self.rollouts.step(step, wanted)
            if metrics.get("actor/grad_norm", 0.0) is None:  # the log writes NaN as null
                raise Diverged(step, "grad_norm", self.run.folder)
            spare = means["rollout/episodes"] - wanted
            if spare < 0 or (spare and not self.redraws):
                raise VerlFailed(
                    f"step {step}: {means['rollout/episodes']:.0f} of {wanted} episodes came back; "
                    f"{self.run.folder / 'logs' / 'verl.log'} says what became of the others"
                )
            numbers = {key: value for key, value in metrics.items() if isinstance(value, int | float)}
            progress = {"step": step, "progress": step / self.steps}
            if self.redraws:
                means["rollout/groups_redrawn"] = metrics.get(NOT_TRAINED_ON[0], 0.0)
            self.run.log(progress | from_verl(numbers) | means)
            for trace in traces:
                self.run.trace(trace)


def _run(
    command: Sequence[str],
    run: RunFolder,
    env: dict[str, str],
    follow: Callable[[], None],
    lost: Callable[[], str | None] = lambda: None,
) -> None:
    """Run a command with its output in logs/verl.log, calling `follow` at each line of it; leaves no process behind.
    Errors: VerlFailed if it ends with an error, is silent for `SILENCE_SECONDS`, or `lost` gives a reason to stop."""
    log, home = run.folder / "logs" / "verl.log", run.folder / "verl"  # verl leaves files where it runs
    log.parent.mkdir(parents=True, exist_ok=True)
    home.mkdir(exist_ok=True)
    process = subprocess.Popen(
        command,
        cwd=home,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        close_fds=False,  # the run folder stays locked for as long as verl lives, even if this process is killed
    )
    heard = time.monotonic()
    finished = threading.Event()
    stopped: str | None = None

    def watch() -> None:
        nonlocal stopped
        while not finished.wait(1.0):
            silent = time.monotonic() - heard > SILENCE_SECONDS
            stopped = f"it said nothing for {SILENCE_SECONDS:.0f} s" if silent else lost()
            if stopped:
                _stop(process)
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        assert process.stdout is not None
        with log.open("ab") as out:
            for line in process.stdout:
                heard = time.monotonic()
                out.write(line)
                out.flush()
                follow()
        status = process.wait()
        follow()
    finally:
        finished.set()
        _stop(process)
    if stopped:
        raise VerlFailed(f"`{' '.join(command[1:3])}` was stopped, because {stopped}; what it did stands in {log}")
    if status:
        raise VerlFailed(
            f"`{' '.join(command[1:3])}` ended with status {status}; the reason stands in {log}:\n{_tail(log)}"
        )


def _stop(process: subprocess.Popen[Any]) -> None:
    """End a process group: politely, then not."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, sign)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            continue


def _tail(log: Path, lines: int = 8) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def _lasting(model: str) -> str:
    """A folder by its absolute path, since verl's processes run elsewhere; a hub name as it is."""
    return str(Path(model).absolute()) if Path(model).exists() else model


def _gpus() -> int:
    import torch

    if not torch.cuda.is_available():
        raise JudgeError("there is no GPU here: train with cpu=True")
    return torch.cuda.device_count()
