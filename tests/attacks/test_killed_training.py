"""Kills training at random moments and damages its newest checkpoint: the resumed run has the weights of a calm one."""

import importlib
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
import torch
from factories import mini_pairs
from process_faults import Finished, command, forked, short_and_long
from safetensors.torch import load_file
from turn_recipes import turn_recipe

from data_builders.build import write_pairs
from judge_r1.core.run_log import read_rows
from judge_r1.models.hub import load_model
from judge_r1.training.recipe import dump_recipe

ROUNDS, LONG_ROUNDS = 1, 60
"""Runs that are killed, in the short and in the long form."""
KILLS = 3
"""Kills of each run."""
STEPS = 8
SMALL = ("sft.batch_size=4", "sft.micro_batch_size=4", f"sft.max_steps={STEPS}", "save_every=1")


@dataclass(frozen=True)
class WholeRun:
    """A run that nothing interrupts: its recipe file, its folder and the seconds of its steps."""

    recipe: Path
    folder: Path
    seconds: float


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> WholeRun:
    for module in ("trl.trainer.sft_trainer", "data_builders.rationales.rules", "judge_r1.training.pipeline",
                   "judge_r1.training.trl.resume", "judge_r1.training.trl.sft"):  # fmt: skip
        importlib.import_module(module)  # so that forks start at once
    load_model("bundled:tiny")
    root = tmp_path_factory.mktemp("training")
    write_pairs(mini_pairs(16), root / "data")
    recipe = root / "recipe.yaml"
    recipe.write_text(dump_recipe(turn_recipe("sft", root / "data", *SMALL)))
    done = forked(command("train", recipe, "--out", root / "run"))
    assert done.returncode == 0, done.stderr
    rows = read_rows(root / "run" / "metrics.jsonl")
    return WholeRun(recipe, root / "run", sum(row.get("time/step", 0.0) for row in rows))


def killed_at(work: Callable[[], None], folder: Path, step: int, delay: float) -> Finished:
    """Run `work` in a fork that kills itself some seconds after it has logged a step of the run in `folder`."""
    metrics = folder / "metrics.jsonl"

    def kill() -> None:
        while step and (not metrics.exists() or metrics.read_bytes().count(b"\n") < step):
            time.sleep(0.001)
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGKILL)

    def run() -> None:
        threading.Thread(target=kill, daemon=True).start()
        work()

    return forked(run)


def damage(folder: Path, random: Random) -> str | None:
    """Cut a file of the newest checkpoint, as a loss of power may. Returns its name; None without a checkpoint."""
    newest = max((folder / "checkpoints").glob("checkpoint-*"), key=lambda path: int(path.name[11:]), default=None)
    if newest is None or not (files := sorted(path for path in newest.iterdir() if path.is_file())):
        return None
    file = random.choice(files)
    content = file.read_bytes()
    file.write_bytes(content[: random.randrange(len(content) + 1)])
    return file.name


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("rounds", short_and_long(ROUNDS, LONG_ROUNDS))
def test_killed_training_ends_with_the_same_weights(
    rounds: int, whole: WholeRun, tmp_path: Path, attacks: Callable[[str, int], None]
) -> None:
    expected = load_file(whole.folder / "model" / "model.safetensors")
    for number in range(rounds):
        random, folder, kills, damages = Random(number), tmp_path / f"run{number}", 0, 0
        work = command("train", whole.recipe, "--out", folder)
        for step in sorted(random.randrange(STEPS) for _ in range(KILLS)):
            done = killed_at(work, folder, step, random.uniform(0, 2) * whole.seconds / STEPS)
            assert done.killed or done.returncode == 0, done.stderr
            kills += done.killed
            if done.killed and random.random() < 0.5:
                damages += damage(folder, random) is not None
        assert kills
        done = forked(work)
        assert done.returncode == 0, done.stderr
        actual = load_file(folder / "model" / "model.safetensors")
        assert actual.keys() == expected.keys()
        assert all(torch.equal(tensor, expected[name]) for name, tensor in actual.items()), f"round {number}"
        steps = [row["step"] for row in read_rows(folder / "metrics.jsonl") if "progress" in row]
        assert steps == list(range(1, STEPS + 1))
        assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]
        attacks("kill -9 of a training", kills)
        attacks("damaged checkpoint after a kill", damages)
