"""The trainers' own logs as rows of metrics.jsonl."""

from math import isfinite
from typing import Any

from transformers import TrainerCallback

from judge_r1.errors import JudgeError
from judge_r1.runs import Run

_MISLEADING = ("completions/clipped", "completions/mean_term", "completions/min_term", "completions/max_term")
"""TRL counts an episode as cut unless it ends in EOS; ours end at `</answer>`."""


class Diverged(JudgeError):
    """The loss or the gradient is no longer a number; the last checkpoint is still good."""


class RunLog(TrainerCallback):  # type: ignore[misc]
    """Writes each logged step; stops the run at the first loss or gradient that is not finite."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        if not state.is_world_process_zero or not logs:
            return
        row = {k: v for k, v in logs.items() if isinstance(v, int | float) and not k.startswith(_MISLEADING)}
        bad = [key for key in ("loss", "grad_norm") if not isfinite(row.get(key, 0.0))]
        if bad:
            raise Diverged(
                f"step {state.global_step}: {bad[0]} is not finite; train again with another --out, "
                f"a lower learning rate and model=CHECKPOINT, the last one in {self.run.checkpoints}"
            )
        self.run.log({"step": state.global_step} | {k: v for k, v in row.items() if isfinite(v)})
