"""A judge on a chat model, such as one behind an endpoint."""

from collections.abc import AsyncIterator, Sequence

from judge_r1.episode.answer_text import answer_text
from judge_r1.episode.case_searcher import CaseSearcher
from judge_r1.episode.chat_driver import EOS, ChatDriver, TextTokenizer, chat_budget
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.machine import Episode
from judge_r1.episode.prompts import pairwise_prompt
from judge_r1.episode.rollout import EVALUATION_PARSERS, answer_parser, episode_seed, parser_without_tags, task_budget
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import JudgeBuild, JudgeOutput
from judge_r1.judges.episode_factory import judge_settings, reject_custom_prompt
from judge_r1.judges.request import CustomPrompt, JudgeRequest
from judge_r1.judges.runners.concurrency import as_finished
from judge_r1.models.base import LanguageModel, Usage

_TOP_LOGPROBS = 20
"""Likeliest tokens to request for at each position: the most that OpenAI returns."""


class ChatJudge:
    """Runs up to `build.batch_size` requests concurrently. It has no tokenizer to count tokens, so the model itself
    refuses prompts that exceed its context. A `prompted` judge also answers a benchmark's own prompts."""

    def __init__(
        self,
        name: str,
        model: LanguageModel,
        build: JudgeBuild,
        config: EpisodeConfig,
        *,
        prompted: bool = False,
        logprobs: bool = False,
    ) -> None:
        self.name, self.settings = name, judge_settings(build, config, backend="chat")
        self._config, self._sampling, self._prompted = config, build.sampling, prompted
        self._at_a_time, top = build.batch_size, _TOP_LOGPROBS if logprobs else 0
        self._driver = ChatDriver(model, temperature=build.sampling.temperature, top_logprobs=top)
        self._searcher = (build.searcher or CaseSearcher)(build.texts, config)

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        cases = []
        for request in requests:
            reject_custom_prompt(self.name, request, prompted=self._prompted)
            if request.case_id:
                cases.append(request.case_id)
        if requests and not isinstance(task := requests[0].task, CustomPrompt):
            self._episode(task, 0)  # raises now if the budget is too small for an observation
        self._searcher.prepare(cases)

    def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        return as_finished(self.name, requests, self._one, self._at_a_time)

    async def _one(self, request: JudgeRequest) -> JudgeOutput:
        seed = episode_seed(self._sampling.seed, request.item.item_id, request.sample, request.order)
        tokens, usage, confidence = self._config.budget.response_tokens, Usage(), None
        task = request.task
        if isinstance(task, CustomPrompt):
            messages = task.prompt.chat()
            trajectory = await self._driver.answer(messages, max_tokens=tokens, seed=seed, usage=usage)
        else:
            episode = self._episode(task, seed)
            prompt = pairwise_prompt(
                task, context=self._config.context, searches=episode.budget.max_searches, style=self._config.prompt
            )
            trajectory, confidence = await self._driver.run_episode(
                prompt.chat(),
                episode,
                self._searcher.of_case(task.case_id or ""),
                max_tokens=tokens,
                usage=usage,
            )
        return JudgeOutput(request, trajectory, request.read(trajectory), confidence, usage.as_dict())

    def _episode(self, task: PairwiseTask, seed: int) -> Episode:
        budget = chat_budget(task_budget(task, self._config))
        style = self._config.prompt
        parse, parse_bare = answer_parser(style), parser_without_tags(style, EVALUATION_PARSERS)
        return Episode(
            (),
            budget,
            TextTokenizer(),
            eos_ids=(EOS,),
            parse=parse,
            parse_bare=parse_bare,
            bare_text=answer_text,
            seed=seed,
        )
