"""Turns what verl and its rollout workers write into rows of the run's logs, step by step."""

import json
import sys
import threading
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.training.best_checkpoint import keep_if_best
from judge_r1.training.checkpoint_manifest import write_manifest
from judge_r1.training.checkpoints import Checkpoint, checkpoints, kept_best, verl_checkpoint
from judge_r1.training.metric_names import from_verl
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import Diverged, RunFolder
from judge_r1.training.verl.rollout_log import RolloutReader, new_lines
from judge_r1.training.verl.supervisor import VerlFailed


class LogFollower:
    """Follows verl's metrics file and the rollout logs in `folder`. With `dev`, the log of dev episodes and the number
    of dev pairs, it keeps the best checkpoint."""

    def __init__(
        self,
        run: RunFolder,
        folder: Path,
        rollouts: RolloutReader,
        recipe: Recipe,
        dev: tuple[RolloutReader, int] | None = None,
    ) -> None:
        self.run, self.metrics, self.rollouts = run, folder / "metrics.jsonl", rollouts
        self.recipe, self.dev = recipe, dev
        self.group_size, self.steps = recipe.grpo.group_size, recipe.grpo.steps
        self.episodes = recipe.grpo.prompts_per_step * self.group_size
        self.step = 0
        """The newest step that is logged."""
        self._offset = 0

    def update(self) -> None:
        """Log the steps that verl finished since the last call.

        Raises:
            Diverged: The gradient norm is not a number.
            VerlFailed: Episodes of a step are missing. verl would fill their places and train on.
        """
        lines, self._offset = new_lines(self.metrics, self._offset)
        for line in lines:
            row = json.loads(line)
            step, metrics = row["step"], row["data"]
            means, traces = self.rollouts.step(step, self.episodes)
            if metrics.get("actor/grad_norm", 0.0) is None:  # verl's log writes NaN as null
                raise Diverged(step, "grad_norm", self.run.folder)
            # verl fills the places of lost samples and trains on: without this check a run would shrink in silence.
            if means["rollout/episodes"] != self.episodes:
                raise VerlFailed(
                    f"step {step}: {means['rollout/episodes']:.0f} of {self.episodes} episodes came back; "
                    f"see {self.run.folder / 'logs' / 'verl.log'} for the others"
                )
            numbers = {key: value for key, value in metrics.items() if isinstance(value, int | float)}
            progress = {"step": step, "progress": step / self.steps}
            self.run.log(progress | from_verl(numbers) | means | self._evaluation(step))
            for trace in traces:
                self.run.trace(trace)
            if self.dev is not None:
                keep_if_best(self.run, self.recipe, verl_checkpoint(self.run.checkpoints, step))
            self.step = step

    def _evaluation(self, step: int) -> dict[str, float]:
        """The metrics of the dev pairs, if verl has evaluated after this step."""
        if self.dev is None or not self.recipe.evaluates_at(step, self.steps):
            return {}
        reader, wanted = self.dev
        means = reader.dev(step, wanted)
        if means["dev/episodes"] != wanted:
            raise VerlFailed(
                f"step {step}: {means['dev/episodes']:.0f} of {wanted} dev episodes came back; "
                f"see {self.run.folder / 'logs' / 'verl.log'} for the others"
            )
        return means


class ManifestThread:
    """Hashes new checkpoints in a thread: a large one may take minutes, in which verl's output must be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._thread: threading.Thread | None = None

    def update(self) -> None:
        """Start on the newest checkpoint without a manifest, unless the thread is busy."""
        if self._thread is None or not self._thread.is_alive():
            for checkpoint in self._unfinished()[-1:]:
                self._thread = threading.Thread(target=_write, args=(checkpoint,), daemon=True)
                self._thread.start()

    def finish(self) -> None:
        """Write the remaining manifests."""
        if self._thread is not None:
            self._thread.join()
        for checkpoint in self._unfinished():
            _write(checkpoint)

    def _unfinished(self) -> list[Checkpoint]:
        found = [*kept_best(self.folder), *checkpoints(self.folder)]
        return [checkpoint for checkpoint in found if not checkpoint.has_manifest]


def _write(checkpoint: Checkpoint) -> None:
    try:
        write_manifest(checkpoint.folder)
    except FileNotFoundError:
        pass  # verl has removed the checkpoint, because newer ones exist
    except (OSError, JudgeError) as error:
        print(f"warning: {checkpoint.folder} gets no manifest: {error}", file=sys.stderr)
