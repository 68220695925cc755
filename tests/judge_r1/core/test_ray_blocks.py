"""Blocks on a Ray that starts on this machine. tests/test_ray_engine.py uses two nodes."""

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from judge_r1.core.errors import ExitStatus, JudgeError, StorageFull
from judge_r1.core.ray_blocks import RayFailed, RayWorkers, run_blocks

pytest.importorskip("ray.data", reason="Ray Data is in the extra ray-data")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


class Square:
    """Squares numbers. `bad` is refused, `bug` fails, and the first worker that gets `kill` is killed."""

    def __init__(self, folder: Path, bad: int = -1, bug: int = -1, kill: int = -1) -> None:
        self.folder, self.bad, self.bug, self.kill = folder, bad, bug, kill
        with (folder / "workers").open("a") as log:
            log.write(f"{os.getpid()}\n")

    def __call__(self, block: int) -> tuple[int, str]:
        if block == self.bad:
            raise StorageFull("block 3 has no space")
        if block == self.bug:
            raise ZeroDivisionError("a mistake")
        if block == self.kill and not (self.folder / "killed").exists():
            (self.folder / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return block**2, os.getcwd()


@pytest.fixture(autouse=True)
def ray_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")


def test_results_come_in_order_from_workers_in_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = list(run_blocks(range(12), partial(Square, tmp_path), RayWorkers(2)))
    assert [value for value, _ in found] == [n**2 for n in range(12)]
    assert {folder for _, folder in found} == {str(tmp_path)}
    assert len((tmp_path / "workers").read_text().split()) == 2  # each builds its work once
    assert not list(run_blocks([], partial(Square, tmp_path), RayWorkers()))


def test_errors_keep_their_message_and_exit_status(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=r"^block 3 has no space$") as refused:
        list(run_blocks(range(6), partial(Square, tmp_path, bad=3), RayWorkers(1)))
    assert refused.value.exit_status == ExitStatus.IO_ERROR
    with pytest.raises(RuntimeError, match="ZeroDivisionError: a mistake"):
        list(run_blocks(range(6), partial(Square, tmp_path, bug=2), RayWorkers(1)))


def test_the_block_of_a_killed_worker_runs_again(tmp_path: Path) -> None:
    found = list(run_blocks(range(8), partial(Square, tmp_path, kill=5), RayWorkers(2)))
    assert (tmp_path / "killed").exists()
    assert [value for value, _ in found] == [n**2 for n in range(8)]


def test_a_cluster_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import ray

    ray.shutdown()
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(RayFailed, match=r"the Ray cluster at 127\.0\.0\.1:1 cannot be used") as failed:
        list(run_blocks([1], partial(Square, tmp_path), RayWorkers()))
    assert failed.value.exit_status == ExitStatus.TRY_AGAIN
