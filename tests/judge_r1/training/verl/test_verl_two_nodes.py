"""`judge-r1 launch` on a Ray cluster of two nodes: unmodified verl finishes a run although one node is killed."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from gpu_environment import gpu_environment
from two_nodes import TwoNodes, two_nodes

from judge_r1.files.run_log import read_rows
from judge_r1.training.recipe import Recipe, dump_recipe
from judge_r1.training.verl.cluster_check import Machines, NodesMissing, NotShared, wait_for_nodes


@pytest.fixture
def cluster() -> Iterator[TwoNodes]:
    with (
        tempfile.TemporaryDirectory(prefix="j2n") as folder,
        two_nodes(Path(folder)) as running,
    ):
        yield running


def launch(cluster: TwoNodes, recipe: Path, folder: Path, *, retries: int) -> str:
    """Run `judge-r1 launch`. Returns the id of the job."""
    file = folder / "cluster.yaml"
    content = {
        "kind": "ray", "address": cluster.address, "token_file": str(cluster.token), "nodes": 2, "gpus_per_node": 1,
        "folder": str(folder), "venv": str(Path(sys.executable).parents[1]), "retries": retries,
    }  # fmt: skip
    file.write_text(yaml.safe_dump(content))
    command = [sys.executable, "-m", "judge_r1.cli", "launch", str(recipe), "--cluster", str(file)]
    done = subprocess.run(
        [*command, "--out", str(folder / "rendered")],
        env=cluster.environment,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("sent as ")[1].split(";")[0]


def steps(run: Path) -> list[int]:
    return [row["step"] for row in read_rows(run / "metrics.jsonl")]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_run_on_two_nodes_survives_the_loss_of_one(recipe: Recipe, cluster: TwoNodes, tmp_path: Path) -> None:
    grpo = recipe.grpo.model_copy(update={"engine": "verl", "steps": 6})
    recipe = recipe.model_copy(update={"grpo": grpo, "save_every": 2})
    file = tmp_path / "recipe.yaml"
    file.write_text(dump_recipe(recipe))
    run = tmp_path / "runs" / recipe.name
    started = time.monotonic()
    marks: dict[str, float] = {}

    def mark(name: str) -> None:
        marks[name] = round(time.monotonic() - started, 1)

    def state() -> str:
        [job] = cluster.jobs() or [{"status": "PENDING"}]
        assert job["status"] not in ("STOPPED",)
        return job["status"]

    def log() -> str:
        return (run / "logs" / "verl.log").read_text(errors="replace") if (run / "logs" / "verl.log").exists() else ""

    job = launch(cluster, file, tmp_path, retries=1)
    assert job == "judge-r1-two-steps--1"
    marker = run / "checkpoints" / "latest_checkpointed_iteration.txt"
    cluster.wait_for(lambda: (marker.exists() and 2 in steps(run)) or state() == "FAILED", 900)
    mark("two steps and a checkpoint")
    assert marker.exists(), f"{cluster.jobs()} {log()[-3000:]}"
    first = read_rows(run / "metrics.jsonl")
    shards = {path.name for path in (run / "checkpoints/global_step_2/actor").glob("model*.pt")}
    assert shards == {"model_world_size_2_rank_0.pt", "model_world_size_2_rank_1.pt"}
    cluster.kill(cluster.nodes[1])
    mark("node killed")
    before_loss = len(log())
    cluster.worker()  # a scheduler would start a replacement
    cluster.wait_for(lambda: state() in ("SUCCEEDED", "FAILED"), 900)
    mark("end")
    print("seconds:", marks)
    assert state() == "SUCCEEDED", f"{cluster.jobs()} {log()[before_loss:][-3000:]}"
    assert steps(run) == [1, 2, 3, 4, 5, 6]
    assert all(row["rollout/episodes"] == 8 for row in read_rows(run / "metrics.jsonl"))
    assert (run / "model" / "config.json").exists()
    assert read_rows(run / "metrics.jsonl")[:2] == first[:2]  # steps before the checkpoint are not repeated
    again = launch(cluster, file, tmp_path, retries=1)  # the run is finished, so nothing is trained
    cluster.wait_for(lambda: all(j["status"] == "SUCCEEDED" for j in cluster.jobs() or [{"status": ""}]), 120)
    assert again == "judge-r1-two-steps--2"
    assert steps(run) == [1, 2, 3, 4, 5, 6]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nodes_are_checked_before_training(cluster: TwoNodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH", "PYTHONPATH"):
        monkeypatch.setenv(name, cluster.environment[name])
    monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{cluster.gcs}")
    assert not wait_for_nodes(Machines(2, 1), tmp_path, [tmp_path], seconds=120)
    with pytest.raises(NotShared, match="does not see /nowhere/at/all: the run"):
        wait_for_nodes(Machines(2, 1), tmp_path, [Path("/nowhere/at/all")], seconds=60)
    with pytest.raises(NodesMissing, match=r"did not have 3 nodes with 1 GPU each free in time: 2 answered"):
        wait_for_nodes(Machines(3, 1), tmp_path, [], seconds=20)
    cluster.kill(cluster.nodes[1])
    with pytest.raises(NodesMissing, match="1 answered"):
        wait_for_nodes(Machines(2, 1), tmp_path, [], seconds=40)
    cluster.worker()
    wait_for_nodes(Machines(2, 1), tmp_path, [], seconds=120)
    assert not list(tmp_path.glob(".seen-*"))
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(NodesMissing, match=r"cannot be used|did not answer"):
        wait_for_nodes(Machines(2, 1), tmp_path, [], seconds=60)
    assert os.environ["RAY_ADDRESS"] == "127.0.0.1:1"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_node_that_cannot_train_is_named(cluster: TwoNodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One node lacks vLLM, has an old driver and another transformers."""
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH", "PYTHONPATH"):
        monkeypatch.setenv(name, cluster.environment[name])
    monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{cluster.gcs}")
    gpu = ["driver", "flash-attn", "vllm"]
    checks = {"packages": [], "gpu_packages": gpu, "files": [("tokenizer", ["bundled:tiny"])]}
    assert not wait_for_nodes(Machines(2, 1), tmp_path, [tmp_path], checks=checks, seconds=240)
    cluster.kill(cluster.nodes[1])
    broken = gpu_environment(tmp_path / "gpu", driver="570.10", packages={"flash-attn": "2.8.3", "transformers": "9.9"})
    sites = f"{tmp_path / 'gpu' / 'site'}{os.pathsep}{cluster.environment['PYTHONPATH']}"
    cluster.environment |= {"PYTHONPATH": sites, "PATH": broken["PATH"]}
    cluster.worker()
    with pytest.raises(NotShared) as error:
        wait_for_nodes(Machines(2, 1), tmp_path, [tmp_path], checks=checks, seconds=240)
    found = str(error.value).splitlines()
    host = socket.gethostname()
    assert len(found) == 3, found
    assert "transformers is" in found[0]
    assert "9.9 on node" in found[0]
    assert "all nodes need the same versions" in found[0]
    assert found[1].startswith(f"node {host}: torch is built for CUDA 13.0, which needs the NVIDIA driver 580 or newer")
    assert found[2].startswith(f"node {host}: vllm is not installed")
