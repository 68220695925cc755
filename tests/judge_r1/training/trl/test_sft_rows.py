from pathlib import Path

import pytest
from factories import ByteTokenizer, evidence
from turn_recipes import RECIPE

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Trajectory
from judge_r1.episode.config import Budget
from judge_r1.episode.machine import Episode
from judge_r1.files.run_log import read_rows
from judge_r1.training.checkpoint_manifest import write_manifest
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.resume import resume
from judge_r1.training.trl.sft import IGNORED, train_sft, training_row


def trajectory() -> Trajectory:
    episode = Episode([7, 8], Budget(response_tokens=99, observation_tokens=99), ByteTokenizer())
    for text in ("<search>q</search>", '<answer>{"comparison": "A>B", "violated_principles": []}</answer>'):
        ids = list(text.encode())
        episode.feed(ids, [0.0] * len(ids))
        if len(episode.turns) == 0:
            episode.observe(evidence("passage"))
    return episode.trajectory()


def test_labels_are_the_sampled_tokens_and_eos() -> None:
    episode = trajectory()
    row = training_row(episode, 0)
    assert row["input_ids"] == [7, 8, *episode.token_ids, 0]
    assert len(row["labels"]) == len(row["input_ids"])
    assert row["labels"][:2] == [IGNORED, IGNORED]
    assert row["labels"][-1] == 0
    for label, token, mask in zip(row["labels"][2:-1], episode.token_ids, episode.loss_mask, strict=True):
        assert label == (token if mask else IGNORED)
    assert 0 in episode.loss_mask


def test_eos_is_not_appended_twice() -> None:
    row = training_row(trajectory().model_copy(update={"token_ids": (5, 0), "loss_mask": (1, 1)}), 0)
    assert row == {"input_ids": [7, 8, 5, 0], "labels": [IGNORED, IGNORED, 5, 0]}


def test_the_trainer_computes_its_loss_on_exactly_these_labels(tmp_path: Path) -> None:
    """TRL's data preparation and collator keep the labels of rows of different lengths."""
    import torch
    from datasets import Dataset
    from real_tokenizers import awkward
    from transformers import Qwen3Config, Qwen3ForCausalLM
    from trl import SFTConfig, SFTTrainer

    tokenizer = awkward()
    rows = [training_row(trajectory(), tokenizer.eos_token_id), {"input_ids": [5, 6, 7], "labels": [IGNORED, 6, 7]}]
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1,
        num_key_value_heads=1, head_dim=8,
    )  # fmt: skip
    trainer = SFTTrainer(
        model=Qwen3ForCausalLM(config),
        args=SFTConfig(output_dir=str(tmp_path), use_cpu=True, max_length=None, report_to=[], bf16=False),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    batch = next(iter(trainer.get_train_dataloader()))
    for ids, labels, mask in zip(batch["input_ids"], batch["labels"], batch["attention_mask"], strict=True):
        real = mask.bool()
        row = next(row for row in rows if row["input_ids"] == ids[real].tolist())
        assert labels[real].tolist() == row["labels"]
        assert set(labels[~real].tolist()) <= {IGNORED}
    assert torch.is_tensor(batch["labels"])


class Trainer:
    model = None

    def _issue_warnings_after_load(self, loaded: object) -> None:
        pass

    def remove_callback(self, callback: type) -> None:
        pass

    def add_callback(self, callback: object) -> None:
        pass

    def train(self, resume_from_checkpoint: str | None) -> None:
        self.resumed = resume_from_checkpoint


@pytest.mark.parametrize(("steps", "expected"), [([], []), ([2], [1, 2]), ([4, 30], [1, 2, 3, 4])])
def test_logs_are_truncated_to_the_last_complete_checkpoint(
    tmp_path: Path, steps: list[int], expected: list[int]
) -> None:
    run, trainer = RunFolder(tmp_path, RECIPE), Trainer()
    for step in (1, 2, 3, 4):
        run.log({"step": step})
    for step in steps:
        (run.checkpoints / f"checkpoint-{step}").mkdir(parents=True)
        write_manifest(run.checkpoints / f"checkpoint-{step}")
    (run.checkpoints / "checkpoint-40").mkdir(parents=True)  # killed before its manifest was written
    resume(trainer, run)
    assert [row["step"] for row in read_rows(tmp_path / "metrics.jsonl")] == expected
    assert trainer.resumed == (str(run.checkpoints / f"checkpoint-{steps[-1]}") if steps else None)


def test_training_without_examples_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="recipe test: no example to train on"):
        train_sft(RECIPE, list, RunFolder(tmp_path, RECIPE))
