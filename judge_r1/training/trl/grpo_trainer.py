"""TRL's GRPO trainer with three changes: a micro-batch is packed into one row without padding, and the common beginning
of its episodes is computed once; several updates of a batch take the sampler's log-probabilities as old ones; and the
KL estimate of a token has verl's upper bound.

In a packed row the first episode stands whole. Each other one starts with the last token that it shares with the one
before, because its hidden state predicts the first that differs (see `judge_r1.models.cpu.packed_attention`).

The low-variance estimate exp(d) - d - 1, d = log π_ref - log π, is unbounded if the policy abandons a token to which
the reference gives a high probability: one token can outweigh the batch. verl clamps the estimate of each token at 10,
where its gradient is 0. TRL has no clamp.
"""

from contextlib import ExitStack
from typing import Any

import torch
from torch.nn.functional import pad
from trl import GRPOTrainer

from judge_r1.models.base import IGNORED
from judge_r1.models.cpu.packed_attention import NoPositions, has_plain_layers, using_attention

Logprobs = tuple[torch.Tensor, torch.Tensor | None]
"""Log-probabilities, and entropies where the model's head has them."""


class SharedPromptTrainer(GRPOTrainer):  # type: ignore[misc]
    """Puts episodes of one prompt into the same micro-batch of an update, and computes their common beginning once.

    Without KL, an episode of advantage 0 moves no weight, such as one of a group with equal rewards. It is not read
    (unless a micro-batch has no other, which reads one): the sampler's log-probabilities give its logged entropy.

    The passes for the log-probabilities before the update and of the reference do so, too. With gradient checkpointing,
    which is on for GPUs, the backward pass computes the packed row again."""

    old_from_sampler = False
    """Whether the sampler's log-probabilities are those of the policy before the first update, up to rounding. Several
    updates of a batch then take them as the old ones, and TRL's own pass for these is left out."""
    _skips_old = False
    _buffered_inputs: Any
    _backward: ExitStack | None = None
    """What lasts until the end of the backward pass."""

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        several = self.args.steps_per_generation > self.args.gradient_accumulation_steps
        self._skips_old = self.old_from_sampler and several
        output = super()._generate_and_score_completions(inputs)
        if self.old_from_sampler and several:
            assert not self._skips_old, "TRL did not ask for the old log-probabilities"
            output["old_per_token_logps"] = output["sampling_per_token_logps"]
        return output

    def _prepare_inputs(self, generation_batch: Any) -> Any:
        before = self._buffered_inputs
        inputs = super()._prepare_inputs(generation_batch)
        if self._buffered_inputs is before or self._buffered_inputs is None:
            return inputs
        self._buffered_inputs = by_prompt(self._buffered_inputs, self.args.gradient_accumulation_steps)
        return self._buffered_inputs[self._step % self.args.steps_per_generation]

    def training_step(self, *args: Any, **kwargs: Any) -> Any:
        with ExitStack() as self._backward:
            return super().training_step(*args, **kwargs)

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        self._own = inputs["completion_mask"] * inputs.get("tool_mask", 1)
        self._sampled = inputs.get("sampling_per_token_logps")
        self._moves = (inputs["advantages"] != 0) | (self.beta != 0) | (not self.old_from_sampler)
        if not self._moves.any():  # a loss without any gradient has no backward pass
            self._moves[self._own.sum(1).argmax()] = True
        return super()._compute_loss(model, inputs)

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: Any,
        attention_mask: Any,
        logits_to_keep: int,
        batch_size: int | None = None,
        **options: Any,
    ) -> Any:
        if self._skips_old:  # TRL asks for the old ones first
            self._skips_old = False
            return None, None, None
        if not self.aux_loss_enabled:
            with self.accelerator.autocast():
                if torch.is_grad_enabled():
                    found = self._packed(model, input_ids, attention_mask)
                else:
                    rows = batch_size or len(input_ids)
                    found = packed_in_parts(model, input_ids, attention_mask, logits_to_keep, rows)
            if found is not None:
                return *found, None
        input_ids, attention_mask = without_shared_padding(input_ids, attention_mask)
        return super()._get_per_token_logps_and_entropies(
            model, input_ids, attention_mask, logits_to_keep, batch_size, **options
        )

    def _packed(self, model: Any, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Logprobs | None:
        """As `packed_logprobs`, with the sampler's values for rows that move no weight."""
        moves = self._moves
        found = packed_logprobs(model, input_ids[moves], attention_mask[moves], self._own[moves], self._backward)
        if found is None or moves.all():
            return found
        logprobs = self._sampled * self._own
        entropies = -logprobs  # their mean estimates the entropy
        logprobs[moves] = found[0]
        if found[1] is not None:
            entropies[moves] = found[1]
        return logprobs, entropies


def without_shared_padding(input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both without the columns on the left that are padding in every row. TRL pads prompts to the longest of the step.

    Rows of one prompt are then padded on the right alone, and need no mask (see `judge_r1.models.cpu.training`)."""
    padding = int((attention_mask.cumsum(1) == 0).all(0).sum())
    return input_ids[:, padding:], attention_mask[:, padding:]


def packed_in_parts(
    model: Any, input_ids: torch.Tensor, attention_mask: torch.Tensor, response: int, rows: int
) -> Logprobs | None:
    """As `packed_logprobs`, of all tokens of the responses, `rows` at a time."""
    parts = list[Logprobs]()
    for ids, mask in zip(torch.split(input_ids, rows), torch.split(attention_mask, rows), strict=True):
        if (found := packed_logprobs(model, ids, mask, mask[:, -response:])) is None:
            return None
        parts.append(found)
    logprobs, entropies = zip(*parts, strict=True)
    return torch.cat(logprobs), None if None in entropies else torch.cat(entropies)


def packed_logprobs(
    model: Any,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    own: torch.Tensor,
    backward: ExitStack | None = None,
) -> Logprobs | None:
    """Log-probabilities and entropies of the tokens of each response that are `own`, [rows, response], 0 elsewhere; or
    None if the model's attention is not PyTorch's over whole texts, or if the model has checkpoints and no `backward`.
    Entropies are None if the model's head has none.

    Equal to the forward pass over whole rows, up to rounding. `model` has TRL's fused LM head; prompts are padded on
    the left and responses on the right. A model with checkpoints computes its layers again in the backward pass, so it
    reads packed rows until `backward` closes.
    """
    attention = model.config.get_text_config()._attn_implementation
    checkpoints = torch.is_grad_enabled() and any(getattr(m, "gradient_checkpointing", False) for m in model.modules())
    if attention != "sdpa" or (checkpoints and backward is None) or not has_plain_layers(model):
        return None
    texts = torch.stack((input_ids, attention_mask), 2).flatten(1)
    order = torch.argsort(torch.unique(texts, dim=0, return_inverse=True)[1], stable=True)
    ids, mask, scored = input_ids[order], attention_mask[order], own[order].bool()
    first, width = input_ids.shape[1] - own.shape[1], input_ids.shape[1]
    columns = torch.arange(width, device=ids.device)
    # The number of first columns in which a row is as the one before. Its last token is read again, unless all are.
    same = ((ids[1:] == ids[:-1]) & (mask[1:] == mask[:-1])).cumprod(1).sum(1)
    same = pad(same, (1, 0))[:, None]
    # The row in which the token of a column is read, and whether it is read for a row that scores it.
    rows = torch.arange(len(ids), device=ids.device)[:, None]
    reader = torch.where(same <= columns, rows, 0).cummax(0).values[:, first:]
    wanted = torch.zeros_like(reader).scatter_add(0, reader, scored.long()) > 0
    taken = mask.bool() & (columns >= same - 1) & (same < width)
    labels = pad(ids[:, first:].masked_fill(~wanted, IGNORED), (first, 0), value=IGNORED)[taken]
    packed = {"input_ids": ids[taken], "position_ids": (mask.cumsum(1) - 1)[taken], "labels": labels}
    try:
        with ExitStack() as reading:
            reading.enter_context(using_attention(model))
            outputs = model(**{name: row[None] for name, row in packed.items()}, fused_lm_head=True)
            if checkpoints and backward is not None:
                backward.push(reading.pop_all())
    except NoPositions:
        return None

    def by_row(values: torch.Tensor) -> torch.Tensor:
        read = values.new_zeros(own.shape).masked_scatter(wanted, values[0][labels[1:] != IGNORED])
        return (read.gather(0, reader) * scored)[torch.argsort(order)]

    return by_row(outputs.log_probs), None if outputs.entropy is None else by_row(outputs.entropy)


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
        joined = [row for part in parts for row in part]
        return [joined[i] for i in chosen.tolist()]
    return parts[0]


KL_CAP = 10.0


class CappedKlTrainer(SharedPromptTrainer):
    """Removes a token over the cap from the KL term by setting its reference to the policy, for this loss only.

    The gradient equals verl's. The logged KL counts such a token as 0, verl's as 10."""

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        self._reference = None
        if (reference := inputs.get("ref_per_token_logps")) is not None:
            # A copy, since the batch serves several updates, and each has tokens of its own over the cap.
            self._reference = reference.clone()
            inputs = inputs | {"ref_per_token_logps": self._reference}
        return super()._compute_loss(model, inputs)

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        outputs = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        if (reference := getattr(self, "_reference", None)) is not None and torch.is_grad_enabled():
            policy = outputs[0].detach()
            over = (reference - policy).exp() - (reference - policy) - 1 > KL_CAP
            # In place: TRL reads this tensor from the inputs after the call.
            reference[over] = policy[over]
        return outputs
