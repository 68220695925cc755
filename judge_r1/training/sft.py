"""SFT warm-up on rationale traces, with TRL. Observation and prompt tokens carry no loss (label -100)."""

from collections.abc import Sequence
from typing import Any

from judge_r1.config import Recipe
from judge_r1.errors import JudgeError
from judge_r1.models import load_model, load_tokenizer
from judge_r1.records import Trajectory
from judge_r1.runs import Run

IGNORED = -100


def training_row(trajectory: Trajectory, eos_id: int) -> dict[str, list[int]]:
    """`input_ids` = prompt + episode + EOS; `labels` repeats the ids that the judge writes, EOS among them, so that
    stopping is learned, and is -100 elsewhere."""
    written = zip(trajectory.token_ids, trajectory.loss_mask, strict=True)
    return {
        "input_ids": [*trajectory.prompt_ids, *trajectory.token_ids, eos_id],
        "labels": [*[IGNORED] * len(trajectory.prompt_ids), *(t if m else IGNORED for t, m in written), eos_id],
    }


def train_sft(recipe: Recipe, traces: Sequence[Trajectory], run: Run) -> None:
    """Fine-tune `recipe.model` on the traces and write `run.model`, from the last checkpoint if there is one."""
    from datasets import Dataset
    from transformers.trainer_utils import get_last_checkpoint
    from trl import SFTConfig, SFTTrainer

    from judge_r1.training.logging import RunLog

    if not traces:
        raise JudgeError(f"recipe {recipe.name}: no trace to train on; `judge-r1 validate` says why pairs give none")
    model, tokenizer = load_model(recipe.model), load_tokenizer(recipe.model)
    config = recipe.sft
    args = SFTConfig(
        output_dir=str(run.checkpoints),
        num_train_epochs=config.epochs,
        max_steps=config.max_steps,
        per_device_train_batch_size=config.micro_batch_size,
        gradient_accumulation_steps=config.batch_size // config.micro_batch_size,
        learning_rate=config.learning_rate,
        warmup_steps=config.warmup_ratio,
        lr_scheduler_type="cosine",
        max_length=None,
        train_sampling_strategy="group_by_length",
        **common_arguments(recipe, model),
    )
    trainer = SFTTrainer(
        model=model,
        args=args,
        train_dataset=Dataset.from_list([training_row(t, tokenizer.eos_token_id) for t in traces]),
        processing_class=tokenizer,
        callbacks=[RunLog(run)],
    )
    resume(trainer, run, get_last_checkpoint(str(run.checkpoints)) if run.checkpoints.exists() else None)
    save_model(trainer, run)


def common_arguments(recipe: Recipe, model: Any) -> dict[str, Any]:
    """What every TRL trainer of ours is told alike."""
    on_gpu = model.device.type == "cuda"
    return {
        "use_cpu": not on_gpu,
        "bf16": on_gpu,
        "gradient_checkpointing": on_gpu,
        "seed": recipe.seed,
        "logging_steps": 1,
        "save_steps": recipe.save_every,
        "save_total_limit": 2,
        "report_to": [],
        "dataloader_num_workers": 0,
    }


def resume(trainer: Any, run: Run, checkpoint: str | None) -> None:
    """Train from the checkpoint if there is one, with the logs cut back to it first."""
    run.cut_back(int(checkpoint.rsplit("-", 1)[1]) if checkpoint else 0)
    trainer.train(resume_from_checkpoint=checkpoint)


def save_model(trainer: Any, run: Run) -> None:
    """Write `run.model` whole: a folder of that name is a finished model, whatever was killed before."""
    partial = run.folder / ".model.partial"
    trainer.save_model(str(partial))
    if trainer.is_world_process_zero():
        partial.rename(run.model)
