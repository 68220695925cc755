"""Packing: the examples of a micro-batch share one row of tokens without padding, and attend only to themselves.

A step has the same examples and the same loss as without packing. The attention isolates examples by their position
ids, which restart with each example. A test on the actual model before the first step verifies the isolation. A common
beginning of prompts, such as their instructions, stands once in the row if all layers have plain attention (see
`judge_r1.models.cpu.packed_attention`).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from itertools import pairwise
from operator import itemgetter
from typing import Any

import torch
from transformers import TrainerCallback
from transformers.utils import is_flash_attn_2_available

from judge_r1.core.errors import JudgeError
from judge_r1.models.base import IGNORED
from judge_r1.models.cpu.packed_attention import NAME, NoPositions, has_plain_layers
from judge_r1.models.kv_cache import shared_length

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
