"""Writes the logs of TRL's trainers to metrics.jsonl, one row per step."""

import time
from collections import defaultdict
from collections.abc import Callable
from math import isfinite
from typing import Any

from transformers import TrainerCallback

from judge_r1.training.metric_names import from_trl
from judge_r1.training.run_folder import Diverged, RunFolder


class RunLog(TrainerCallback):  # type: ignore[misc]
    """Writes one row per step, and stops the run at the first loss or gradient norm that is not finite.

    A step of the recipe has `updates` steps of the trainer, whose logs are averaged. `rollouts` returns further metrics
    of the step, including seconds by stage (`time/...`). The rest of the step's time is `time/update`.
    """

    def __init__(self, run: RunFolder, *, updates: int = 1, rollouts: Callable[[], dict[str, float]] = dict) -> None:
        self.run, self.updates, self.rollouts = run, updates, rollouts
        self._logs: dict[str, list[float]] = defaultdict(list)
        self._started: float | None = None
        self._tokens: float | None = None

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step % self.updates == 0:
            self._started = time.perf_counter()
        if state.global_step == 0:
            # A run that resumes does not know the count before it; its first step then has no speed.
            self._tokens = 0.0

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        if not state.is_world_process_zero or not logs or "eval_loss" in logs:  # see `dev_evaluation`
            return
        step = -(-state.global_step // self.updates)
        numbers = {key: float(value) for key, value in logs.items() if isinstance(value, int | float)}
        bad = [key for key in ("loss", "grad_norm") if not isfinite(numbers.get(key, 0.0))]
        if bad:
            self.run.log({"step": step} | self.rollouts())
            raise Diverged(step, bad[0], self.run.folder)
        numbers = {key: value for key, value in numbers.items() if isfinite(value)}
        if "loss" not in numbers:  # the trainer's summary, which belongs to a finished run
            if state.global_step >= state.max_steps:
                self.run.log({"step": step} | from_trl(numbers))
            return
        for key, value in numbers.items():
            self._logs[key].append(value)
        if state.global_step % self.updates == 0 or state.global_step == state.max_steps:
            means = {key: sum(values) / len(values) for key, values in self._logs.items()}
            self._logs.clear()
            row = {"step": step, "progress": state.global_step / state.max_steps} | from_trl(means) | self.rollouts()
            self.run.log(row | self._speed(means, row))

    def _speed(self, means: dict[str, float], row: dict[str, float]) -> dict[str, float]:
        if self._started is None:
            return {}
        seconds = time.perf_counter() - self._started
        before, self._tokens = self._tokens, means.get("num_tokens")
        speed = {"time/step": seconds}
        if before is not None and self._tokens is not None:
            speed["tokens_per_second"] = (self._tokens - before) / seconds
        if parts := [value for key, value in row.items() if key.startswith("time/")]:
            speed["time/update"] = max(seconds - sum(parts), 0.0)
        return speed
