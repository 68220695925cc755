"""The supervisor of verl's process group: failures, hangs, lost nodes and signals."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_server import TRAINING, Command, start

from judge_r1.core.errors import TRY_AGAIN
from judge_r1.files.file_lock import lock_folder
from judge_r1.files.run_log import read_rows
from judge_r1.training.checkpoints import newest_whole
from judge_r1.training.preemption import Preempted, StopRequest
from judge_r1.training.recipe import Recipe, dump_recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.verl.supervisor import EarlyStop, VerlFailed, run_supervised

SLEEPS = "import time; print('started', flush=True); time.sleep(600)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEPS
VERL = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {stubborn!r}])
print("worker", child.pid, flush=True)
time.sleep(600)
"""
"""A substitute for verl.trainer.main_ppo. Its worker ignores SIGTERM, like a process that waits for a GPU."""


@pytest.fixture
def run(recipe: Recipe, tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "run", recipe)


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.1)


@pytest.fixture
def sigterm_after_a_second() -> Iterator[None]:
    """Send SIGTERM to this process after a second."""
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM))
    timer.start()
    yield
    timer.cancel()


@pytest.mark.usefixtures("sigterm_after_a_second")
def test_a_process_that_ignores_sigterm_is_killed_at_the_deadline(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge_r1.training.verl.supervisor.STOP_SECONDS", 1.0)
    before = signal.getsignal(signal.SIGTERM)
    code = f"import os; print(os.getpid(), flush=True); {STUBBORN}"
    with pytest.raises(SystemExit) as ended:
        run_supervised([sys.executable, "-c", code], run.folder, {}, lambda: None)
    assert ended.value.code == 128 + signal.SIGTERM
    assert not alive(int((run.folder / "logs" / "verl.log").read_text().split()[0]))
    assert signal.getsignal(signal.SIGTERM) is before


def start_train(recipe: Recipe, folder: Path, env: dict[str, str]) -> Command:
    """Run `judge-r1 train` of `recipe` on verl in a separate process. Its output goes to FOLDER/train.log."""
    grpo = recipe.grpo.model_copy(update={"engine": "verl"})
    (folder / "recipe.yaml").write_text(dump_recipe(recipe.model_copy(update={"grpo": grpo})))
    command = ["train", folder / "recipe.yaml", "--out", folder / "run"]
    return start(*command, log=folder / "train.log", env=env, modules=TRAINING)


@pytest.mark.parametrize(("signum", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_to_train_stops_verl_and_releases_the_run_folder(
    recipe: Recipe, tmp_path: Path, signum: signal.Signals, status: int
) -> None:
    trainer = tmp_path / "python" / "verl" / "trainer"
    trainer.mkdir(parents=True)
    for package in (trainer.parent, trainer):
        (package / "__init__.py").touch()
    (trainer / "main_ppo.py").write_text(VERL.format(stubborn=STUBBORN))
    path = os.pathsep.join([str(tmp_path / "python"), os.environ.get("PYTHONPATH", "")])
    train = start_train(recipe, tmp_path, {"PYTHONPATH": path, "JUDGE_R1_GRACE_SECONDS": "0"})
    log = tmp_path / "run" / "logs" / "verl.log"
    try:
        wait_until(lambda: train.poll() is not None or (log.exists() and "started" in log.read_text()), 300)
        assert train.poll() is None, (tmp_path / "train.log").read_text()
        worker = int(log.read_text().split("worker")[1].split()[0])
        assert alive(worker)
        train.send_signal(signum)
        assert train.wait(180) == status
        assert not alive(worker)
        with lock_folder(tmp_path / "run"):
            pass
    finally:
        train.kill()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_sigterm_to_train_stops_the_real_verl(recipe: Recipe, tmp_path: Path) -> None:
    grpo = recipe.grpo.model_copy(update={"steps": 500})
    train = start_train(recipe.model_copy(update={"grpo": grpo}), tmp_path, {"JUDGE_R1_GRACE_SECONDS": "0"})
    run = tmp_path / "run"
    try:
        wait_until(lambda: train.poll() is not None or bool(read_rows(run / "metrics.jsonl")), 600)
        assert train.poll() is None, (tmp_path / "train.log").read_text()
        train.send_signal(signal.SIGTERM)
        assert train.wait(180) == 143
        with lock_folder(run):
            pass
        variable = f"VERL_FILE_LOGGER_PATH={run}".encode()
        wait_until(lambda: not [path for path in Path("/proc").glob("[0-9]*/environ") if holds(path, variable)], 180)
    finally:
        train.kill()


SAVES = """\
import pathlib, sys, time
stop = pathlib.Path(sys.argv[1])
print("up", flush=True)
while "stop" not in stop.read_text():
    time.sleep(0.05)
if sys.argv[2] == "saves":
    stop.write_text("saved 3")
time.sleep(100)
"""
"""A substitute for verl with `early_save`: it saves step 3 when the run is asked to stop, and trains on."""


@pytest.mark.parametrize("by_signal", [True, False], ids=["SIGTERM", "another program"])
@pytest.mark.parametrize(("name", "ended"), [("saves", Preempted), ("hangs", None)])
def test_a_checkpoint_is_awaited_before_the_command_ends(
    by_signal: bool, name: str, ended: type[BaseException] | None, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_R1_GRACE_SECONDS", "10" if ended else "1")
    request = StopRequest(run.folder)
    expected = ended or (SystemExit if by_signal else VerlFailed)

    def ask() -> None:
        os.kill(os.getpid(), signal.SIGTERM) if by_signal else request.make()

    timer = threading.Timer(1.0, ask)
    timer.start()
    command = [sys.executable, "-c", SAVES, str(request.file), name]
    with request.armed(), pytest.raises(expected) as error:
        run_supervised(command, run.folder, {}, lambda: None, stop=EarlyStop(request, lambda: 3))
    timer.join()
    status = error.value.code if isinstance(error.value, SystemExit) else getattr(error.value, "exit_status", None)
    assert status == (128 + signal.SIGTERM if expected is SystemExit else TRY_AGAIN)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_sigterm_to_the_real_verl_saves_a_checkpoint(recipe: Recipe, tmp_path: Path) -> None:
    """Without it, the run would next save at step 1000. A second command resumes and finishes the run."""
    grpo = recipe.grpo.model_copy(update={"steps": 8})
    long = recipe.model_copy(update={"grpo": grpo, "save_every": 1000})
    run = tmp_path / "run"
    train = start_train(long, tmp_path, {})
    try:
        wait_until(lambda: train.poll() is not None or bool(read_rows(run / "metrics.jsonl")), 600)
        assert train.poll() is None, (tmp_path / "train.log").read_text()
        asked = time.monotonic()
        train.send_signal(signal.SIGTERM)
        assert train.wait(300) == TRY_AGAIN, (tmp_path / "train.log").read_text()
        print("seconds from the signal to the end:", round(time.monotonic() - asked, 1))
        rows = read_rows(run / "metrics.jsonl")
        newest = newest_whole(run / "checkpoints")
        assert newest is not None
        assert newest.has_manifest
        assert [row["step"] for row in rows] == list(range(1, newest.step + 1)), "a finished step is lost"
        again = start_train(long, tmp_path, {})
        assert again.wait(600) == 0, (tmp_path / "train.log").read_text()
        assert [row["step"] for row in read_rows(run / "metrics.jsonl")] == list(range(1, 9))
        assert read_rows(run / "metrics.jsonl")[: len(rows)] == rows
    finally:
        train.kill()


def holds(path: Path, text: bytes) -> bool:
    try:
        return text in path.read_bytes()
    except OSError:
        return False


def test_failure_shows_the_end_of_the_log(run: RunFolder) -> None:
    command = [sys.executable, "-c", "print('all is well'); print('until here'); raise SystemExit(3)"]
    with pytest.raises(VerlFailed, match=r"(?s)ended with status 3.*verl\.log:.*until here"):
        run_supervised(command, run.folder, {}, lambda: None)
    assert "all is well" in (run.folder / "logs" / "verl.log").read_text()


def test_a_process_without_output_is_stopped(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge_r1.training.verl.supervisor.SILENCE_SECONDS", 1.0)
    with pytest.raises(VerlFailed, match="printed nothing for 1 s"):
        run_supervised([sys.executable, "-c", SLEEPS], run.folder, {}, lambda: None)


@pytest.mark.usefixtures("sigterm_after_a_second")
def test_a_process_that_closed_its_output_can_be_stopped(run: RunFolder) -> None:
    started = time.monotonic()
    with pytest.raises(SystemExit):
        run_supervised(["sh", "-c", "exec >&- 2>&-; sleep 30"], run.folder, dict(os.environ), lambda: None)
    assert time.monotonic() - started < 15


def test_a_lost_node_stops_the_run(run: RunFolder) -> None:
    """Even while the process still prints."""
    prints = "import time\nwhile True: print('running: 2', flush=True); time.sleep(0.1)"
    started = time.monotonic()

    def lost_node() -> str | None:
        return "Ray lost the node b" if time.monotonic() - started > 2 else None

    with pytest.raises(VerlFailed, match="was stopped, because Ray lost the node b; its output"):
        run_supervised([sys.executable, "-c", prints], run.folder, {}, lambda: None, lost_node)
    assert VerlFailed.exit_status == 75


def test_nothing_is_left_running_when_following_fails(run: RunFolder) -> None:
    grandchild = "import subprocess, sys; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); p.wait()"

    def follow() -> None:
        raise VerlFailed("enough")

    with pytest.raises(VerlFailed, match="enough"):
        run_supervised([sys.executable, "-c", grandchild], run.folder, {"PATH": "/usr/bin:/bin"}, follow)
    pid = int((run.folder / "logs" / "verl.log").read_text())
    time.sleep(0.2)
    stat = Path(f"/proc/{pid}/stat")
    assert not stat.exists() or stat.read_text().split()[2] == "Z"
