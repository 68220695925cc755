"""Dynamic sampling on verl: verl's group filter with a bound on redraws.

verl's default trainer replaces groups with identical outcomes without limit (it ignores `max_num_gen_batches`), so it
never finishes a step when a judge is always right. This subclass (`trainer.v1.sampler.custom_sampler`) replaces at most
`REDRAWS` batches of groups per step and trains on the remaining ones.
"""

from collections import Counter
from typing import Any

from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer

from judge_r1.training.dynamic_sampling import REDRAWS


class BoundedRedraws(ReplayBuffer):  # type: ignore[misc]
    """Filters on `acc` (is the comparison right?). An infrastructure failure counts as wrong.

    `sampler_kwargs.train_batch_size` is the number of groups per step."""

    def __init__(self, *, sampler_kwargs: Any, **kwargs: Any) -> None:
        batch = int(sampler_kwargs["train_batch_size"])
        super().__init__(
            sampler_kwargs=sampler_kwargs,
            filter_groups_metric="acc",
            train_batch_size=batch,
            gen_batch_size=1,
            **kwargs,
        )
        self._limit, self._redrawn = REDRAWS * batch, 0

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> Any:
        """verl's `sample`, with the count of redraws reset for each step."""
        self._redrawn = 0
        return super().sample(global_steps, partition_id, batch_size)

    def _dapo_filtered_keys(self, partition_id: str) -> tuple[set[str], Counter[float]]:
        """The groups to replace now, up to what is left of the step's limit."""
        candidates, _ = super()._dapo_filtered_keys(partition_id)
        chosen = set(sorted(candidates)[: self._limit - self._redrawn])
        self._redrawn += len(chosen)
        values = self._dapo_classification_cache[partition_id]
        return chosen, Counter(values[uid] for uid in chosen)
