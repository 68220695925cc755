"""verl as it is released, two GRPO steps on the processor with search in the loop."""

import json
import os
import re
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import torch

from judge_r1.core.pair_set import load_pairs
from judge_r1.core.records import Trajectory
from judge_r1.core.run_log import read_rows
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import load_model, load_tokenizer
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.verl.fsdp_checkpoint import read_shards
from judge_r1.training.verl.runner import train_verl
from scripts.recorded_rollouts import RecordedRollouts


def left_behind(mark: str) -> list[str]:
    """Processes that still run with `mark` in their environment, by their command lines."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name != str(os.getpid()) and mark.encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:80])
        except OSError:
            continue
    return found


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return {name: tensor.float() for name, tensor in load_model(str(folder)).state_dict().items()}


@pytest.mark.timeout(1800)
def test_two_steps_of_verl(recipe: Recipe, guesser: Path, data_folder: Path, tmp_path: Path) -> None:
    two_steps(recipe, guesser, data_folder, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_ranks(recipe: Recipe, guesser: Path, data_folder: Path, tmp_path: Path) -> None:
    """Two ranks over gloo, each with a rollout server of its own: both play, and both get the new weights."""
    run = two_steps(recipe, guesser, data_folder, tmp_path, ranks=2)
    log = (run.folder / "logs" / "verl.log").read_text()
    for rank in (0, 1):
        answers = re.findall(rf"judge_r1_cpu_{rank}: (\d+) answers from the weights of step (\w+)", log)
        assert {step: int(count) > 0 for count, step in answers if step in "01"} == {"0": True, "1": True}


def two_steps(recipe: Recipe, guesser: Path, data_folder: Path, tmp_path: Path, ranks: int = 1) -> RunFolder:
    grpo = recipe.grpo.model_copy(update={"traced_pairs": recipe.grpo.pairs_per_step})
    recipe, mark = recipe.model_copy(update={"model": str(guesser), "grpo": grpo}), uuid4().hex
    run = RunFolder(tmp_path / "run", recipe)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_R1_TEST_RUN", mark)
        train_verl(recipe, data_folder, run, cpu=True, gpus_per_node=ranks)

    rows: list[dict[str, Any]] = read_rows(run.folder / "metrics.jsonl")
    assert [row["step"] for row in rows] == [1, 2]
    for row in rows:
        assert row["rollout/episodes"] == 8
        assert row["rollout/infrastructure_failures"] == 0
        assert row["rollout/weights_behind"] == 0  # each step is sampled from the weights of the step before
        assert row["time/episode/generation"] > row["time/search"] > 0
        assert row["rollout/reward/valid"] > 0
        assert row["rollout/reward/searches"] > 0
        # verl's reward is the driver's, and the trainer's log-probabilities are the sampler's
        assert row["verl/critic/score/mean"] == pytest.approx(row["rollout/reward/r"], abs=1e-6)
        assert row["verl/training/rollout_probs_diff_max"] < 1e-4
        # the masked tokens are the observations: verl counts all, we count the sampled
        assert row["verl/response_length/mean"] > row["rollout/sampled_tokens"] > 0
    assert any(row["grad_norm"] > 0 for row in rows)

    # what both engines measure has one name
    measured = {
        "loss",
        "learning_rate",
        "entropy",
        "kl",
        "clip_fraction",
        "tokens_per_second",
        "frac_outcome_zero_std",
    }
    measured |= {f"time/{stage}" for stage in ("step", "generation", "search", "score", "update", "weight_sync")}
    assert all(measured <= row.keys() for row in rows)
    assert [row["progress"] for row in rows] == [0.5, 1.0]

    traces = [Trajectory.model_validate(t["trajectory"]) for t in read_rows(run.folder / "traces.jsonl")]
    assert len(traces) == 16
    observed = [trace for trace in traces if trace.searches]
    assert observed
    tokenizer = SafeTokenizer(load_tokenizer(str(guesser)))
    for trace in observed:
        environment = tokenizer.decode([t for t, m in zip(trace.token_ids, trace.loss_mask, strict=True) if not m])
        assert environment.startswith("<information>")
        assert environment.endswith("</information>")

    old, new = weights(guesser), weights(run.model)
    # the trained weights themselves: verl's own merger would round them to bfloat16
    trained = read_shards(run.folder / "checkpoints" / "global_step_2" / "actor")
    assert all(torch.equal(new[name], trained[name]) for name in trained)
    assert old.keys() == new.keys()
    assert max(float((old[name] - new[name]).abs().max()) for name in old) > 1e-4
    assert json.loads((run.folder / "versions.json").read_text())["verl"] == "0.9.1"
    same_on_trl(recipe, run, old, new, tmp_path)
    until = time.monotonic() + 30
    while left_behind(mark) and time.monotonic() < until:
        time.sleep(0.5)
    assert left_behind(mark) == []
    assert not os.path.exists("outputs")
    return run


def same_on_trl(
    recipe: Recipe, run: RunFolder, old: dict[str, torch.Tensor], new: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    """TRL's trainer comes to the same weights by the same episodes (promise 7, of whole runs)."""
    pytest.importorskip("trl")
    from judge_r1.training.trl.grpo import train_grpo

    other = RunFolder(tmp_path / "trl", recipe)
    train_grpo(recipe, load_pairs(recipe.data.train), other, RecordedRollouts(run.folder))
    again = weights(other.model)
    moved = sum(float(((new[name] - old[name]) ** 2).sum()) for name in old) ** 0.5
    apart = sum(float(((new[name] - again[name]) ** 2).sum()) for name in old) ** 0.5
    assert apart < 0.01 * moved
    for ours, verls in zip(*(read_rows(one.folder / "metrics.jsonl") for one in (other, run)), strict=False):
        assert ours["loss"] == pytest.approx(verls["loss"], abs=1e-4)
        assert ours["grad_norm"] == pytest.approx(verls["grad_norm"], rel=1e-3)
