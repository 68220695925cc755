"""TRL's GRPO trainer on the toy model, for tests of its loss."""

from pathlib import Path
from typing import Any

from toy_model import toy_model

from judge_r1.models.hub import load_model, load_tokenizer


def toy_trainer(folder: Path, kind: Any = None, **options: Any) -> Any:
    """A trainer (TRL's, or `kind`) of groups of two episodes, whose reference model TRL loads from the same folder."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    from judge_r1.training.trl.grpo import reward

    trainer = (kind or GRPOTrainer)(
        model=load_model(str(toy_model()), training=True).float(),
        args=GRPOConfig(
            output_dir=str(folder), use_cpu=True, bf16=False, per_device_train_batch_size=2, num_generations=2,
            gradient_accumulation_steps=1, report_to=[], **{"gradient_checkpointing": False, **options},
        ),
        reward_funcs=[reward],
        train_dataset=Dataset.from_list([{"prompt": "a"}] * 2),
        processing_class=load_tokenizer(str(toy_model())),
    )  # fmt: skip
    trainer.current_gradient_accumulation_steps = 1
    return trainer
