"""Checklist pairs in TRL's trainers, through the export: SFT learns the gold answers, GRPO gets the reward."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from hellobench_factories import make_checkout, write_responses

from data_builders.build import build
from data_builders.exports import Options
from data_builders.exports.export import export
from judge_r1.episode.checklist_reward import checklist_reward
from judge_r1.models.hub import load_model, load_tokenizer

MODEL = "bundled:tiny"


def exported(root: Path, out: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of both tables of the export `trl`."""
    build("checklist-pairs", out / "data" / "train", path=root, variants=1)
    export(out / "data", out / "trl", "trl", Options())
    return {
        name: [json.loads(line) for line in (out / "trl" / name / "train.jsonl").read_text().splitlines()]
        for name in ("sft", "grpo")
    }


@pytest.fixture
def made(tmp_path: Path) -> dict[str, list[dict[str, Any]]]:
    root = make_checkout(tmp_path / "HelloBench", each=6)
    folder = root / "results" / "judgements" / "main_exp"
    for system, rewrite in (("best", [1, 1, 1]), ("mid", [1, 0.5, 0])):
        write_responses(folder / system, f"By {system}", each=6, scores={"travel": rewrite[:2], "rewrite": rewrite})
    return exported(root, tmp_path)


@pytest.fixture
def real(tmp_path: Path, real_data: Path) -> dict[str, list[dict[str, Any]]]:
    return exported(real_data / "hellobench", tmp_path)


def sft_loss(rows: list[dict[str, Any]], out: Path, steps: int) -> tuple[float, float]:
    """The loss of TRL's SFTTrainer at the first and at the last step."""
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    trainer = SFTTrainer(
        model=load_model(MODEL, training=True),
        args=SFTConfig(
            output_dir=str(out), max_steps=steps, per_device_train_batch_size=1, logging_steps=1, save_strategy="no",
            report_to=[], use_cpu=True, bf16=False, learning_rate=1e-3, max_length=None,
        ),
        train_dataset=Dataset.from_list([{"messages": row["messages"]} for row in rows]),
        processing_class=load_tokenizer(MODEL),
    )  # fmt: skip
    trainer.train()
    losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]
    return losses[0], losses[-1]


def grpo_step(rows: list[dict[str, Any]], out: Path) -> tuple[list[float], float]:
    """The rewards of the completions in one step of TRL's GRPOTrainer, and the mean that it logs."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

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

    trainer = GRPOTrainer(
        model=load_model(MODEL, training=True),
        args=GRPOConfig(
            output_dir=str(out), max_steps=1, per_device_train_batch_size=2, num_generations=2,
            max_completion_length=8, logging_steps=1, save_strategy="no", report_to=[], use_cpu=True, bf16=False,
        ),
        reward_funcs=reward,
        train_dataset=Dataset.from_list(rows),
        processing_class=load_tokenizer(MODEL),
    )  # fmt: skip
    before = [parameter.detach().clone() for parameter in trainer.model.parameters()]
    trainer.train()
    after = trainer.model.parameters()
    assert not all(torch.equal(old, new) for old, new in zip(before, after, strict=True))
    (logged,) = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    return seen, logged


def test_one_step_of_sft_and_of_grpo(made: dict[str, list[dict[str, Any]]], tmp_path: Path) -> None:
    first, last = sft_loss(made["sft"], tmp_path / "sft-run", steps=6)
    assert last < first
    seen, logged = grpo_step(made["grpo"], tmp_path / "grpo-run")
    assert (seen, logged) == ([0.0, 1.0], 0.5)  # the labels are the checklist's questions, and gold scores 1


@pytest.mark.real_data
def test_one_step_on_the_release(real: dict[str, list[dict[str, Any]]], tmp_path: Path) -> None:
    assert len(real["sft"]) == len(real["grpo"]) > 0
    loss, _ = sft_loss(real["sft"][:1], tmp_path / "sft-run", steps=1)
    assert math.isfinite(loss)
    assert grpo_step(real["grpo"][:1], tmp_path / "grpo-run") == ([0.0, 1.0], 0.5)
