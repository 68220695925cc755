"""Checklist pairs in TRL's trainers, through the export and scripts/train_checklist_pairs.py: SFT learns the gold
answers, GRPO gets the reward, and held-out pairs are judged."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from command_server import run
from hellobench_factories import make_checkout, write_responses

from data_builders.build import build
from data_builders.exports import Options
from data_builders.exports.export import export
from judge_r1.core.errors import JudgeError
from judge_r1.episode.checklist_reward import checklist_reward
from judge_r1.models.hub import load_model
from scripts.train_checklist_pairs import check_context, grpo, main, sft, table

MODEL = "bundled:tiny"


def exported(root: Path, out: Path) -> Path:
    """The export `trl` of the training pairs."""
    build("checklist-pairs", out / "data" / "train", path=root, variants=1)
    export(out / "data", out / "trl", "trl", Options())
    return out / "trl"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    root = make_checkout(tmp_path / "HelloBench", each=6)
    folder = root / "results" / "judgements" / "main_exp"
    for system, rewrite in (("best", [1, 1, 1]), ("mid", [1, 0.5, 0])):
        write_responses(folder / system, f"By {system}", each=6, scores={"travel": rewrite[:2], "rewrite": rewrite})
    return exported(root, tmp_path)


def sft_loss(data: Path, out: Path, steps: int) -> tuple[float, float]:
    """The loss at the first and at the last step."""
    trainer = sft(table(data, "sft"), MODEL, out, max_steps=steps, per_device_train_batch_size=1, learning_rate=1e-3)
    losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]
    return losses[0], losses[-1]


def grpo_step(data: Path, out: Path) -> tuple[list[float], float]:
    """The rewards of the completions in one step, and the mean that the trainer logs."""
    seen: list[float] = []

    def reward(**columns: Any) -> list[float]:
        """The reward of every second completion is that of the gold answer: a tiny model writes no JSON."""
        gold = [
            json.dumps({"comparison": comparison, "lower_items": lower})
            for comparison, lower in zip(columns["comparison"], columns["lower_items"], strict=True)
        ]
        texts = [
            answer if n % 2 else text for n, (answer, text) in enumerate(zip(gold, columns["completions"], strict=True))
        ]
        found = checklist_reward(**{**columns, "completions": texts})
        seen.extend(found)
        return found

    before = [parameter.detach().clone() for parameter in load_model(MODEL, training=True).parameters()]
    two = {"max_steps": 1, "per_device_train_batch_size": 2, "num_generations": 2, "max_completion_length": 8}
    trainer = grpo(table(data, "grpo"), MODEL, out, reward, **two)
    after = [parameter.cpu() for parameter in trainer.model.parameters()]
    assert not all(torch.equal(old.cpu(), new) for old, new in zip(before, after, strict=True))
    (logged,) = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    return seen, logged


def test_one_step_of_sft_and_of_grpo(made: Path, tmp_path: Path) -> None:
    first, last = sft_loss(made, tmp_path / "sft-run", steps=6)
    assert last < first
    seen, logged = grpo_step(made, tmp_path / "grpo-run")
    assert (seen, logged) == ([0.0, 1.0], 0.5)  # the labels are the checklist's questions, and gold scores 1


def test_the_script_trains_and_the_held_out_pairs_are_judged(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stage, model in (("sft", MODEL), ("grpo", str(tmp_path / "sft"))):
        given = ["--data", made, "--model", model, "--out", tmp_path / stage, "--steps", 1, "--batch", 2]
        small = ["--group", 2, "--answer-tokens", 4] if stage == "grpo" else []
        monkeypatch.setattr(sys, "argv", ["train_checklist_pairs.py", stage, *map(str, [*given, *small])])
        main()
    test = tmp_path / "data" / "test"
    build("checklist-pairs-test", test, path=tmp_path / "HelloBench", variants=1)
    judged = run("eval", "--benchmark", "checklist-pairs", "--path", test, "--judge",
                 f"j=direct:budget.response_tokens=4@{tmp_path / 'grpo'}", "--out", tmp_path / "eval")  # fmt: skip
    assert judged.returncode == 0, judged.stderr
    (row,) = json.loads((tmp_path / "eval" / "summary.json").read_text())["rows"]
    assert row["n"] > 0
    with pytest.raises(JudgeError, match=r"an example has \d+ tokens with its answer, and bundled:tiny reads 2048"):
        check_context(table(made, "grpo"), "grpo", MODEL, 2000)
    with pytest.raises(JudgeError, match="judge-r1 export FOLDER --format trl"):
        table(tmp_path, "sft")


@pytest.mark.real_data
def test_one_step_on_the_release(real_data: Path, tmp_path: Path) -> None:
    data = exported(real_data / "hellobench", tmp_path)
    for name in ("sft", "grpo"):
        file = data / name / "train.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        assert len(lines) > 1
        file.write_text(lines[0], encoding="utf-8")
    loss, _ = sft_loss(data, tmp_path / "sft-run", steps=1)
    assert math.isfinite(loss)
    assert grpo_step(data, tmp_path / "grpo-run") == ([0.0, 1.0], 0.5)
