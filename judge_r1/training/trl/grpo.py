"""GRPO with search in the loop (Eq. 4) through TRL's `rollout_func` and our episode driver.

The prompt column of TRL's data set holds only the keys of questions, such as a pair's id. The episode builds the real
prompt, so TRL never truncates it. Trajectories carry their rewards as a field.
"""

import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

from judge_r1.core.progress import StageTimer
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Trajectory
from judge_r1.episode.questions import Question, pair_of, question, shown_order, with_score_rewards, with_tool_credit
from judge_r1.episode.reward import round_reward
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.models.base import Sampling
from judge_r1.models.hub import load_model, load_tokenizer
from judge_r1.training.data.training_pairs import check_data, dev_pairs, question_rows
from judge_r1.training.lora import adapter_config
from judge_r1.training.metric_names import consistency, rollout_metrics, zero_std_fractions
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.stage_config import DUAL_CLIP

_LOSS: dict[Literal["token-mean", "sequence-mean", "constant"], str] = {
    "token-mean": "dapo",
    "sequence-mean": "grpo",
    "constant": "dr_grpo",
}


def trl_objective(recipe: Recipe) -> dict[str, Any]:
    """Arguments of GRPOConfig. The constant of `loss: constant` is the longest episode of the budget."""
    grpo, decoupled = recipe.grpo, dict[str, Any]()
    if grpo.advantage == "decoupled":
        decoupled = {
            "multi_objective_aggregation": "normalize_then_sum",
            "reward_weights": list(grpo.advantage_weights),
        }
    return {
        "epsilon": grpo.clip,
        "epsilon_high": grpo.clip_high,
        "delta": DUAL_CLIP if grpo.ratio == "token" else None,
        "importance_sampling_level": grpo.ratio,
        "loss_type": _LOSS[grpo.loss],
        "scale_rewards": "group" if grpo.advantage_by_std else "none",
        "beta": grpo.kl,
        "use_bias_correction_kl": False,
        "max_completion_length": recipe.episode.effective_budget.episode_tokens,
        **decoupled,
    }


PARTS = ("r", "R1", "R2")
"""The columns of rewards."""
Episodes = list[tuple[Question, Trajectory]]


class RolloutSource(Protocol):
    """Runs the episodes of a step: the policy (`RolloutRunner`), or recorded episodes of another run."""

    def run(self, pairs: Sequence[Question], sampling: Sampling) -> list[Trajectory]: ...


def train_grpo(recipe: Recipe, data: PairSet, run: RunFolder, source: RolloutSource | None = None) -> None:
    """Train `recipe.model` on the pairs and write `run.model`, resuming from the last checkpoint.

    `source` replaces the policy as the source of episodes.

    Raises:
        JudgeError: There are too few pairs for a step, or a prompt is too long.
    """
    from datasets import Dataset
    from trl import GRPOConfig

    from judge_r1.training.trl.common import common_arguments, save_model
    from judge_r1.training.trl.dev_evaluation import DevEpisodes, DevEvaluation, RunLog
    from judge_r1.training.trl.grpo_trainer import CappedKlTrainer
    from judge_r1.training.trl.resume import resume

    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")  # `rollout_func` may change; its version is pinned
    config = recipe.grpo
    hf_tokenizer = load_tokenizer(recipe.model)
    dev = dev_pairs(recipe, data)
    check_data(recipe, data, SafeTokenizer(hf_tokenizer), dev)
    rollouts = TrlRollouts(recipe, data, run, source)
    rows = question_rows(recipe, data)
    episodes = config.prompts_per_step * config.group_size
    args = GRPOConfig(
        output_dir=str(run.checkpoints),
        max_steps=config.steps * config.updates_per_step,
        per_device_train_batch_size=config.micro_batch_size,
        generation_batch_size=episodes,
        gradient_accumulation_steps=episodes // config.micro_batch_size // config.updates_per_step,
        num_generations=config.group_size,
        learning_rate=config.learning_rate,
        warmup_steps=config.warmup_steps * config.updates_per_step,
        lr_scheduler_type="constant_with_warmup",
        temperature=config.temperature,
        # The rows are already in the order of training, which verl shares.
        shuffle_dataset=False,
        mask_truncated_completions=False,
        **trl_objective(recipe),
        **common_arguments(recipe, save_steps=recipe.save_every * config.updates_per_step),
    )
    callbacks: list[Any] = [RunLog(run, updates=config.updates_per_step, rollouts=rollouts.pop_metrics)]
    if dev is not None:
        evaluation = DevEvaluation(run, recipe, DevEpisodes(recipe, dev), updates=config.updates_per_step)
        callbacks = [
            RunLog(run, updates=config.updates_per_step, rollouts=lambda: rollouts.pop_metrics() | evaluation.pop()),
            evaluation,
        ]
    trainer = CappedKlTrainer(
        model=load_model(recipe.model, training=True),
        args=args,
        reward_funcs=rollouts.rewards,
        rollout_func=rollouts,
        train_dataset=Dataset.from_list([{"prompt": key} for key in rows]),
        processing_class=hf_tokenizer,
        callbacks=callbacks,
        peft_config=adapter_config(recipe.lora),
    )
    # Recorded episodes may come from another model. In bfloat16, sampling and training round differently.
    trainer.old_from_sampler = source is None and not args.bf16
    resume(trainer, run, updates=config.updates_per_step)
    save_model(trainer, run, recipe)


def reward(prompts: list[str], completions: list[str], r: list[float | None], **_: Any) -> list[float | None]:
    """The reward of each trajectory. None removes it from group and loss: an infrastructure failure, or no finite
    number."""
    return [None if value is None or not math.isfinite(value) else round_reward(value) for value in r]


class TrlRollouts:
    """TRL's rollout function: maps pair ids to trajectories, and collects their metrics."""

    def __init__(
        self,
        recipe: Recipe,
        data: PairSet,
        run: RunFolder,
        source: RolloutSource | None = None,
    ) -> None:
        self.recipe, self.data, self.run = recipe, data, run
        self.pairs = data.by_id()
        self._source = source
        self._episodes: Episodes = []
        self._clock = StageTimer()
        self._returned_at = 0.0

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        from judge_r1.training.trl.common import policy_runner

        size, orders = self.recipe.grpo.group_size, self.recipe.grpo.orders
        check_groups(prompts, size)
        asked = [
            question(key, self.pairs, number % size, size, orders=orders, seed=self.recipe.seed)
            for number, key in enumerate(prompts)
        ]
        if self._source is None:  # created once: its retriever keeps the embedder and the indexes
            policy = trainer.accelerator.unwrap_model(trainer.model)
            rows = self.recipe.grpo.rollout_batch_size
            self._source = policy_runner(
                self.recipe.model, policy, self.data, self.recipe.episode, rows, timer=self._clock
            )
        step = trainer.state.global_step + 1  # the trainer's step that uses these episodes
        seed = int(content_hash("rollout", self.recipe.seed, step, trainer.accelerator.process_index), 16) % 2**63
        episodes = self._run(self._source, asked, seed)
        self._episodes += episodes
        step = (step - 1) // self.recipe.grpo.updates_per_step + 1  # the recipe's step: one batch of episodes
        for one, trajectory in episodes[: self.recipe.grpo.traced_pairs * size]:
            more = {"order": order} if (order := shown_order(one, self.pairs)) else {}
            row = {"step": step, "pair_id": one.pair_id, **more, "trajectory": trajectory.model_dump(mode="json")}
            self.run.trace(row)
        self._returned_at = time.perf_counter()
        return as_columns([trajectory for _, trajectory in episodes])

    def _run(self, source: RolloutSource, asked: Sequence[Question], seed: int) -> Episodes:
        trajectories = source.run(asked, Sampling(self.recipe.grpo.temperature, seed))
        grpo = self.recipe.grpo
        found = with_score_rewards(list(zip(asked, trajectories, strict=True)), grpo.group_size, grpo.pointwise_pairs)
        return found if grpo.tool_credit == "none" else [(one, with_tool_credit(t)) for one, t in found]

    @property
    def rewards(self) -> list[Callable[..., list[float | None]]]:
        """TRL's reward functions: one for r, or one each for its parts R1 and R2."""
        return [self.r1, self.r2] if self.recipe.grpo.advantage == "decoupled" else [self.reward]

    def reward(self, *args: Any, **kwargs: Any) -> list[float | None]:
        """As the function `reward`. TRL calls it after computing log-probabilities: the time until then is scoring."""
        self._clock.add("score", time.perf_counter() - self._returned_at)
        return reward(*args, **kwargs)

    def r1(self, **columns: Any) -> list[float | None]:
        return self.reward(**columns | {"r": columns["R1"]})

    def r2(self, **columns: Any) -> list[float | None]:
        return reward(**columns | {"r": columns["R2"]})

    def pop_metrics(self) -> dict[str, float]:
        """The metrics of the episodes since the last call, and their seconds by stage."""
        episodes, self._episodes = self._episodes, []
        size = self.recipe.grpo.group_size
        groups = [[t for _, t in episodes[start : start + size]] for start in range(0, len(episodes), size)]
        seconds = {f"time/{stage}": spent for stage, spent in self._clock.pop().items()}
        if not episodes:
            return seconds
        both = consistency(groups) if self.recipe.grpo.swaps else {}
        return rollout_metrics([(pair_of(one), t) for one, t in episodes]) | both | zero_std_fractions(groups) | seconds


def as_columns(trajectories: Sequence[Trajectory]) -> dict[str, list[Any]]:
    """Trajectories as TRL's columns.

    An infrastructure failure has no reward and no token in the loss. TRL needs at least one id, so an episode that
    failed before its first token repeats the last prompt id, outside the loss."""
    names = ("prompt_ids", "completion_ids", "logprobs", "env_mask", *PARTS)
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for t in trajectories:
        ids, logprobs = list(t.token_ids), list(t.logprobs)
        if t.infrastructure_failed:
            ids, logprobs = ids or [t.prompt_ids[-1]], logprobs or [0.0]
        columns["prompt_ids"].append(list(t.prompt_ids))
        columns["completion_ids"].append(ids)
        columns["logprobs"].append(logprobs)
        columns["env_mask"].append([0] * len(ids) if t.infrastructure_failed else list(t.loss_mask))
        for part in PARTS:
            columns[part].append(None if t.infrastructure_failed or t.reward is None else t.reward[part])
    return columns


def check_groups(pair_ids: Sequence[str], size: int) -> None:
    """Check that every group has `size` episodes of one pair. Advantages over mixed groups would be silently wrong.

    Raises:
        RuntimeError: A group is mixed or incomplete.
    """
    for start in range(0, len(pair_ids), size):
        group = pair_ids[start : start + size]
        if len(group) != size or len(set(group)) != 1:
            raise RuntimeError(f"group at {start} is not {size} episodes of one pair: {group}")
