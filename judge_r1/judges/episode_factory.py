"""Builds token episodes from requests, for local models and for servers that take token ids."""

from collections.abc import Iterable, Mapping
from typing import Any

from judge_r1.core.case_store import CaseStore
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import PROMPT_TOO_LONG
from judge_r1.episode.chat_driver import SingleTurnEpisode
from judge_r1.episode.confidence import opposite_tokens, token_confidence
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.machine import Episode
from judge_r1.episode.parsing import parse_tolerant
from judge_r1.episode.prompts import file_template, is_file
from judge_r1.episode.rollout import EVALUATION_PARSERS, PromptTooLong, episode_seed, parser_without_tags, task_episode
from judge_r1.episode.task import PairwiseTask
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.judges.base import (
    BadJudge,
    JudgeBuild,
    JudgeOutput,
    NothingFits,
    PromptFit,
    PromptOverflow,
    pairs_only_message,
)
from judge_r1.judges.request import CustomPrompt, JudgeRequest
from judge_r1.judges.result import request_of
from judge_r1.models.open_model import OpenedModel


class EpisodeFactory:
    """Episodes for a model that takes token ids. `prompted` factories also accept a benchmark's own prompts."""

    def __init__(
        self, name: str, config: EpisodeConfig, model: OpenedModel, build: JudgeBuild, *, prompted: bool = False
    ) -> None:
        self.name, self.config, self.tokenizer = name, config, SafeTokenizer(model.tokenizer)
        self.eos_ids, self.context_length = model.eos_ids, model.context_length
        self.seed, self.texts, self.prompted = build.sampling.seed, build.texts, prompted

    @property
    def alternatives(self) -> dict[int, int]:
        """The token of the opposite decision for each token that decides."""
        return opposite_tokens(self.tokenizer.hf.get_vocab())

    def make_episode(self, request: JudgeRequest) -> Episode | PromptTooLong:
        """The episode of a request, or the reason why its prompt does not fit."""
        try:
            return self._fitting(request)
        except PromptTooLong as error:
            return error

    def check_window(self, *, case: bool) -> None:
        """Raises: BadJudge if the model cannot read the shortest prompt beside its episode, with a `case` or without
        one."""
        pair = request_of("shortest", CaseStore(), reasoning_a="a", reasoning_b="b", context="c" if case else "")
        if isinstance(error := self.make_episode(pair), PromptTooLong):
            which = " with a case" if case else ""
            raise BadJudge(
                f"judge {self.name} can answer no request{which}. Even of the shortest, {error}, or take a model that "
                "reads more"
            )

    def _fitting(self, request: JudgeRequest) -> Episode:
        seed = episode_seed(self.seed, request.item.item_id, request.sample, request.order)
        where = f"item {request.item.item_id}"
        try:
            episode = self._episode(request, seed, where)
        except PromptTooLong as error:  # whose advice is for pairs to train on
            raise PromptTooLong(
                f"its prompt has {error.tokens} tokens, and prompt_tokens (of the SPEC, or of the recipe.yaml beside "
                f"the model) is {error.limit}: raise it by the option prompt_tokens={error.tokens} of the SPEC",
                error.tokens,
                error.limit,
            ) from None
        length, budget = len(episode.prompt_ids), episode.budget.episode_tokens
        if self.context_length and length + budget > self.context_length:
            lower = "lower budget.response_tokens or budget.max_searches in the SPEC"
            advice = lower if length < self.context_length else "judge shorter texts"
            raise PromptTooLong(
                f"its prompt of {length} tokens and an episode of up to {budget} are more than the "
                f"{self.context_length} tokens that the model reads: {advice}",
                length,
                self.context_length - budget,
            )
        return episode

    def _episode(self, request: JudgeRequest, seed: int, where: str) -> Episode:
        config = self.config
        if not isinstance(request.task, CustomPrompt):
            text = case_text(request.task, config, self.texts)
            return task_episode(
                request.task, config, self.tokenizer, self.eos_ids, where=where, seed=seed, parsers=EVALUATION_PARSERS,
                text=text,
            )  # fmt: skip
        reject_custom_prompt(self.name, request, prompted=self.prompted)
        ids = self.tokenizer.prompt_ids(request.task.prompt, thinking=config.thinking)
        if len(ids) > config.prompt_tokens:
            raise PromptTooLong(f"{where}: its prompt is too long", len(ids), config.prompt_tokens)
        budget = config.budget.model_copy(update={"max_searches": 0})  # a benchmark's prompt names no search tool
        return SingleTurnEpisode(ids, budget, self.tokenizer, eos_ids=self.eos_ids, seed=seed)

    def prompt_lengths(
        self, requests: Iterable[JudgeRequest], *, one_must_fit: bool = True
    ) -> tuple[list[int], PromptFit]:
        """Returns the tokens of each prompt, 0 for a prompt without an episode, and how many fit. Raises NothingFits if
        none does, where `one_must_fit`."""
        lengths: list[int] = []
        too_long: list[PromptTooLong] = []
        for request in requests:
            episode = self.make_episode(request)
            lengths.append(0 if isinstance(episode, PromptTooLong) else len(episode.prompt_ids))
            too_long += [episode] if isinstance(episode, PromptTooLong) else []
        if one_must_fit and lengths and len(too_long) == len(lengths):
            shortest = min(too_long, key=lambda error: error.tokens)
            which = f"none of {len(lengths)} prompts fits. The shortest:" if len(lengths) > 1 else "nothing fits:"
            raise NothingFits(f"judge {self.name}: {which} {shortest}, or take a model that reads more")
        longest = max((PromptOverflow(error.tokens, error.limit) for error in too_long), default=None)
        return lengths, PromptFit(len(lengths), len(too_long), longest)

    def output(self, request: JudgeRequest, episode: Episode, usage: dict[str, float] | None = None) -> JudgeOutput:
        trajectory = episode.trajectory()
        confidence = token_confidence(trajectory, episode.alternative_logprobs, self.tokenizer.decode)
        return JudgeOutput(request, trajectory, request.read(trajectory), confidence, usage)


def case_text(task: PairwiseTask, config: EpisodeConfig, texts: Mapping[str, str]) -> str:
    """The text of a task's case for its tools, where the task does not show it; "" without tools."""
    return texts.get(task.case_id, "") if config.tools and task.case_id and not task.context else ""


def reject_custom_prompt(name: str, request: JudgeRequest, *, prompted: bool) -> None:
    """Raises: BadJudge for a benchmark's own prompt, where only pairs are judged."""
    if isinstance(request.task, CustomPrompt) and not prompted:
        raise BadJudge(pairs_only_message(name, request))


def overflow_output(request: JudgeRequest, error: PromptTooLong) -> JudgeOutput:
    """The output for a request whose prompt does not fit. Prompts are never cut."""
    trajectory, overflow = Trajectory.without_ids(PROMPT_TOO_LONG), PromptOverflow(error.tokens, error.limit)
    return JudgeOutput(request, trajectory, request.read(trajectory), overflow=overflow)


def judge_settings(build: JudgeBuild, config: EpisodeConfig, **more: Any) -> dict[str, Any]:
    """Everything besides the weights that answers depend on."""
    return {
        "temperature": build.sampling.temperature,
        "seed": build.sampling.seed,
        "parser": "tolerant" if parser_without_tags(config.prompt, EVALUATION_PARSERS) is parse_tolerant else "strict",
        **({"prompt_hash": content_hash(file_template(config.prompt).template)} if is_file(config.prompt) else {}),
        **(build.searcher.settings if build.searcher else {}),
        **more,
        # Where queries are embedded is left out: results of two machines belong together.
        **config.model_dump(mode="json", exclude={"retriever_device"}),
    }
