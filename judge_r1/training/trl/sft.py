"""SFT with TRL on rationales or gold judgments. Prompt and observation tokens have no loss (label -100).

With `sft.packing` the examples of a micro-batch share one row of tokens without padding, and attend only to themselves.
A step has the same examples and the same loss as without. The attention isolates examples by their position ids, which
restart with each example; a test on the actual model before the first step verifies it. A common beginning of prompts
stands once in the row if all layers have plain attention (see `judge_r1.models.cpu.packed_attention`).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import Any

import torch
from transformers import TrainerCallback
from transformers.utils import is_flash_attn_2_available
from trl import SFTTrainer

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Trajectory
from judge_r1.models.base import IGNORED
from judge_r1.models.cpu.packed_attention import NAME, NoPositions, has_plain_layers
from judge_r1.models.hub import context_length, load_model, load_tokenizer
from judge_r1.models.kv_cache import shared_length
from judge_r1.training.data.single_turn_data import Examples
from judge_r1.training.lora import adapter_config
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.common import dev_examples, let_cpus_train, ordered, save_model, supervised_arguments

_PROBE = 12
"""Tokens per example in the isolation test."""


class NoPacking(JudgeError):
    """The model's attention cannot train on packed rows."""


def attention() -> str:
    """FlashAttention on a GPU; on a processor one call of PyTorch's attention per example.

    Raises:
        NoPacking: There is a GPU and no FlashAttention.
    """
    if not torch.cuda.is_available():
        return NAME
    if not is_flash_attn_2_available():
        raise NoPacking("sft.packing on a GPU needs FlashAttention: pip install flash-attn, or set sft.packing=false")
    return "flash_attention_2"


def collator(trainer: Any) -> Callable[[Any], Any]:
    """The collator of packed rows for a trainer of SFT. An auxiliary loss counts every token, also shared ones."""
    attention, shares = trainer.model.config.get_text_config()._attn_implementation, not trainer.aux_loss_enabled
    if attention == NAME and shares and has_plain_layers(trainer.model):
        return SharedBeginnings(trainer.data_collator)
    whole: Callable[[Any], Any] = trainer.data_collator
    return whole


class SharedBeginnings:
    """A collator of packed rows. The examples are sorted, and each leaves out the beginning of its prompt that the
    example before it has. `collate` is the trainer's collator, for rows of whole examples."""

    def __init__(self, collate: Callable[[Any], Any]) -> None:
        self._collate = collate

    def __call__(self, examples: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        examples = sorted(examples, key=itemgetter("input_ids"))
        starts = [0, *(_shared_prompt(before, one) for before, one in pairwise(examples))]
        kept = torch.cat(
            [torch.arange(len(one["input_ids"])) >= start for start, one in zip(starts, examples, strict=True)]
        )
        row = self._collate(examples)
        return {name: row[name][:, kept] for name in ("input_ids", "labels", "position_ids")}


def _shared_prompt(before: Mapping[str, Any], one: Mapping[str, Any]) -> int:
    """The number of first tokens that both have, without the one that predicts the first label of `one`."""
    unlabelled = next((at for at, label in enumerate(one["labels"]) if label != IGNORED), len(one["labels"]))
    return min(shared_length(before["input_ids"], one["input_ids"]), unlabelled - 1)


class Isolation(TrainerCallback):  # type: ignore[misc]
    """Verifies before the first step that an example does not change the logits of the next one in its row.

    `collate` is the trainer's collator.

    Raises:
        NoPacking: It does.
    """

    def __init__(self, collate: Callable[[Any], Any]) -> None:
        self.collate = collate

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        precision = torch.autocast("cuda", dtype=torch.bfloat16) if args.bf16 else nullcontext()
        try:
            with torch.no_grad(), precision:
                one, other = (self._second_example(model, first, args.device) for first in (1, 2))
            separate = torch.allclose(one, other, rtol=0, atol=1e-4 * float(one.abs().max()))
        except NoPositions:
            separate = False
        if not separate:
            raise NoPacking(
                f"sft.packing: the attention {model.config._attn_implementation!r} of this model lets the examples of "
                "a row see each other: use FlashAttention (a GPU, and pip install flash-attn), or set sft.packing to "
                "false"
            )

    def _second_example(self, model: Any, first: int, device: Any) -> torch.Tensor:
        """The logits of an example after another one that consists of the token `first`."""
        rows = [[first] * _PROBE, list(range(3, 3 + _PROBE))]
        batch = self.collate([{"input_ids": row, "labels": row} for row in rows])
        inputs = {k: v.to(device) if torch.is_tensor(v) else v for k, v in batch.items() if k != "labels"}
        logits: torch.Tensor = model(**inputs, use_cache=False).logits[0, _PROBE:]
        return logits.float()


class SortedBatchTrainer(SFTTrainer):  # type: ignore[misc]
    """Divides the summed loss of a step by `tokens_per_step`, the mean number of trained tokens per step over the run.

    TRL divides by the number of the step itself, so that a token of a batch of short examples would weigh more. The
    logged loss is still the mean over the tokens of the step, and the loss of an evaluation is TRL's.
    """

    def __init__(self, *, tokens_per_step: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.tokens_per_step, self._tokens = tokens_per_step, tokens_per_step
        self.model_accepts_loss_kwargs = True  # else Trainer leaves the number out; TRL's loss needs no such model

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """`num_items_in_batch` is the number of trained tokens of the step in all processes, None in an evaluation."""
        if num_items_in_batch is not None:
            self._tokens, num_items_in_batch = num_items_in_batch, self.tokens_per_step
        return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        if "loss" in logs:  # of one step, as `logging_steps` is 1
            tokens = torch.as_tensor(self._tokens).max()  # Trainer repeats it for each GPU of a process
            logs["loss"] *= self.tokens_per_step / float(tokens)
        super().log(logs, start_time)


def training_row(trajectory: Trajectory, eos_id: int) -> dict[str, list[int]]:
    """`input_ids` = prompt + episode + EOS. `labels` are the ids that the judge writes, with EOS so that it learns to
    stop, and -100 elsewhere."""
    ids, mask = trajectory.token_ids, trajectory.loss_mask
    if ids and ids[-1] == eos_id:  # ends an answer without tags
        ids, mask = ids[:-1], mask[:-1]
    return {
        "input_ids": [*trajectory.prompt_ids, *ids, eos_id],
        "labels": [
            *[IGNORED] * len(trajectory.prompt_ids),
            *(token if own else IGNORED for token, own in zip(ids, mask, strict=True)),
            eos_id,
        ],
    }


def training_rows(recipe: Recipe, examples: Examples) -> list[dict[str, Any]]:
    """The rows of all examples with their `length` in tokens, of which `trained` have a loss.

    Raises:
        JudgeError: There is no example, or one is longer than the model's context.
    """
    eos_id = load_tokenizer(recipe.model).eos_token_id
    rows = [training_row(example, eos_id) for example in examples()]
    if not rows:
        raise JudgeError(f"recipe {recipe.name}: no example to train on; `judge-r1 validate` says why pairs give none")
    longest, context = max(len(row["input_ids"]) for row in rows), context_length(recipe.model)
    if context and longest > context:
        raise JudgeError(
            f"recipe {recipe.name}: an example has {longest} tokens, the context of the model has {context}"
        )
    return [
        {**row, "length": len(row["input_ids"]), "trained": sum(label != IGNORED for label in row["labels"])}
        for row in rows
    ]


def train_sft(recipe: Recipe, examples: Examples, run: RunFolder, dev: Examples | None = None) -> None:
    """Fine-tune `recipe.model` on the examples and write `run.model`, resuming from the last checkpoint. `dev` are the
    examples whose loss is measured while it trains."""
    from trl import SFTConfig

    from judge_r1.training.trl.dev_evaluation import loss_evaluation
    from judge_r1.training.trl.resume import resume

    config = recipe.sft
    args = SFTConfig(padding_free=config.packing, **supervised_arguments(recipe, config, run))
    let_cpus_train(args)
    data = ordered(args, recipe, config, run, lambda: training_rows(recipe, examples), sort=config.by_length)
    per_step = sum(data["trained"]) * config.batch_size / len(data)
    trainer_of = partial(SortedBatchTrainer, tokens_per_step=per_step) if config.by_length else SFTTrainer
    callbacks, set_trainer = loss_evaluation(run, recipe)
    trainer = trainer_of(
        model=load_model(recipe.model, training=True, attention=attention() if config.packing else None),
        args=args,
        train_dataset=data,
        eval_dataset=dev_examples(args, run, None if dev is None else lambda: training_rows(recipe, dev)),
        processing_class=load_tokenizer(recipe.model),
        peft_config=adapter_config(recipe.lora),
        callbacks=callbacks,
    )
    set_trainer(trainer)
    if config.packing:
        trainer.data_collator = collator(trainer)
        trainer.add_callback(Isolation(trainer.data_collator))
    resume(trainer, run)
    save_model(trainer, run, recipe)
