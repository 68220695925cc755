"""How an ask becomes an episode over tokens, for a local model and for a server that takes ids."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judge_r1.core.records import PROMPT_TOO_LONG, Trajectory
from judge_r1.episode.confidence import token_confidence
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.machine import Episode
from judge_r1.episode.rollout import PromptTooLong, episode_seed, task_episode
from judge_r1.episode.single_turn import SingleTurnEpisode
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.judges.base import BadJudge, JudgeBuild, JudgeOutput, PromptOverflow, pairs_only_message
from judge_r1.judges.request import CustomPrompt, JudgeRequest


@dataclass(frozen=True)
class Beginning:
    """`prompted` judges also answer prompts that a benchmark words itself; `context_length` is what the model reads,
    None where nobody says."""

    name: str
    config: EpisodeConfig
    codec: SafeTokenizer
    eos_ids: frozenset[int]
    context_length: int | None
    seed: int
    prompted: bool

    def begin(self, ask: JudgeRequest) -> Episode | PromptTooLong:
        """The episode of an ask, or why there is none."""
        try:
            return self._fitting(ask)
        except PromptTooLong as error:
            return error

    def _fitting(self, ask: JudgeRequest) -> Episode:
        seed = episode_seed(self.seed, ask.item.item_id, ask.sample, ask.order)
        where = f"item {ask.item.item_id}"
        episode = self._episode(ask, seed, where)
        length, room = len(episode.prompt_ids), episode.budget.episode_tokens
        if self.context_length and length + room > self.context_length:
            raise PromptTooLong(
                f"{where}: its prompt of {length} tokens and an episode of up to {room} are more than the "
                f"{self.context_length} tokens that the model reads: lower the budget, or leave it out",
                length,
                self.context_length - room,
            )
        return episode

    def _episode(self, ask: JudgeRequest, seed: int, where: str) -> Episode:
        config = self.config
        if not isinstance(ask.task, CustomPrompt):
            return task_episode(ask.task, config, self.codec, self.eos_ids, where=where, seed=seed)
        refuse_prompted(self.name, ask, self.prompted)
        ids = self.codec.prompt_ids(ask.task.prompt, thinking=config.thinking)
        if len(ids) > config.prompt_tokens:
            raise PromptTooLong(
                f"{where}: its prompt has {len(ids)} tokens, over prompt_tokens {config.prompt_tokens}: raise it",
                len(ids),
                config.prompt_tokens,
            )
        budget = config.budget.model_copy(update={"max_searches": 0})
        return SingleTurnEpisode(ids, budget, self.codec, eos_ids=self.eos_ids, seed=seed)

    def lengths(self, asks: Sequence[JudgeRequest]) -> list[int]:
        """Tokens of each prompt, 0 where there is no episode. Errors: BadJudge where not one fits; those that do not
        are counted as invalid answers."""
        begun = [self.begin(ask) for ask in asks]
        if begun and all(isinstance(episode, PromptTooLong) for episode in begun):
            raise BadJudge(f"not one of {len(asks)} prompts fits: {begun[0]}")
        return [0 if isinstance(episode, PromptTooLong) else len(episode.prompt_ids) for episode in begun]

    def played(self, ask: JudgeRequest, episode: Episode, usage: dict[str, float] | None = None) -> JudgeOutput:
        trajectory = episode.trajectory()
        sure = token_confidence(trajectory, episode.alternative_logprobs, self.codec.decode)
        return JudgeOutput(ask, trajectory, ask.read(trajectory), sure, usage)


def refuse_prompted(name: str, ask: JudgeRequest, prompted: bool) -> None:
    """Errors: BadJudge for a benchmark's own prompt, where only pairs are judged."""
    if isinstance(ask.task, CustomPrompt) and not prompted:
        raise BadJudge(pairs_only_message(name, ask))


def unplayed(ask: JudgeRequest, error: PromptTooLong) -> JudgeOutput:
    """An ask whose prompt does not fit: nothing was cut, nothing was asked."""
    trajectory = Trajectory.without_ids(PROMPT_TOO_LONG)
    return JudgeOutput(ask, trajectory, ask.read(trajectory), overflow=PromptOverflow(error.tokens, error.limit))


def settings_of(making: JudgeBuild, config: EpisodeConfig, **more: Any) -> dict[str, Any]:
    """What an answer depends on besides weights."""
    return {
        "temperature": making.sampling.temperature,
        "seed": making.sampling.seed,
        "parser": "tolerant" if config.prompt == "direct" else "strict",
        **more,
        **config.model_dump(mode="json"),
    }
