"""Two launchers on one machine as two nodes: they train the same model as one process, and fail and resume together."""

import os
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_server import TRAINING, Command
from command_server import start as start_command
from paths import RECIPES
from test_distributed import alive, assert_same_training
from turn_recipes import Runs, timeless, turn_recipe, weights
from two_nodes import family, free_ports, two_nodes

from judge_r1.core.errors import TRY_AGAIN, JudgeError
from judge_r1.core.run_log import read_rows
from judge_r1.training import ray_launcher
from judge_r1.training.checkpoints import checkpoints
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import Recipe, dump_recipe, load_recipe
from judge_r1.training.resources import Resources, check_resources


def start(recipe: Recipe, run: Path, rank: int, port: int, *, processes: int = 1) -> Command:
    """Start the command of one node."""
    file = run.with_name(f"{run.name}-{rank}.yaml")
    file.write_text(dump_recipe(recipe))
    place = ["--nodes", "2", "--node-rank", str(rank), "--master", f"127.0.0.1:{port}", "--processes", str(processes)]
    return launcher(file.with_suffix(".log"), "train", file, "--out", run, *place)


def launcher(log: Path, *arguments: str | Path, **environment: str) -> Command:
    return start_command(*arguments, log=log, env={"COLUMNS": "400"} | environment, modules=TRAINING)


def failures(nodes: Sequence[Command]) -> list[str]:
    """What the nodes that have ended have written."""
    return [node.said() for node in nodes if node.poll() is not None]


@contextmanager
def two_launchers(recipe: Recipe, run: Path, *, processes: int = 1) -> Iterator[list[Command]]:
    """The commands of both nodes. Whatever still runs at the end is killed."""
    [port] = free_ports(1)
    nodes = [start(recipe, run, rank, port, processes=processes) for rank in (0, 1)]
    try:
        yield nodes
    finally:
        for node in nodes:
            for pid in family(node.pid) if node.poll() is None else ():
                os.kill(pid, signal.SIGKILL)
            node.wait(30)


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


def train(recipe: Recipe, run: Path, *, processes: int = 1) -> None:
    with two_launchers(recipe, run, processes=processes) as nodes:
        said = [node.said(600) for node in nodes]
        assert [node.returncode for node in nodes] == [0, 0], said


def await_checkpoint(run: Path, nodes: list[Command]) -> None:
    deadline = time.monotonic() + 400
    while not any(each.has_manifest for each in checkpoints(run / "checkpoints")):
        assert all(node.poll() is None for node in nodes), failures(nodes)
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_two_nodes_train_the_same_model_as_one_process(trained: Runs, tmp_path: Path) -> None:
    recipe, one = trained("sft")
    train(recipe, tmp_path / "two")
    assert_same_training(tmp_path / "two", one)
    assert not (tmp_path / "two" / ".examples").exists()
    assert (tmp_path / "two" / "traces.json").read_text() == (one / "traces.json").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stage", "changes", "processes"),
    [
        ("dpo", (), 1),
        ("sft", ("sft.micro_batch_size=1",), 2),
        ("sft", ("deepspeed=zero3",), 1),
        ("dpo", ("deepspeed=zero3",), 1),
    ],
    ids=str,
)
def test_several_nodes_train_the_same_model_as_one_process(
    stage: str, changes: tuple[str, ...], processes: int, data: Path, tmp_path: Path
) -> None:
    if any("deepspeed" in change for change in changes):
        pytest.importorskip("deepspeed")
    run_recipe(turn_recipe(stage, data), tmp_path / "one", Resources(1))
    train(turn_recipe(stage, data, *changes), tmp_path / "several", processes=processes)
    assert_same_training(tmp_path / "several", tmp_path / "one")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("changes", [(), ("deepspeed=zero3",)], ids=str)
@pytest.mark.parametrize("victim", [0, 1], ids=["first node", "second node"])
def test_a_lost_node_ends_the_other_and_the_run_resumes(
    changes: tuple[str, ...], victim: int, data: Path, tmp_path: Path
) -> None:
    """All processes of a node are killed after a checkpoint. The resumed run gives the same weights as a whole one."""
    import torch

    if changes:
        pytest.importorskip("deepspeed")
    recipe, run = turn_recipe("sft", data, "sft.max_steps=12", *changes), tmp_path / "run"
    with two_launchers(recipe, run) as nodes:
        await_checkpoint(run, nodes)
        killed, survivor = nodes[victim], nodes[1 - victim]
        others = family(survivor.pid)
        for pid in family(killed.pid):
            os.kill(pid, signal.SIGKILL)
        gone = time.monotonic()
        said = survivor.said(200)
        print("seconds until the other node ended:", round(time.monotonic() - gone, 1), said)
        assert survivor.returncode == TRY_AGAIN, said
        time.sleep(2)
        assert not any(alive(pid) for pid in others)
    assert not (run / "model").exists()
    train(recipe, run)
    train(recipe, tmp_path / "whole")
    assert timeless(run) == timeless(tmp_path / "whole")
    trained = weights(run)
    assert all(torch.equal(parameter, trained[name]) for name, parameter in weights(tmp_path / "whole").items())


@pytest.mark.slow
def test_sigterm_to_one_node_saves_a_checkpoint_on_all(data: Path, tmp_path: Path) -> None:
    recipe, run = turn_recipe("sft", data, "sft.max_steps=16", "save_every=1000"), tmp_path / "run"
    with two_launchers(recipe, run) as nodes:
        deadline = time.monotonic() + 400
        while not ((run / "metrics.jsonl").exists() and read_rows(run / "metrics.jsonl")):
            assert all(node.poll() is None for node in nodes), [
                node.said() for node in nodes if node.poll() is not None
            ]
            assert time.monotonic() < deadline
            time.sleep(0.05)
        nodes[1].send_signal(signal.SIGTERM)
        said = [node.said(200) for node in nodes]
    assert [node.returncode for node in nodes] == [TRY_AGAIN, TRY_AGAIN], said
    [saved] = checkpoints(run / "checkpoints")
    assert [row["step"] for row in read_rows(run / "metrics.jsonl")] == list(range(1, saved.step + 1))


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
        await_checkpoint(run, [first])
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
    assert "node-1.log" in {path.name for path in (run / "logs").iterdir()}


@pytest.mark.slow  # test_nodes_with_another_recipe_are_refused has the cheaper one, before processes start
def test_the_error_of_one_node_ends_all_nodes_with_its_status(data: Path, tmp_path: Path) -> None:
    with two_launchers(turn_recipe("sft", data, "episode.prompt_tokens=20"), tmp_path / "run") as nodes:
        said = [node.said(300) for node in nodes]
    assert [node.returncode for node in nodes] == [2, 2], said
    assert "process 0 of 2 failed: pair" in said[0]
    assert "node 0 of 2 failed: process 0 of 2 failed: pair" in said[1]


def test_nodes_with_another_recipe_are_refused(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [port] = free_ports(1)
    monkeypatch.setattr("judge_r1.training.launcher.VISIBLE_SECONDS", 1.0)
    first = start(turn_recipe("sft", data), tmp_path / "run", 0, port)
    try:
        with pytest.raises(JudgeError, match="of the first node has another recipe than this node: give the same"):
            run_recipe(
                turn_recipe("sft", data, "seed=7"), tmp_path / "run", Resources(1, 2, None, 1, f"127.0.0.1:{port}")
            )
        said = first.said(200)
        assert first.returncode == 2, said
        assert "node 1 of 2 failed" in said
    finally:
        first.kill()


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        (Resources(1, 2, None, 0, None), "--node-rank and --master HOST:PORT belong together"),
        (Resources(1, 2, None, None, "host:1"), "--node-rank and --master HOST:PORT belong together"),
        (Resources(1, 2, None, 0, "host"), "--node-rank and --master HOST:PORT belong together"),
        (Resources(1, 2, None, 2, "host:1"), "--node-rank 2 of --nodes 2: ranks begin at 0"),
        (Resources(1, 2), "2 nodes need a running Ray cluster, and RAY_ADDRESS is not set"),
        (Resources(3, 2, None, 0, "host:1"), "sft.batch_size 8 does not divide into micro-batches of 2 on 6 processes"),
        (Resources(gpus_per_node=4), "--gpus-per-node is for several nodes and for grpo with grpo.engine=verl"),
    ],
)
def test_impossible_places_are_refused(
    resources: Resources, message: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(JudgeError, match=message):
        check_resources([(turn_recipe("sft", data), tmp_path / "run")], resources)
