"""With batches of similar length, the gradients of a run add up to the gradient of the mean over all its tokens."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from toy_model import toy_model
from transformers import TrainerCallback
from trl import SFTConfig, SFTTrainer
from turn_recipes import turn_recipe

from judge_r1.core.records import Trajectory
from judge_r1.files.run_log import read_rows
from judge_r1.models.hub import load_model, load_tokenizer
from judge_r1.training.data.training_pairs import by_length, shuffled
from judge_r1.training.lora import adapter_config
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.stage_config import LoraConfig
from judge_r1.training.trl.sft import IGNORED, SortedBatchTrainer, train_sft, training_row

BATCH, PROMPT, ALIKE = 4, 3, 2
"""Examples of a batch, tokens of a prompt, and how many of them begin all prompts."""


def rows() -> list[dict[str, list[int]]]:
    """Twelve short examples of low token ids and twelve long ones of high ids."""
    made = []
    for number in range(24):
        length, low = (2 + number % 2, 10) if number < 12 else (30 + number % 5, 300)
        random = torch.Generator().manual_seed(number)
        ids = [7] * ALIKE + torch.randint(low, low + 200, (PROMPT - ALIKE + length,), generator=random).tolist()
        made.append({"input_ids": ids, "labels": [IGNORED] * PROMPT + ids[PROMPT:]})
    return made


def batches() -> list[list[dict[str, list[int]]]]:
    data = rows()
    order = by_length([len(row["input_ids"]) for row in data], len(data), BATCH, 0)
    return [[data[i] for i in order[start : start + BATCH]] for start in range(0, len(order), BATCH)]


def trained_tokens(examples: Sequence[dict[str, list[int]]]) -> int:
    return sum(len(row["labels"]) - PROMPT for row in examples)


class Gradients(TrainerCallback):  # type: ignore[misc]
    """The sum of the gradients of all steps."""

    def __init__(self) -> None:
        self.sum = torch.tensor(0.0)

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        self.sum = self.sum + flat_gradient(model)


def flat_gradient(model: Any) -> torch.Tensor:
    return torch.cat([p.grad.flatten().clone() for p in model.parameters() if p.grad is not None])


def run(folder: Path, trainer_type: Any, micro: int = BATCH, packing: bool = False, lora: bool = False) -> Any:
    """A trainer after one epoch of sorted batches with learning rate 0, with its `gradients`."""
    from datasets import Dataset

    data = Dataset.from_list([row for batch in batches() for row in batch])
    gradients = Gradients()
    torch.manual_seed(0)
    trainer = trainer_type(
        model=load_model(str(toy_model()), training=True).float(),
        args=SFTConfig(
            output_dir=str(folder), use_cpu=True, bf16=False, max_length=None, report_to=[], padding_free=packing,
            per_device_train_batch_size=micro, gradient_accumulation_steps=BATCH // micro, num_train_epochs=1,
            per_device_eval_batch_size=BATCH, train_sampling_strategy="sequential", gradient_checkpointing=False,
            optim="sgd", learning_rate=0.0, max_grad_norm=0.0, logging_steps=1, save_strategy="no", disable_tqdm=True,
        ),
        train_dataset=data,
        eval_dataset=data,
        processing_class=load_tokenizer(str(toy_model())),
        peft_config=adapter_config(LoraConfig(rank=2, alpha=4) if lora else None),
        callbacks=[gradients],
    )  # fmt: skip
    trainer.train()
    trainer.gradients = gradients.sum
    return trainer


def constant(**options: Any) -> SortedBatchTrainer:
    return SortedBatchTrainer(tokens_per_step=trained_tokens(rows()) / len(batches()), **options)


def summed_loss(model: Any, examples: Sequence[dict[str, list[int]]]) -> Any:
    """The loss of every trained token, one example at a time, without TRL."""
    losses = []
    for row in examples:
        logits = model(input_ids=torch.tensor([row["input_ids"]])).logits[0, :-1].float()
        losses.append(
            torch.nn.functional.cross_entropy(
                logits, torch.tensor(row["labels"][1:]), reduction="sum", ignore_index=IGNORED
            )
        )
    return torch.stack(losses).sum()


def gradient_by_hand(model: Any) -> torch.Tensor:
    """The gradient of the mean over all trained tokens of the run."""
    model.eval()
    model.zero_grad()
    (summed_loss(model, rows()) / trained_tokens(rows())).backward()
    return flat_gradient(model)


def relative_error(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).norm() / expected.norm())


@pytest.mark.parametrize(
    "options",
    [{}, {"micro": 1}, {"micro": 2, "packing": True}, {"micro": 2, "lora": True}],
    ids=["whole batches", "accumulation", "packing", "LoRA"],
)
def test_the_gradients_of_a_run_are_the_gradient_of_the_mean_over_its_tokens(
    options: dict[str, Any], tmp_path: Path
) -> None:
    trainer = run(tmp_path, constant, **options)
    mean = trainer.gradients / len(batches())
    assert mean.norm() > 1e-3
    assert relative_error(mean, gradient_by_hand(trainer.model)) < 1e-4


def test_the_logged_loss_is_the_mean_over_the_tokens_of_the_step(tmp_path: Path) -> None:
    trainer = run(tmp_path, constant, micro=2)
    logged = [row["loss"] for row in trainer.state.log_history if "loss" in row]
    with torch.no_grad():
        sums = [float(summed_loss(trainer.model.eval(), batch)) for batch in batches()]
    assert logged == pytest.approx(
        [total / trained_tokens(batch) for total, batch in zip(sums, batches(), strict=True)], rel=1e-4
    )
    assert trainer.state.log_history[-1]["train_loss"] == pytest.approx(sum(sums) / trained_tokens(rows()), rel=1e-4)


def test_the_loss_of_an_evaluation_is_trls(tmp_path: Path) -> None:
    losses = [run(tmp_path, kind).evaluate()["eval_loss"] for kind in (constant, SFTTrainer)]
    assert losses[0] == losses[1] > 0


@pytest.mark.parametrize(("sort", "packing"), [(True, False), (False, False), (True, True), (False, True)])
def test_a_recipe_that_sorts_divides_by_the_constant_and_random_batches_by_their_tokens(
    sort: bool, packing: bool, tmp_path: Path
) -> None:
    """The gradient norm and loss of every step of `train_sft`, against the same batches by hand, and its tokens."""
    changes = (f"sft.by_length={str(sort).lower()}", f"sft.packing={str(packing).lower()}", f"sft.batch_size={BATCH}")
    recipe = turn_recipe("sft", tmp_path, *changes, "sft.learning_rate=1.0e-30", "sft.max_steps=-1")
    examples = [
        Trajectory(
            prompt_ids=tuple(ids[:PROMPT]), token_ids=tuple(ids[PROMPT:]), loss_mask=(1,) * len(ids[PROMPT:]),
            logprobs=(-1.0,) * len(ids[PROMPT:]), turns=(), judgment=None, ended="answer", reward=None,
        )
        for ids in (row["input_ids"] for row in rows())
    ]  # fmt: skip
    train_sft(recipe, lambda: examples, RunFolder(tmp_path / "run", recipe))
    model, eos = load_model(str(toy_model()), training=True).float(), load_tokenizer(str(toy_model())).eos_token_id
    data = [training_row(example, eos) for example in examples]
    lengths = [len(row["input_ids"]) for row in data]
    order = by_length(lengths, len(data), BATCH, recipe.seed) if sort else shuffled(len(data), len(data), recipe.seed)
    steps = [[data[i] for i in order[start : start + BATCH]] for start in range(0, len(data), BATCH)]
    logged = [row for row in read_rows(tmp_path / "run" / "metrics.jsonl") if "loss" in row]
    assert len(logged) == len(steps) == 6
    after_the_first = len(data) - len(data) // recipe.sft.micro_batch_size  # of its packed row
    assert logged[-1]["trl/num_tokens"] == sum(lengths) - packing * after_the_first * ALIKE
    for row, batch in zip(logged, steps, strict=True):
        model.zero_grad()
        loss, tokens = summed_loss(model, batch), trained_tokens(batch)
        loss.backward()
        divisor = trained_tokens(data) / len(steps) if sort else tokens
        assert row["loss"] == pytest.approx(float(loss.detach()) / tokens, rel=1e-4)
        assert row["grad_norm"] == pytest.approx(float(flat_gradient(model).norm()) / divisor, rel=1e-3)
