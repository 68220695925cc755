"""SFT on batches of similar length, in which every trained token of the run has the same weight."""

from typing import Any

import torch
from trl import SFTTrainer


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
