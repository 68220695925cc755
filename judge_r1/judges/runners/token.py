"""Judges over token ids that run requests concurrently, on an inference server or a local engine."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from judge_r1.core.endpoint import find_key
from judge_r1.episode.case_searcher import CaseSearcher
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import EpisodeDriver
from judge_r1.episode.rollout import PromptTooLong
from judge_r1.judges.base import JudgeBuild, JudgeOutput, PromptFit
from judge_r1.judges.episode_factory import EpisodeFactory, judge_settings, overflow_output
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.runners.concurrency import as_finished, judge_policy
from judge_r1.models.base import Usage
from judge_r1.models.endpoint import OpenAIEndpoint
from judge_r1.models.openai_completions import CompletionsModel
from judge_r1.models.pretrained import ModelUnavailable


class TokenJudge:
    """Runs the episodes of all calls of `judge` on one driver."""

    def __init__(
        self,
        build: JudgeBuild,
        config: EpisodeConfig,
        factory: EpisodeFactory,
        settings: dict[str, Any],
        driver: EpisodeDriver,
    ) -> None:
        self.name, self.settings = factory.name, settings
        self._factory, self._driver, self._at_a_time = factory, driver, build.batch_size
        self._searcher = (build.searcher or CaseSearcher)(build.texts, config)

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit:
        _, fit = self._factory.prompt_lengths(requests)
        self._searcher.prepare([request.case_id for request in requests if request.case_id])
        return fit

    def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        return as_finished(self.name, requests, self._one, self._at_a_time)

    async def _one(self, request: JudgeRequest) -> JudgeOutput:
        episode = await asyncio.to_thread(self._factory.make_episode, request)  # a long prompt takes seconds to encode
        if isinstance(episode, PromptTooLong):
            return overflow_output(request, episode)
        usage = Usage()
        await self._driver.run_episode(episode, self._searcher.of_case(request.case_id or ""), usage)
        return self._factory.output(request, episode, usage.as_dict())


def vllm_judge(
    build: JudgeBuild,
    config: EpisodeConfig,
    endpoint: OpenAIEndpoint,
    *,
    kind: str,
    prompted: bool,
    tokenizer: str,
    timeout_s: int = 180,
) -> TokenJudge:
    """A judge on an endpoint that takes token ids, with `build.batch_size` concurrent requests. `tokenizer` is a model
    name or folder (`judge_r1.models`); its tokenizer, EOS and context length must match the served model."""
    try:
        factory = EpisodeFactory.load(f"{kind}@vllm:{endpoint.name}", config, tokenizer, build, prompted=prompted)
    except ModelUnavailable as error:
        raise ModelUnavailable(f"{error}; name it by {kind}:tokenizer=NAME@vllm:{endpoint.name}") from None
    factory.check_window(case=False)
    limits = judge_policy(build.batch_size, timeout_s)
    served = CompletionsModel(endpoint, find_key(endpoint), limits)
    driver = EpisodeDriver(served, temperature=build.sampling.temperature, alternatives=factory.alternatives)
    settings = judge_settings(build, config, backend="token ids", tokenizer=tokenizer)
    return TokenJudge(build, config, factory, settings, driver)
