"""SFT warm-up on rationale traces, with TRL. Observation and prompt tokens carry no loss (label -100)."""

import os
from collections.abc import Sequence
from typing import Any

from judge_r1.config import Recipe
from judge_r1.errors import JudgeError
from judge_r1.models import context_length, load_model, load_tokenizer
from judge_r1.records import Trajectory
from judge_r1.runs import Run
from judge_r1.training.checkpoints import checkpoints
from judge_r1.training.order import by_length

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
    from trl import SFTConfig, SFTTrainer

    from judge_r1.training.logging import RunLog

    if not traces:
        raise JudgeError(f"recipe {recipe.name}: no trace to train on; `judge-r1 validate` says why pairs give none")
    model, tokenizer = load_model(recipe.model, training=True), load_tokenizer(recipe.model)
    config = recipe.sft
    rows = [training_row(t, tokenizer.eos_token_id) for t in traces]
    lengths, context = [len(row["input_ids"]) for row in rows], context_length(recipe.model)
    if context and max(lengths) > context:
        raise JudgeError(f"recipe {recipe.name}: a trace has {max(lengths)} tokens, the model reads {context}")
    order = by_length(lengths, round(config.epochs * len(rows)), config.batch_size, recipe.seed)
    args = SFTConfig(
        output_dir=str(run.checkpoints),
        num_train_epochs=1,
        max_steps=config.max_steps,
        per_device_train_batch_size=config.micro_batch_size,
        gradient_accumulation_steps=config.batch_size // config.micro_batch_size,
        learning_rate=config.learning_rate,
        warmup_steps=config.warmup_ratio,
        lr_scheduler_type="cosine",
        max_length=None,
        train_sampling_strategy="sequential",
        **common_arguments(recipe, model, save_steps=recipe.save_every),
    )
    trainer = SFTTrainer(
        model=model,
        args=args,
        train_dataset=Dataset.from_list(rows).select(order),
        processing_class=tokenizer,
        callbacks=[RunLog(run)],
    )
    resume(trainer, run)
    save_model(trainer, run, recipe)


def common_arguments(recipe: Recipe, model: Any, *, save_steps: int) -> dict[str, Any]:
    """What every TRL trainer of ours is told alike."""
    import torch

    on_gpu = model.device.type == "cuda"
    if int(os.environ.get("WORLD_SIZE", "1")) > 1 or (on_gpu and torch.cuda.device_count() > 1):
        raise JudgeError("this engine trains in one process on one GPU: set CUDA_VISIBLE_DEVICES=0, without torchrun")
    return {
        "use_cpu": not on_gpu,
        "bf16": on_gpu,
        "gradient_checkpointing": on_gpu,
        "seed": recipe.seed,
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "save_steps": save_steps,
        "save_total_limit": 2,
        "report_to": [],
        "disable_tqdm": True,
        "dataloader_num_workers": 0,
    }


def resume(trainer: Any, run: Run, *, updates: int = 1) -> None:
    """Train from the last whole checkpoint if there is one, with the logs cut back to it first; a step in them is
    `updates` of the trainer's."""
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)  # what it prints stands in metrics.jsonl, and in `judge-r1 watch`
    found = checkpoints(run.checkpoints, updates)
    run.cut_back(found[-1].step if found else 0)
    trainer.train(resume_from_checkpoint=str(found[-1].folder) if found else None)


def save_model(trainer: Any, run: Run, recipe: Recipe) -> None:
    """Write `run.model` whole and proven: a folder of that name is a finished model, whatever was killed before."""
    from judge_r1.training.merge import begin, finish

    partial = begin(run.model)
    trainer.save_model(str(partial))
    if trainer.is_world_process_zero():
        finish(partial, run.model, trainer.accelerator.unwrap_model(trainer.model).state_dict(), recipe, run.folder)
