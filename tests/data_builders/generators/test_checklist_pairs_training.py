"""The commands of docs/hellobench.md for training on checklist pairs: TRL's SFT and GRPO on the export, and an
evaluation on held-out pairs."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from command_server import run
from hellobench_factories import BEST_AND_MID, make_judged_checkout

from data_builders.build import build
from data_builders.export import export
from data_builders.exports import Options
from judge_r1.episode.checklist_reward import checklist_reward
from judge_r1.models.hub import load_model, resolve

REWARD = "judge_r1.episode.checklist_reward.checklist_reward"


def trl(stage: str, *options: object) -> None:
    """Runs the script of the command `trl STAGE` in this process."""
    script = importlib.import_module(f"trl.scripts.{stage}")
    plain = ["--use_cpu", "true", "--bf16", "false", "--gradient_checkpointing", "false", "--report_to", "none",
             "--logging_steps", "1"]  # fmt: skip
    script.main(*script.make_parser().parse_args_and_config([*map(str, options), *plain]))


def logged(out: Path, step: int, name: str) -> list[float]:
    """A metric of all steps, from the last checkpoint."""
    state = json.loads((out / f"checkpoint-{step}" / "trainer_state.json").read_text())
    return [row[name] for row in state["log_history"] if name in row]


@pytest.mark.slow
def test_trl_trains_on_the_export_and_held_out_pairs_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, data, rewards = make_judged_checkout(tmp_path / "HelloBench", 6, BEST_AND_MID), tmp_path / "trl", []
    build("checklist-pairs", tmp_path / "pairs" / "train", path=root, variants=1)
    build("checklist-pairs-test", tmp_path / "pairs" / "test", path=root, variants=1)
    export(tmp_path / "pairs", data, "trl", Options())

    def every_second_gold(completions: list[Any], **columns: Any) -> list[float]:
        """The reward, with every second completion replaced by the gold answer: a tiny model writes no JSON."""
        golds = zip(columns["comparison"], columns["lower_items"], strict=True)
        texts = [json.dumps({"comparison": comparison, "lower_items": lower}) for comparison, lower in golds]
        mixed = [gold if n % 2 else text for n, (gold, text) in enumerate(zip(texts, completions, strict=True))]
        rewards.extend(checklist_reward(mixed, **columns))
        return rewards

    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(sys, "path", list(sys.path))  # TRL adds to it
    monkeypatch.setattr(REWARD, every_second_gold)
    sft, grpo = tmp_path / "sft", tmp_path / "grpo"
    trl("sft", "--model_name_or_path", resolve("bundled:tiny"), "--dataset_name", data, "--dataset_config", "sft",
        "--output_dir", sft, "--max_length", 2048, "--max_steps", 6, "--per_device_train_batch_size", 1,
        "--learning_rate", 1e-3)  # fmt: skip
    first, *_, last = logged(sft, 6, "loss")
    assert last < first
    trl("grpo", "--model_name_or_path", sft, "--dataset_name", data, "--dataset_config", "grpo",
        "--reward_funcs", REWARD, "--output_dir", grpo, "--max_completion_length", 4, "--max_steps", 1,
        "--per_device_train_batch_size", 2, "--num_generations", 2)  # fmt: skip
    assert (rewards, logged(grpo, 1, "reward")) == ([0.0, 1.0], [0.5])  # gold scores 1
    weights = [list(load_model(str(folder)).parameters()) for folder in (sft, grpo)]
    assert not all(torch.equal(old, new) for old, new in zip(*weights, strict=True))
    judged = run("eval", "--benchmark", "checklist-pairs", "--path", tmp_path / "pairs" / "test", "--judge",
                 f"j=direct:budget.response_tokens=4@{grpo}", "--out", tmp_path / "eval")  # fmt: skip
    assert judged.returncode == 0, judged.stderr
    (row,) = json.loads((tmp_path / "eval" / "summary.json").read_text())["rows"]
    assert row["n"] > 0
