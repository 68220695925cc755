"""Computes the prompt that episodes of a group share once per micro-batch of GRPO, with its gradient.

The states of a prompt without its last token are computed once and repeated for its episodes. The last token starts
the second part of every row, because its hidden state predicts the first token of the response.
"""

from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer
from trl import GRPOTrainer


class SharedPromptTrainer(GRPOTrainer):  # type: ignore[misc]
    """Puts episodes of one prompt into the same micro-batch of an update, and computes their prompt once.

    Gradient checkpointing, which is on for GPUs, keeps no states: whole rows are computed there."""

    _buffered_inputs: Any

    def _prepare_inputs(self, generation_batch: Any) -> Any:
        before = self._buffered_inputs
        inputs = super()._prepare_inputs(generation_batch)
        if self._buffered_inputs is before or self._buffered_inputs is None:
            return inputs
        self._buffered_inputs = by_prompt(self._buffered_inputs, self.args.gradient_accumulation_steps)
        return self._buffered_inputs[self._step % self.args.steps_per_generation]

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: Any, attention_mask: Any, logits_to_keep: int, *args: Any, **kwargs: Any
    ) -> Any:
        input_ids, attention_mask = without_shared_padding(input_ids, attention_mask)
        if not args and torch.is_grad_enabled() and not (self.args.gradient_checkpointing or self.aux_loss_enabled):
            found = shared_logprobs(model, input_ids, attention_mask, logits_to_keep)
            if found is not None:
                return *found, None
        return super()._get_per_token_logps_and_entropies(
            model, input_ids, attention_mask, logits_to_keep, *args, **kwargs
        )


def without_shared_padding(input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both without the columns on the left that are padding in every row. TRL pads prompts to the longest of the step.

    Rows of one prompt are then padded on the right alone, and need no mask (see `judge_r1.models.right_padding`)."""
    padding = int((attention_mask.cumsum(1) == 0).all(0).sum())
    return input_ids[:, padding:], attention_mask[:, padding:]


def shared_logprobs(
    model: Any, input_ids: torch.Tensor, attention_mask: torch.Tensor, response: int
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Log-probabilities and entropies of the last `response` tokens of each row, [rows, response], or None if no two
    rows share their prompt, or the layers of the model do not keep plain states.

    Equal to the forward pass over whole rows, up to rounding. `model` has TRL's fused LM head; prompts are padded on
    the left.
    """
    first = input_ids.shape[1] - response - 1  # the last token of a prompt belongs to the second part
    cache = DynamicCache(config=model.config)
    if first < 1 or any(type(layer) is not DynamicLayer for layer in cache.layers):
        return None
    prompts = torch.stack((input_ids[:, :first], attention_mask[:, :first]))
    distinct, row_of = torch.unique(prompts, dim=1, return_inverse=True)
    if distinct.shape[1] == len(input_ids):
        return None
    model(input_ids=distinct[0], attention_mask=distinct[1], past_key_values=cache, use_cache=True, logits_to_keep=1)
    cache.batch_select_indices(row_of)
    ids = input_ids[:, first:]
    labels = ids.masked_fill(attention_mask[:, first:] == 0, -100)
    labels[:, 0] = -100
    outputs = model(
        input_ids=ids, attention_mask=attention_mask, past_key_values=cache, labels=labels, fused_lm_head=True
    )
    return outputs.log_probs, outputs.entropy


def by_prompt(batches: list[dict[str, Any]], per_update: int) -> list[dict[str, Any]]:
    """The micro-batches with the episodes of each update sorted by prompt, so that a micro-batch shares prompts.

    `per_update` micro-batches make one update. Its loss does not depend on their order."""
    sorted_: list[dict[str, Any]] = []
    for start in range(0, len(batches), per_update):
        update = batches[start : start + per_update]
        rows = len(update[0]["prompt_ids"])
        prompts = torch.cat([batch["prompt_ids"] for batch in update])
        order = torch.argsort(torch.unique(prompts, dim=0, return_inverse=True)[1], stable=True)
        for number in range(len(update)):
            chosen = order[number * rows : (number + 1) * rows]
            sorted_.append({name: _rows([batch[name] for batch in update], rows, chosen) for name in update[0]})
    return sorted_


def _rows(parts: list[Any], rows: int, chosen: torch.Tensor) -> Any:
    """The chosen rows of a tensor or list that is split over micro-batches; a value of the whole batch as it is."""
    if torch.is_tensor(parts[0]):
        return parts[0] if parts[0].dim() == 0 else torch.cat(parts)[chosen]
    if isinstance(parts[0], list) and len(parts[0]) == rows:
        return [[row for part in parts for row in part][i] for i in chosen.tolist()]
    return parts[0]
