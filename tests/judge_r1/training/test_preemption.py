"""SIGTERM saves a checkpoint: the run ends with status 75 and resumes as if it had not been interrupted."""

import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_server import TRAINING, Command
from command_server import start as start_command
from paths import RECIPES
from toy_model import toy_model
from turn_recipes import timeless, turn_recipe, weights

from judge_r1.core.errors import TRY_AGAIN, JudgeError
from judge_r1.files.run_log import read_rows
from judge_r1.training.checkpoints import checkpoints
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.preemption import StopRequest, grace_seconds, save_on_sigterm
from judge_r1.training.recipe import Recipe, dump_recipe, load_recipe


def start(recipe: Recipe, run: Path, *options: str, **environment: str) -> Command:
    """Start the command. Its output goes to `said(run)`."""
    file = run.with_suffix(".yaml")
    file.write_text(dump_recipe(recipe))
    return start_command(
        "train", file, "--out", run, *options, log=run.with_suffix(".log"), env=environment, modules=TRAINING
    )


def said(run: Path) -> str:
    return run.with_suffix(".log").read_text()


def signal_after_a_step(train: Command, run: Path, signals: Sequence[int] = (signal.SIGTERM,)) -> str:
    """Send the signals to the command after its first step. Returns its output."""
    deadline = time.monotonic() + 400
    while not ((run / "metrics.jsonl").exists() and read_rows(run / "metrics.jsonl")):
        assert train.poll() is None, said(run)
        assert time.monotonic() < deadline
        time.sleep(0.02)
    for number in signals:
        train.send_signal(number)
        time.sleep(0.3)
    train.wait(400)
    return said(run)


def long_recipe(stage: str, data: Path) -> Recipe:
    """So many steps that a signal after the first one comes before the last, and no checkpoint of their own."""
    if stage != "grpo":
        return turn_recipe(stage, data, f"{stage}.max_steps=30", "save_every=1000")
    changes = [
        f"model={toy_model()}", "grpo.steps=20", "grpo.pairs_per_step=2", "grpo.group_size=2",
        "grpo.micro_batch_size=2", "grpo.updates_per_step=2", "episode.budget.response_tokens=8",
        "save_every=1000", f"data.train={data}",
    ]  # fmt: skip
    return load_recipe(RECIPES / "mini" / "grpo.yaml", changes)


@pytest.mark.parametrize(
    ("stage", "options"),
    [
        pytest.param("sft", (), id="sft"),
        pytest.param("dpo", (), id="dpo", marks=pytest.mark.slow),
        pytest.param("grpo", (), id="grpo"),
        pytest.param("sft", ("--processes", "2"), id="sft in two processes", marks=pytest.mark.slow),
    ],
)
def test_sigterm_saves_a_checkpoint_and_the_run_resumes(
    stage: str, options: tuple[str, ...], data: Path, tmp_path: Path
) -> None:
    recipe, run = long_recipe(stage, data), tmp_path / "run"
    train = start(recipe, run, *options)
    output = signal_after_a_step(train, run)
    assert train.returncode == TRY_AGAIN, output
    assert "was asked to stop and has saved a checkpoint" in output
    [saved] = checkpoints(run / "checkpoints", recipe.updates)
    rows = read_rows(run / "metrics.jsonl")
    assert saved.has_manifest
    assert [row["step"] for row in rows] == list(range(1, saved.step + 1)), "a finished step is lost"
    assert not (run / ".stop").exists()
    again = start(recipe, run, *options)
    assert again.wait(400) == 0, said(run)
    assert f"continues after step {saved.step}" in said(run)
    assert read_rows(run / "metrics.jsonl")[: len(rows)] == rows, "a step before the checkpoint was repeated"
    if stage == "sft":
        import torch

        whole = tmp_path / "whole"
        assert start(recipe, whole, *options).wait(400) == 0
        assert timeless(run) == timeless(whole)
        trained = weights(run)
        assert all(torch.equal(parameter, trained[name]) for name, parameter in weights(whole).items())


@pytest.mark.parametrize(
    ("signals", "grace", "statuses"),
    [
        ((signal.SIGTERM, signal.SIGTERM), "600", (-signal.SIGTERM,)),
        ((signal.SIGTERM, signal.SIGINT), "600", (130, TRY_AGAIN)),
        ((signal.SIGTERM,), "0", (-signal.SIGTERM,)),
        ((signal.SIGTERM,), "0.4", (-signal.SIGTERM,)),
    ],
    ids=["second SIGTERM", "SIGINT", "no grace period", "end of the grace period"],
)
def test_a_second_signal_or_the_end_of_the_grace_period_ends_at_once(
    signals: tuple[int, ...], grace: str, statuses: tuple[int, ...], tmp_path: Path
) -> None:
    """A process in a long step, like one that waits for a GPU."""
    code = (
        "import time; from pathlib import Path; from judge_r1.training.preemption import *\n"
        "try:\n"
        f"    with save_on_sigterm(StopRequest(Path({str(tmp_path)!r}))):\n"
        "        print('up', flush=True); time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    raise SystemExit(130)"
    )
    log = tmp_path / "log"
    process = start_command(log=log, code=code, env={"JUDGE_R1_GRACE_SECONDS": grace}, modules=TRAINING)
    deadline = time.monotonic() + 400
    while not log.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    for number in signals:
        process.send_signal(number)
        time.sleep(0.3)
    assert process.wait(180) in statuses
    assert (tmp_path / ".stop").exists() == (grace != "0")


def test_another_program_may_write_the_request(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the hook of a Kubernetes pod does. A request that is left from an earlier run is ignored."""
    file = tmp_path / "shared" / "job.stop"
    monkeypatch.setenv("JUDGE_R1_STOP_FILE", str(file))
    request = StopRequest(tmp_path / "run")
    assert not request
    with request.armed():
        assert not request
        file.write_text("stop\n")
        assert request
    assert not file.exists()
    file.write_text("stop\n")
    run_recipe(turn_recipe("sft", data, "sft.max_steps=2"), tmp_path / "run")
    assert (tmp_path / "run" / "model" / "config.json").exists()


def test_the_grace_period_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_R1_GRACE_SECONDS", "soon")
    with pytest.raises(JudgeError, match="JUDGE_R1_GRACE_SECONDS is 'soon': set it to a number of seconds"):
        grace_seconds()
    monkeypatch.delenv("JUDGE_R1_GRACE_SECONDS")
    before = signal.getsignal(signal.SIGTERM)
    with save_on_sigterm(StopRequest(Path("."))):
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
