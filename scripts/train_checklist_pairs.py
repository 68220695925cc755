"""Trains a judge on pairs from checklist scores with TRL, from the tables of `judge-r1 export --format trl`.

    judge-r1 build checklist-pairs --path HelloBench --out runs/pairs/train
    judge-r1 export runs/pairs --format trl --out runs/pairs-trl
    python scripts/train_checklist_pairs.py sft --data runs/pairs-trl --model MODEL --out runs/pairs-sft
    python scripts/train_checklist_pairs.py grpo --data runs/pairs-trl --model runs/pairs-sft --out runs/pairs-grpo

`sft` learns the gold answers; prompts have no loss. `grpo` samples answers and rewards them with `checklist_reward`.
Whole prompts are used: a pair of long responses can have 10,000 tokens. Checkpoints and metrics are TRL's.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.episode.checklist_reward import checklist_reward
from judge_r1.models.hub import context_length, load_model, load_tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=("sft", "grpo"))
    parser.add_argument("--data", type=Path, required=True, help="the folder of the export")
    parser.add_argument("--model", required=True, help="a folder, a hub name or bundled:NAME")
    parser.add_argument("--out", type=Path, required=True, help="the folder of the trained model")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=8, help="pairs of a step of sft, answers of a step of grpo")
    parser.add_argument("--group", type=int, default=8, help="answers to one pair (grpo)")
    parser.add_argument("--answer-tokens", type=int, default=256, help="the longest answer (grpo)")
    parser.add_argument("--rate", type=float, default=1e-5)
    given = parser.parse_args()
    rows = table(given.data, given.stage)
    check_context(rows, given.stage, given.model, given.answer_tokens if given.stage == "grpo" else 0)
    common = {"max_steps": given.steps, "per_device_train_batch_size": given.batch, "learning_rate": given.rate}
    if given.stage == "sft":
        trainer = sft(rows, given.model, given.out, **common)
    else:
        sampling = {"num_generations": given.group, "max_completion_length": given.answer_tokens}
        trainer = grpo(rows, given.model, given.out, **common, **sampling)
    trainer.save_model(str(given.out))


def table(data: Path, stage: str) -> Any:
    """The training rows of a stage. Raises: JudgeError if the folder is no such export."""
    from datasets import Dataset

    file = data / stage / "train.jsonl"
    if not file.is_file():
        raise JudgeError(f"{file} is missing: write it with `judge-r1 export FOLDER --format trl --out {data}`")
    return Dataset.from_json(str(file)).remove_columns("pair_id")


def check_context(rows: Any, stage: str, model: str, answer_tokens: int) -> None:
    """Checks that every example fits. Raises: JudgeError with the longest one."""
    tokenizer, context = load_tokenizer(model), context_length(model)
    column = "messages" if stage == "sft" else "prompt"
    shown = [tokenizer.apply_chat_template(row[column], tokenize=False) for row in rows]
    longest = max(len(tokenizer(text).input_ids) for text in shown) + answer_tokens
    if context and longest > context:
        raise JudgeError(
            f"an example has {longest} tokens with its answer, and {model} reads {context}: take a model with a longer "
            "context"
        )


def sft(rows: Any, model: str, out: Path, **settings: Any) -> Any:
    """A trained SFTTrainer. `settings` are those of TRL's SFTConfig."""
    from trl import SFTConfig, SFTTrainer

    # TRL splits a conversation into prompt and completion, and only the completion has a loss
    split = rows.map(lambda row: {"prompt": row["messages"][:-1], "completion": row["messages"][-1:]})
    return _trained(
        SFTTrainer(
            model=load_model(model, training=True),
            args=SFTConfig(max_length=None, **_arguments(out, settings)),
            train_dataset=split.remove_columns("messages"),
            processing_class=load_tokenizer(model),
        )
    )


def grpo(
    rows: Any, model: str, out: Path, reward: Callable[..., list[float]] = checklist_reward, **settings: Any
) -> Any:
    """A trained GRPOTrainer. `settings` are those of TRL's GRPOConfig."""
    from trl import GRPOConfig, GRPOTrainer

    return _trained(
        GRPOTrainer(
            model=load_model(model, training=True),
            args=GRPOConfig(**_arguments(out, settings)),
            reward_funcs=reward,
            train_dataset=rows,
            processing_class=load_tokenizer(model),
        )
    )


def _arguments(out: Path, settings: dict[str, Any]) -> dict[str, Any]:
    import torch

    gpu = torch.cuda.is_available()
    plain = {"logging_steps": 1, "save_strategy": "no", "report_to": [], "use_cpu": not gpu, "bf16": gpu}
    return {"output_dir": str(out), **plain, **settings}


def _trained(trainer: Any) -> Any:
    trainer.train()
    return trainer


if __name__ == "__main__":
    main()
