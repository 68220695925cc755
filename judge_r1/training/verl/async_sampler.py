"""verl's sampler of the asynchronous modes, with a record of the groups that each step trains on.

The episodes of a step were requested by earlier steps, and verl's metrics do not name them. verl's trainer loads this
module through `trainer.v1.sampler.custom_sampler`, on all platforms.
"""

import json
import logging
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from verl.trainer.ppo.v1 import trainer_separate_async
from verl.trainer.ppo.v1.replay_buffer import ReplayBufferAsync


class _WithoutFlush(logging.LoggerAdapter):  # type: ignore[type-arg]
    """Without colocated replicas, verl 0.9.1 calls `logger.info(..., flush=True)`, which is a TypeError."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        kwargs.pop("flush", None)
        return msg, kwargs


trainer_separate_async.logger = _WithoutFlush(trainer_separate_async.logger)


class LoggedReplayBuffer(ReplayBufferAsync):  # type: ignore[misc]
    """Appends `{"step", "groups"}` to the file `sampler_kwargs.log` for every batch. A step has one batch per update in
    the mode `separate_async`, and one in `colocate_async`."""

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> Any:
        batch, metrics = super().sample(global_steps, partition_id, batch_size)
        if partition_id != "val":
            groups = sorted({key.split("_")[0] for key in batch.keys})  # a key is GROUP_EPISODE_OUTPUT
            with Path(self.sampler_kwargs.log).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"step": global_steps, "groups": groups}) + "\n")
        return batch, metrics
