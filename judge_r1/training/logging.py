"""The trainers' own logs as rows of metrics.jsonl."""

from typing import Any

from transformers import TrainerCallback

from judge_r1.errors import JudgeError
from judge_r1.runs import Run


class Diverged(JudgeError):
    """The loss or the gradient is no longer a number; the last checkpoint is still good."""


class RunLog(TrainerCallback):  # type: ignore[misc]
    """Writes each logged step; stops the run at the first value that is not a number."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        if not state.is_world_process_zero or not logs:
            return
        row = {key: value for key, value in logs.items() if isinstance(value, int | float)}
        bad = [key for key in ("loss", "grad_norm") if row.get(key) is not None and row[key] != row[key]]
        if bad:
            raise Diverged(f"step {state.global_step}: {bad[0]} is not a number; resume from {self.run.checkpoints} "
                           "with a lower learning rate")  # fmt: skip
        self.run.log({"step": state.global_step} | {k: v for k, v in row.items() if v == v})
