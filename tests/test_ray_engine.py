"""`--engine ray` on two nodes: the bytes of one process, also after kills of the command and of a node."""

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from two_nodes import TwoNodes, two_nodes

from judge_r1.evaluation.votes import StoredVote, stored_votes

pytest.importorskip("ray.data", reason="Ray Data is in the extra ray-data")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]
COMMAND = [sys.executable, "-m", "judge_r1.cli"]
JUDGE = (
    "agentic:context=none,retriever=bm25,prompt=compact,budget.response_tokens=40,budget.max_searches=1@bundled:tiny"
)
EVAL = ["--judge", "longer", "--judge", JUDGE, "--temperature", "1", "--batch-size", "2", "--limit", "24"]


@pytest.fixture
def cluster() -> Iterator[TwoNodes]:
    with tempfile.TemporaryDirectory(prefix="jre") as folder, two_nodes(Path(folder)) as running:
        running.environment["RAY_ADDRESS"] = f"127.0.0.1:{running.gcs}"
        running.wait_for(lambda: "Ray runtime started" in (running.folder / "node1.log").read_text())
        yield running


def run(cluster: TwoNodes, folder: Path, *arguments: object, seconds: float = 900) -> str:
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], env=cluster.environment, cwd=folder, capture_output=True, text=True,
        timeout=seconds,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def files(folder: Path, *names: str) -> dict[str, bytes]:
    found = [path for name in names for path in sorted(folder.glob(name))]
    assert found
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def start(cluster: TwoNodes, folder: Path, *arguments: object) -> "subprocess.Popen[bytes]":
    command, log = [*COMMAND, *map(str, arguments)], folder / "killed.log"
    return subprocess.Popen(command, env=cluster.environment, cwd=folder, stdout=log.open("wb"), stderr=log.open("ab"))


def test_two_nodes_give_the_bytes_of_one_process(cluster: TwoNodes, tmp_path: Path) -> None:
    where = [sys.executable, "-m", "ray_where", str(tmp_path / "nodes")]
    subprocess.run(where, env=cluster.environment, check=True, timeout=600)
    assert len((tmp_path / "nodes").read_text().split()) == 2

    for name in ("mini-one", "mini-two"):
        run(cluster, tmp_path, "build", "mini", "limit=40", "variants=1", "--out", name)
    run(cluster, tmp_path, "index", "mini-one", "--retriever", "bundled:e5-small")
    run(cluster, tmp_path, "index", "mini-two", "--retriever", "bundled:e5-small", "--engine", "ray", "--workers", 2)
    assert files(tmp_path / "mini-one", "index/*/*") == files(tmp_path / "mini-two", "index/*/*")

    run(cluster, tmp_path, "eval", *EVAL, "--path", "mini-one", "--out", "eval-one")
    on_ray = [*EVAL, "--path", "mini-one", "--out", "eval-two", "--engine", "ray", "--workers", 2]
    killed = start(cluster, tmp_path, "eval", *on_ray)
    votes = tmp_path / "eval-two" / "votes.jsonl"

    def judged() -> int:
        return votes.read_bytes().count(b"agentic:") if votes.exists() else 0

    cluster.wait_for(lambda: judged() >= 8 or killed.poll() is not None, 900)
    killed.send_signal(signal.SIGKILL)
    killed.wait(60)
    kept = votes.read_bytes()
    assert 8 <= judged() < 24
    resumed = start(cluster, tmp_path, "eval", *on_ray, "--resume")
    time.sleep(20)
    cluster.kill(cluster.nodes[1])
    assert resumed.wait(900) == 0, (tmp_path / "killed.log").read_text()[-3000:]
    assert votes.read_bytes().startswith(kept.rpartition(b"\n")[0])
    assert files(tmp_path / "eval-one", "outcomes.jsonl") == files(tmp_path / "eval-two", "outcomes.jsonl")
    one, two = (
        sorted(stored_votes(tmp_path / name), key=lambda t: (t.row, t.key)) for name in ("eval-one", "eval-two")
    )
    assert [without_logprobs(stored) for stored in one] == [without_logprobs(stored) for stored in two]
    for first, second in zip(one, two, strict=True):  # a batch of another shape rounds in another way
        assert first.trajectory.logprobs == pytest.approx(second.trajectory.logprobs, abs=1e-4)


def without_logprobs(stored: StoredVote) -> StoredVote:
    return stored.model_copy(update={"trajectory": stored.trajectory.model_copy(update={"logprobs": ()})})
