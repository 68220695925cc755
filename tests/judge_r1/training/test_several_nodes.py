"""Two nodes on one machine, by torchrun and by Ray: they train the model of one process, and resume after a loss."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_server import TRAINING, Command
from command_server import start as start_command
from paths import RECIPES
from test_distributed import assert_same_training
from turn_recipes import Runs, turn_recipe
from two_nodes import free_port, two_nodes

from judge_r1.core.errors import TRY_AGAIN, JudgeError
from judge_r1.training import ray_launcher
from judge_r1.training.checkpoints import checkpoints
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import Recipe, dump_recipe, load_recipe
from judge_r1.training.resources import Resources


def torchrun(recipe: Recipe, run: Path) -> None:
    """Train on two nodes of torchrun with one process each."""
    file = run.with_suffix(".yaml")
    file.write_text(dump_recipe(recipe))
    command = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--master-addr", "127.0.0.1"]
    command += ["--master-port", str(free_port()), "--nproc-per-node", "1"]
    train = ["-m", "judge_r1.cli", "train", str(file), "--out", str(run)]
    nodes = [
        subprocess.Popen([*command, "--node-rank", str(rank), *train], stderr=subprocess.PIPE, text=True)
        for rank in (0, 1)
    ]
    try:
        said = [node.communicate(timeout=600)[1] for node in nodes]
        assert [node.returncode for node in nodes] == [0, 0], said
    finally:
        for node in nodes:
            node.kill()


def launcher(log: Path, *arguments: str | Path, **environment: str) -> Command:
    return start_command(*arguments, log=log, env={"COLUMNS": "400"} | environment, modules=TRAINING)


def test_all_nodes_must_see_the_dev_pairs(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process reads them, so a node without them would end the run after all had started."""

    def check(machines: object, folder: Path, paths: Sequence[Path], **checks: object) -> None:
        seen.extend(paths)
        raise JudgeError("far enough")

    seen: list[Path] = []
    monkeypatch.setattr(ray_launcher, "wait_for_nodes", check)
    recipe = load_recipe(RECIPES / "mini" / "warmup.yaml", [f"data.train={data}", f"data.dev={data / 'dev'}"])
    with pytest.raises(JudgeError, match="far enough"):
        ray_launcher.launch_on_ray(recipe, tmp_path, 2, 1)
    assert seen[:2] == [data, data / "dev"]


def await_checkpoint(run: Path, started: Command) -> None:
    deadline = time.monotonic() + 400
    while not any(each.has_manifest for each in checkpoints(run / "checkpoints")):
        assert started.poll() is None, started.said()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_two_nodes_train_the_same_model_as_one_process(trained: Runs, tmp_path: Path) -> None:
    recipe, one = trained("sft")
    torchrun(recipe, tmp_path / "two")
    assert_same_training(tmp_path / "two", one)
    assert not (tmp_path / "two" / ".examples").exists()
    assert (tmp_path / "two" / "examples.json").read_text() == (one / "examples.json").read_text()


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_ray_cluster_of_two_nodes_trains_and_survives_the_loss_of_one(data: Path, tmp_path: Path) -> None:
    """The command that `launch` runs on every kind of cluster: it places a launcher on each node."""
    recipe, run = turn_recipe("sft", data, "sft.max_steps=12"), tmp_path / "run"
    file = tmp_path / "recipe.yaml"
    file.write_text(dump_recipe(recipe))
    command = ["train", file, "--nodes", "2", "--gpus-per-node", "1", "--out", run]
    with tempfile.TemporaryDirectory(prefix="j2s") as folder, two_nodes(Path(folder)) as cluster:
        environment = cluster.environment | {"RAY_ADDRESS": f"127.0.0.1:{cluster.gcs}"}
        first = launcher(tmp_path / "first.log", *command, **environment)
        await_checkpoint(run, first)
        cluster.kill(cluster.nodes[1])
        said = first.said(300)
        assert first.returncode == TRY_AGAIN, said
        print(said)
        cluster.worker()  # a scheduler would start a replacement
        second = launcher(tmp_path / "second.log", *command, **environment)
        said = second.said(600)
        assert second.returncode == 0, said
    run_recipe(recipe, tmp_path / "one", Resources(1))
    assert_same_training(run, tmp_path / "one")


@pytest.mark.slow
def test_a_user_error_on_a_ray_cluster_is_one_line(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "recipe.yaml"
    file.write_text(dump_recipe(turn_recipe("sft", data, "episode.prompt_tokens=20")))
    command = ["train", file, "--nodes", "2", "--gpus-per-node", "1", "--out", tmp_path / "run"]
    with tempfile.TemporaryDirectory(prefix="j2s") as folder, two_nodes(Path(folder)) as cluster:
        environment = cluster.environment | {"RAY_ADDRESS": f"127.0.0.1:{cluster.gcs}"}
        run = launcher(tmp_path / "log", *command, **environment)
        said = run.said(300)
    assert run.returncode == 2, said
    assert "process 0 of 2 failed: pair" in said
