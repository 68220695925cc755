"""TRL's GRPO trainer with verl's bound on the KL of one token.

The low-variance estimate exp(d) - d - 1, d = log π_ref - log π, grows without bound where the policy gives up a token
that the reference was sure of: one such token outweighs the rest of a batch. verl holds each token's estimate at 10,
where it has no gradient any more; TRL has no such bound.
"""

from typing import Any

from trl import GRPOTrainer

KL_CAP = 10.0


class CappedKlTrainer(GRPOTrainer):  # type: ignore[misc]
    """A token over the cap is taken out of the KL term by setting its reference to the policy itself, for this loss
    alone: the gradient is verl's. The logged value counts it as 0, verl's as 10."""

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        self._reference = None
        if (reference := inputs.get("ref_per_token_logps")) is not None:
            self._reference = reference.clone()
            inputs = inputs | {"ref_per_token_logps": self._reference}
        return super()._compute_loss(model, inputs)

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        found = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        if (reference := getattr(self, "_reference", None)) is not None and found[0].requires_grad:
            policy = found[0].detach()
            over = (reference - policy).exp() - (reference - policy) - 1 > KL_CAP
            reference[over] = policy[over]
        return found
