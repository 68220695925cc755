"""Two GRPO steps of unmodified verl on the CPU, with search in the loop."""

import json
import os
import re
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import torch

from judge_r1.core.records import Trajectory
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import load_pairs
from judge_r1.files.run_log import read_rows
from judge_r1.models.hub import load_model, load_tokenizer
from judge_r1.training.export_checkpoint import read_shards
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.verl.runner import train_verl
from scripts.bench.replay import RecordedRollouts


def processes_with(variable: str) -> list[str]:
    """The command lines of running processes that have `variable` in their environment."""
    commands = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name != str(os.getpid()) and variable.encode() in (entry / "environ").read_bytes():
                commands.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:80])
        except OSError:
            continue
    return commands


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return {name: tensor.float() for name, tensor in load_model(str(folder)).state_dict().items()}


@pytest.mark.timeout(1800)
def test_two_steps_of_verl(recipe: Recipe, answering_model: Path, data_folder: Path, tmp_path: Path) -> None:
    check_two_steps(recipe, answering_model, data_folder, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_ranks(recipe: Recipe, answering_model: Path, data_folder: Path, tmp_path: Path) -> None:
    """Two gloo ranks, each with its own rollout server. Both sample, and both receive the new weights."""
    run = check_two_steps(recipe, answering_model, data_folder, tmp_path, ranks=2)
    log = (run.folder / "logs" / "verl.log").read_text()
    for rank in (0, 1):
        answers = re.findall(rf"judge_r1_cpu_{rank}: (\d+) answers from the weights of step (\w+)", log)
        assert {step: int(count) > 0 for count, step in answers if step in "01"} == {"0": True, "1": True}


def check_two_steps(
    recipe: Recipe, answering_model: Path, data_folder: Path, tmp_path: Path, ranks: int = 1
) -> RunFolder:
    grpo = recipe.grpo.model_copy(update={"traced_pairs": recipe.grpo.pairs_per_step})
    recipe, mark = recipe.model_copy(update={"model": str(answering_model), "grpo": grpo}), uuid4().hex
    run = RunFolder(tmp_path / "run", recipe)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_R1_TEST_RUN", mark)
        train_verl(recipe, data_folder, run, cpu=True, gpus_per_node=ranks)

    rows: list[dict[str, Any]] = read_rows(run.folder / "metrics.jsonl")
    assert [row["step"] for row in rows] == [1, 2]
    for row in rows:
        assert row["rollout/episodes"] == 8
        assert row["rollout/infrastructure_failures"] == 0
        assert row["rollout/weights_behind"] == 0  # each step samples with the weights of the previous step
        assert row["time/episode/generation"] > row["time/search"] > 0
        assert row["rollout/reward/valid"] > 0
        assert row["rollout/reward/searches"] > 0
        # verl has the driver's reward, which is rounded, and trainer and sampler agree on log-probabilities
        assert row["verl/critic/score/mean"] == pytest.approx(row["rollout/reward/r"], abs=2e-6)
        assert row["verl/training/rollout_probs_diff_max"] < 1e-4
        # verl's response length includes the masked observations
        assert row["verl/response_length/mean"] > row["rollout/sampled_tokens"] > 0
    assert any(row["grad_norm"] > 0 for row in rows)

    # the metrics that both engines share
    shared = {"loss", "learning_rate", "entropy", "kl", "clip_fraction", "tokens_per_second", "frac_outcome_zero_std"}
    shared |= {f"time/{stage}" for stage in ("step", "generation", "search", "score", "update", "weight_sync")}
    assert all(shared <= row.keys() for row in rows)
    assert [row["progress"] for row in rows] == [0.5, 1.0]

    traces = [Trajectory.model_validate(t["trajectory"]) for t in read_rows(run.folder / "traces.jsonl")]
    assert len(traces) == 16
    observed = [trace for trace in traces if trace.searches]
    assert observed
    safe_tokenizer = SafeTokenizer(load_tokenizer(str(answering_model)))
    for trace in observed:
        environment = safe_tokenizer.decode([t for t, m in zip(trace.token_ids, trace.loss_mask, strict=True) if not m])
        assert environment.startswith("<information>")
        assert environment.endswith("</information>")

    old, new = weights(answering_model), weights(run.model)
    # read from the shards, because verl's merger rounds to bfloat16
    trained = read_shards(run.folder / "checkpoints" / "global_step_2" / "actor")
    assert all(torch.equal(new[name], trained[name]) for name in trained)
    assert old.keys() == new.keys()
    assert max(float((old[name] - new[name]).abs().max()) for name in old) > 1e-4
    assert json.loads((run.folder / "versions.json").read_text())["verl"] == "0.9.1"
    check_trl_trains_the_same(recipe, run, old, new, tmp_path)
    deadline = time.monotonic() + 180
    while processes_with(mark) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert processes_with(mark) == []
    assert not os.path.exists("outputs")
    return run


def check_trl_trains_the_same(
    recipe: Recipe, run: RunFolder, old: dict[str, torch.Tensor], new: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    """TRL's trainer gets the same weights from the same episodes (promise 7, for complete runs)."""
    pytest.importorskip("trl")
    from judge_r1.training.trl.grpo import train_grpo

    other = RunFolder(tmp_path / "trl", recipe)
    train_grpo(recipe, load_pairs(recipe.data.train), other, RecordedRollouts(run.folder))
    trl_weights = weights(other.model)
    update = sum(float(((new[name] - old[name]) ** 2).sum()) for name in old) ** 0.5
    difference = sum(float(((new[name] - trl_weights[name]) ** 2).sum()) for name in old) ** 0.5
    assert difference < 0.01 * update
    for ours, verls in zip(*(read_rows(one.folder / "metrics.jsonl") for one in (other, run)), strict=False):
        assert ours["loss"] == pytest.approx(verls["loss"], abs=1e-4)
        assert ours["grad_norm"] == pytest.approx(verls["grad_norm"], rel=1e-3)
