"""Two processes train the same model as one; if one process fails, the others stop and the error is one line."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from paths import RECIPES
from turn_recipes import timeless, turn_recipe, weights

from judge_r1.core.errors import TRY_AGAIN, JudgeError
from judge_r1.training.checkpoint_manifest import write_manifest
from judge_r1.training.checkpoints import checkpoints
from judge_r1.training.launcher import ProcessFailed
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import load_recipe
from judge_r1.training.resources import Resources
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.common import deepspeed_config, micro_batch
from judge_r1.training.trl.resume import check_process_count


def assert_same_training(one: Path, other: Path, *, rows: float = 1e-4, tensors: float = 2e-5) -> None:
    """Metrics and weights are equal up to the order of float32 sums."""
    ours, theirs = timeless(one), timeless(other)
    assert len(ours) == len(theirs) > 0
    for row, expected in zip(ours, theirs, strict=True):
        # TRL averages these over micro-batches
        means = {"entropy", "token_accuracy", "trl/logits/chosen", "trl/logits/rejected"}
        shared = (row.keys() & expected.keys()) - means
        assert {"step", "loss", "grad_norm", "learning_rate"} <= shared
        assert {key: row[key] for key in shared} == pytest.approx({k: expected[k] for k in shared}, rel=rows, abs=rows)
    trained = weights(one)
    for name, parameter in weights(other).items():
        assert (parameter - trained[name]).abs().max() < tensors, name


def children() -> set[int]:
    pids = subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True, text=True, timeout=30).stdout
    return {int(pid) for pid in pids.split()}


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stage", "changes", "processes"),
    [  # test_several_nodes has the cheaper ("sft", ()), with a process on each of two nodes
        ("sft", (), 2),
        ("dpo", (), 2),
        ("dpo", ("lora.rank=4", "lora.alpha=8"), 2),
        ("sft", ("sft.packing=true",), 2),
        ("sft", ("deepspeed=zero2",), 2),
        ("sft", ("deepspeed=zero3",), 2),
        ("sft", ("deepspeed=zero3", "sft.packing=true"), 2),
        ("sft", ("deepspeed=zero3", "lora.rank=4", "lora.alpha=8"), 2),
        ("dpo", ("deepspeed=zero2",), 2),
        ("dpo", ("deepspeed=zero3",), 2),
    ],
    ids=str,
)
def test_several_processes_train_the_same_model_as_one(
    stage: str, changes: tuple[str, ...], processes: int, data: Path, tmp_path: Path
) -> None:
    if any("deepspeed" in change for change in changes):
        pytest.importorskip("deepspeed")
    plain = [change for change in changes if not change.startswith(("deepspeed", "sft.packing"))]
    run_recipe(turn_recipe(stage, data, *plain), tmp_path / "one", Resources(1))
    before = children()
    run_recipe(turn_recipe(stage, data, *changes), tmp_path / "several", Resources(processes))
    assert children() <= before
    assert_same_training(tmp_path / "several", tmp_path / "one")


@pytest.mark.slow
@pytest.mark.parametrize("changes", [(), ("deepspeed=zero2",)])
def test_several_processes_resume_exactly(changes: tuple[str, ...], data: Path, tmp_path: Path) -> None:
    """A kill of all processes after a checkpoint, as when the machine fails. The resumed run gives the same weights."""
    import torch

    if changes:
        pytest.importorskip("deepspeed")
    recipe = turn_recipe("sft", data, *changes)
    run_recipe(recipe, tmp_path / "whole", Resources(2))
    killed = tmp_path / "killed"
    command = [sys.executable, "-m", "judge_r1.cli", "train", str(tmp_path / "whole" / "recipe.yaml"), "--out"]
    started = subprocess.Popen([*command, str(killed), "--processes", "2"])
    deadline = time.monotonic() + 500
    while not (killed / "checkpoints" / "checkpoint-2" / "manifest.json").exists():
        assert started.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    started.kill()
    started.wait(60)
    end = time.monotonic() + 60
    while subprocess.run(["pgrep", "-f", str(killed)], capture_output=True, timeout=30).returncode == 0:
        assert time.monotonic() < end, "a process outlived its launcher"
        time.sleep(0.2)
    run_recipe(recipe, killed, Resources(2))
    assert timeless(killed) == timeless(tmp_path / "whole")
    trained = weights(killed)
    assert all(torch.equal(parameter, trained[name]) for name, parameter in weights(tmp_path / "whole").items())


def test_the_error_of_a_process_is_one_line_and_all_processes_end(data: Path, tmp_path: Path) -> None:
    """The first process cannot write a file before the others meet it."""
    before, run = children(), tmp_path / "run"
    (run / "data.json").mkdir(parents=True)
    with pytest.raises(ProcessFailed, match=r"^process 0 of 2 failed: \S+/data\.json .* all are stopped") as error:
        run_recipe(turn_recipe("sft", data), run, Resources(2))
    assert "\n" not in str(error.value)
    assert error.value.exit_status == 2  # a retry would fail in the same way
    assert children() <= before
    assert not (run / "model").exists()


@pytest.mark.slow
def test_a_killed_process_ends_the_others(data: Path, tmp_path: Path) -> None:
    before, killed = children(), threading.Event()

    def kill_one() -> None:
        while not (tmp_path / "run" / "metrics.jsonl").exists():
            if killed.wait(0.1):
                return
        os.kill(max(children() - before), signal.SIGKILL)

    threading.Thread(target=kill_one, daemon=True).start()
    try:
        with pytest.raises(
            ProcessFailed, match=r"^process 1 of 2 was killed by SIGKILL \(see .*/logs/.*/1/stderr\.log\)"
        ) as error:
            run_recipe(turn_recipe("sft", data, "sft.max_steps=500", "sft.epochs=200"), tmp_path / "run", Resources(2))
    finally:
        killed.set()
    assert not any(alive(pid) for pid in children() - before)
    assert error.value.exit_status == TRY_AGAIN


def test_a_batch_that_processes_cannot_share_is_refused(data: Path) -> None:
    recipe = turn_recipe("sft", data)
    assert [micro_batch(recipe, count) for count in (1, 2, 4, 8)] == [2, 2, 2, 1]
    with pytest.raises(JudgeError, match=re.escape("sft.batch_size 8 does not divide among 3 processes")):
        micro_batch(recipe, 3)


def test_number_of_processes_of_each_recipe(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sft, dpo = turn_recipe("sft", data), turn_recipe("dpo", data)
    grpo = load_recipe(RECIPES / "mini" / "grpo.yaml", ["model=bundled:tiny"])
    verl = grpo.model_copy(update={"grpo": grpo.grpo.model_copy(update={"engine": "verl"})})
    assert [Resources().processes_for(recipe) for recipe in (sft, grpo, verl)] == [1, 1, 1]
    assert Resources(2).processes_for(dpo) == 2
    launched = {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}
    for name, value in launched.items():
        monkeypatch.setenv(name, value)
    assert Resources().processes_for(sft) == 2
    with pytest.raises(JudgeError, match="--processes 3 within a launcher of 2"):
        Resources(3).processes_for(sft)
    for recipe in (grpo, verl):
        with pytest.raises(JudgeError, match="torchrun is for sft and dpo: GRPO starts as one process"):
            Resources().processes_for(recipe)


def test_only_the_first_process_writes(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = turn_recipe("sft", data)
    monkeypatch.setenv("RANK", "1")
    run = RunFolder(tmp_path / "second", recipe)
    run.log({"step": 1})
    run.trace({"step": 1})
    run.truncate_after(0)
    assert not run.folder.exists()


def test_a_run_resumes_in_as_many_processes(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunFolder(tmp_path, turn_recipe("sft", data))
    monkeypatch.setenv("WORLD_SIZE", "2")
    check_process_count(run)
    folder = run.checkpoints / "checkpoint-2"
    folder.mkdir()
    (folder / "rng_state_0.pth").touch()
    assert not checkpoints(run.checkpoints)  # the other process has not written its part
    write_manifest(folder)
    assert [checkpoint.step for checkpoint in checkpoints(run.checkpoints)] == [2]
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(JudgeError, match=r"was started with 2 processes: resume with --processes 2"):
        check_process_count(run)


@pytest.mark.parametrize(("name", "stage"), [("zero2", 2), ("zero3", 3)])
def test_deepspeed_accepts_the_shipped_configurations(name: str, stage: int, data: Path) -> None:
    runtime = pytest.importorskip("deepspeed.runtime.zero.config")
    config = deepspeed_config(turn_recipe("sft", data, f"deepspeed={name}"))
    assert config is not None
    assert config["zero_optimization"]["stage"] == stage
    known = runtime.DeepSpeedZeroConfig.model_fields
    aliases = {field.alias for field in known.values()}
    assert config["zero_optimization"].keys() <= known.keys() | aliases
    assert deepspeed_config(turn_recipe("sft", data)) is None
