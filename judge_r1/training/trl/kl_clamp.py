"""TRL's GRPO trainer with verl's upper bound on the KL estimate of a token.

The low-variance estimate exp(d) - d - 1, d = log π_ref - log π, is unbounded if the policy abandons a token to which
the reference gives a high probability: one token can outweigh the batch. verl clamps the estimate of each token at 10,
where its gradient is 0. TRL has no clamp.
"""

from typing import Any

from judge_r1.training.trl.shared_prompts import SharedPromptTrainer

KL_CAP = 10.0


class CappedKlTrainer(SharedPromptTrainer):
    """Removes a token over the cap from the KL term by setting its reference to the policy, for this loss only.

    The gradient equals verl's. The logged KL counts such a token as 0, verl's as 10."""

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        self._reference = None
        if (reference := inputs.get("ref_per_token_logps")) is not None:
            self._reference = reference.clone()
            inputs = inputs | {"ref_per_token_logps": self._reference}
        return super()._compute_loss(model, inputs)

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        outputs = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        if (reference := getattr(self, "_reference", None)) is not None and outputs[0].requires_grad:
            policy = outputs[0].detach()
            over = (reference - policy).exp() - (reference - policy) - 1 > KL_CAP
            reference[over] = policy[over]
        return outputs
