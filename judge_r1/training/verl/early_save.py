"""Lets verl save a checkpoint at the end of the current step when the run is asked to stop.

verl creates the class in its trainer process (`trainer.checkpoint_callback_class`) with the configuration of the run,
whose `trainer.save_freq` it reads after every step.
"""

import threading
import time
from pathlib import Path
from typing import Any

from verl.trainer.ppo.checkpoint_callback import CheckpointCallback

from judge_r1.training.preemption import StopRequest

POLL_SECONDS = 1.0


class EarlySave(CheckpointCallback):  # type: ignore[misc]
    """Waits for the stop request in a thread, then makes the next step end with a checkpoint, after which the
    supervisor ends verl."""

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)
        self.request = StopRequest(Path())
        threading.Thread(target=self._wait, daemon=True).start()

    def on_save(self, trainer: Any, global_step: int, checkpoint_dir: str, **kwargs: Any) -> None:
        if self.request and not self.request.saved:
            self.config.trainer.save_freq = -1  # a later checkpoint would be newer than the logs of the ended run
            self.request.answer(global_step)

    def _wait(self) -> None:
        while not self.request:
            time.sleep(POLL_SECONDS)
        self.config.trainer.save_freq = 1
