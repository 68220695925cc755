"""Dynamic sampling on verl: its own group filter, with a bound.

verl's default trainer draws again for as long as groups are alike (it ignores `max_num_gen_batches`), and waits for
ever where a judge is always right. This subclass, which comes in by `trainer.v1.sampler.custom_sampler`, stops the
filter of a step after `REDRAWS` batches of groups; what is alike then is trained on.
"""

from collections import Counter
from typing import Any

from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer

from judge_r1.training.trl.dynamic_sampling import REDRAWS


class BoundedRedraws(ReplayBuffer):  # type: ignore[misc]
    """Filters on `acc`, whether the comparison is right (an episode that the infrastructure lost counts as wrong).
    `sampler_kwargs.train_batch_size` is the number of groups in a step."""

    def __init__(self, *, sampler_kwargs: Any, **kwargs: Any) -> None:
        batch = int(sampler_kwargs["train_batch_size"])
        super().__init__(
            sampler_kwargs=sampler_kwargs,
            filter_groups_metric="acc",
            train_batch_size=batch,
            gen_batch_size=1,
            **kwargs,
        )
        self._most, self._redrawn = REDRAWS * batch, 0

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> Any:
        """As verl's, with a new allowance for each step."""
        self._redrawn = 0
        return super().sample(global_steps, partition_id, batch_size)

    def _dapo_filtered_keys(self, partition_id: str) -> tuple[set[str], Counter[float]]:
        """The groups to replace now, as many as the step's allowance still holds."""
        found, _ = super()._dapo_filtered_keys(partition_id)
        chosen = set(sorted(found)[: self._most - self._redrawn])
        self._redrawn += len(chosen)
        values = self._dapo_classification_cache[partition_id]
        return chosen, Counter(values[uid] for uid in chosen)
