"""Callbacks of TRL's trainers: metrics.jsonl with one row per step, and the evaluation on the dev pairs (greedy for
GRPO, the loss for SFT and DPO).
"""

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from judge_r1.episode.questions import pair_of, question, question_keys, with_score_rewards
from judge_r1.episode.rollout import RolloutRunner
from judge_r1.files.pair_set import PairSet
from judge_r1.models.base import Sampling
from judge_r1.training.best_checkpoint import keep_if_best
from judge_r1.training.checkpoint_manifest import write_manifest
from judge_r1.training.checkpoints import Checkpoint, kept_best
from judge_r1.training.metric_names import dev_from_trl, dev_metrics, from_trl
from judge_r1.training.recipe import Recipe
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


class DevEvaluation(TrainerCallback):  # type: ignore[misc]
    """Evaluates before the row of a step is logged, so that the row holds the result, and keeps the best checkpoint.

    `evaluate` gets the model and returns metrics; those that a trainer logs itself (`eval_...`) are added. A step of
    the recipe has `updates` steps of the trainer."""

    def __init__(
        self, run: RunFolder, recipe: Recipe, evaluate: Callable[[Any], Mapping[str, float]], *, updates: int = 1
    ) -> None:
        self.run, self.recipe, self.evaluate, self.updates = run, recipe, evaluate, updates
        self._metrics: dict[str, float] = {}

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        step, rest = divmod(state.global_step, self.updates)
        if rest or not self.recipe.evaluates_at(step, state.max_steps // self.updates):
            return
        started, training, logs = time.perf_counter(), model.training, control.should_log
        devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
        with torch.random.fork_rng(devices=devices), torch.no_grad():  # the evaluation must not change training
            self._metrics |= self.evaluate(model)
        model.train(training)
        control.should_log = logs  # the trainer's log of its evaluation has cleared it
        self._metrics["time/dev"] = time.perf_counter() - started

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        found = dev_from_trl(logs or {})
        if bad := [name for name, value in found.items() if not isfinite(value)]:  # not JSON, and never the best
            print(f"warning: step {state.global_step}: {', '.join(bad)} is not finite", file=sys.stderr)
        self._metrics |= {name: value for name, value in found.items() if isfinite(value)}

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step:  # resumed: a kill may have come between the checkpoint and keeping its weights
            self.on_save(args, state, control)

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        step, rest = divmod(state.global_step, self.updates)
        if not state.is_world_process_zero or rest:
            return
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        keep_if_best(self.run, self.recipe, Checkpoint(step, folder, sharded=False))
        for kept in kept_best(self.run.checkpoints):
            if not kept.has_manifest:
                write_manifest(kept.folder)

    def pop(self) -> dict[str, float]:
        """The metrics of the last evaluation, once."""
        metrics, self._metrics = self._metrics, {}
        return metrics


def loss_evaluation(run: RunFolder, recipe: Recipe) -> tuple[list[Any], Callable[[Any], None]]:
    """The callbacks that log SFT and DPO, with the loss on the dev pairs if there are some, and a function that takes
    the trainer once it exists."""
    trainers: list[Any] = []

    def evaluate(model: Any) -> dict[str, float]:
        trainers[0].evaluate()  # which logs the metrics itself
        return {}

    if recipe.data.dev is None:
        return [RunLog(run)], trainers.append
    evaluation = DevEvaluation(run, recipe, evaluate)
    return [RunLog(run, rollouts=evaluation.pop), evaluation], trainers.append


class DevEpisodes:
    """Greedy episodes of the policy on the dev pairs, as `evaluate` of `DevEvaluation`."""

    def __init__(self, recipe: Recipe, data: PairSet) -> None:
        self.recipe, self.data = recipe, data
        self._runner: RolloutRunner | None = None

    def __call__(self, model: Any) -> dict[str, float]:
        from judge_r1.training.trl.common import policy_runner

        if self._runner is None:  # created once: its retriever keeps the embedder and the indexes
            rows = self.recipe.grpo.rollout_batch_size
            self._runner = policy_runner(self.recipe.model, model, self.data, self.recipe.episode, rows)
        by_id, keys = self.data.by_id(), question_keys(self.data, self.recipe.grpo.task)
        asked = [question(key, by_id, seed=self.recipe.seed) for key in keys]
        trajectories = self._runner.run(asked, Sampling(0.0, self.recipe.seed))
        episodes = with_score_rewards(list(zip(asked, trajectories, strict=True)), 1)
        return dev_metrics([(pair_of(one), trajectory) for one, trajectory in episodes])
