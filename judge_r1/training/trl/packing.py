"""Packing: the examples of a micro-batch stand in one row of tokens, without padding, and attend to themselves only.

A step holds the same examples as without packing and has the same loss. That examples do not see each other is the
attention's doing, from the positions that begin anew with each; it is tried on the model at hand before the first step.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import torch
from transformers import TrainerCallback
from transformers.utils import is_flash_attn_2_available

from judge_r1.core.errors import JudgeError

LONGEST_MASKED = 16_384
"""Tokens of a row under masked attention: the mask has their square, here 256 MiB a layer in flight."""
_PROBE = 12
"""Tokens of each example of the trial."""


class NoPacking(JudgeError):
    """The attention in use cannot train on packed rows."""


def attention() -> str | None:
    """FlashAttention where it is installed; otherwise None, the model's own attention with a mask."""
    return "flash_attention_2" if torch.cuda.is_available() and is_flash_attn_2_available() else None


def check_rows(lengths: Sequence[int], examples: int) -> None:
    """Errors: NoPacking if a row of so many `examples` is too long for masked attention, and there is no other."""
    longest = max(sum(lengths[start : start + examples]) for start in range(0, len(lengths), examples))
    if attention() is None and longest > LONGEST_MASKED:
        raise NoPacking(
            f"sft.packing: a row of {longest} tokens needs FlashAttention (a GPU, and pip install flash-attn); without "
            f"it rows end at {LONGEST_MASKED}: lower sft.micro_batch_size, or set sft.packing to false"
        )


class Isolation(TrainerCallback):  # type: ignore[misc]
    """Before the first step: does what an example says change what the model makes of the next one in its row?

    `collate` is the trainer's own collator. Errors: NoPacking.
    """

    def __init__(self, collate: Callable[[Any], Any]) -> None:
        self.collate = collate

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        precision = torch.autocast("cuda", dtype=torch.bfloat16) if args.bf16 else nullcontext()
        with torch.no_grad(), precision:
            one, other = (self._second_example(model, first, args.device) for first in (1, 2))
        if not torch.allclose(one, other, rtol=0, atol=1e-4 * float(one.abs().max())):
            raise NoPacking(
                f"sft.packing: the attention {model.config._attn_implementation!r} of this model lets the examples of "
                "a row see each other: use FlashAttention (a GPU, and pip install flash-attn), or set sft.packing to "
                "false"
            )

    def _second_example(self, model: Any, first: int, device: Any) -> torch.Tensor:
        """The logits of an example that stands behind another one, all of whose tokens are `first`."""
        rows = [[first] * _PROBE, list(range(3, 3 + _PROBE))]
        batch = self.collate([{"input_ids": row, "labels": row} for row in rows])
        inputs = {k: v.to(device) if torch.is_tensor(v) else v for k, v in batch.items() if k != "labels"}
        logits: torch.Tensor = model(**inputs, use_cache=False).logits[0, _PROBE:]
        return logits.float()
