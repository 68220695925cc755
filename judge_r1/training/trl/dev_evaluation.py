"""Evaluates on the dev pairs while a TRL trainer runs: greedy episodes for GRPO, the loss for SFT and DPO."""

import sys
import time
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from judge_r1.episode.driver import EpisodeDriver
from judge_r1.episode.rollout import RolloutRunner
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.models.base import Sampling
from judge_r1.training.best_checkpoint import keep_if_best
from judge_r1.training.checkpoint_manifest import write_manifest
from judge_r1.training.checkpoints import Checkpoint, kept_best
from judge_r1.training.metric_names import dev_from_trl, dev_metrics
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.metrics_callback import RunLog


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

    def __init__(
        self, recipe: Recipe, data: PairSet, tokenizer: SafeTokenizer, eos: frozenset[int], pad_id: int
    ) -> None:
        self.recipe, self.data, self.tokenizer, self.eos, self.pad_id = recipe, data, tokenizer, eos, pad_id
        self._runner: RolloutRunner | None = None

    def __call__(self, model: Any) -> dict[str, float]:
        from judge_r1.models.engine import LocalModel

        if self._runner is None:  # created once: its retriever keeps the embedder and the indexes
            rows = self.recipe.grpo.rollout_batch_size
            local = LocalModel(model, self.tokenizer.decode, self.eos, pad_id=self.pad_id, max_rows=rows)
            backend = EpisodeDriver(local)
            self._runner = RolloutRunner(self.data, self.recipe.episode, self.tokenizer, backend, self.eos)
        trajectories = self._runner.run(self.data.pairs, Sampling(0.0, self.recipe.seed))
        return dev_metrics(list(zip(self.data.pairs, trajectories, strict=True)))
