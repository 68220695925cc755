"""Judges over token ids that run requests concurrently, on an inference server or a local engine."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from judge_r1.episode.case_searcher import CaseSearcher
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import EpisodeDriver
from judge_r1.episode.rollout import PromptTooLong
from judge_r1.judges.base import JudgeBuild, JudgeOutput, PromptFit
from judge_r1.judges.episode_factory import EpisodeFactory, judge_settings, overflow_output
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.runners.concurrency import as_finished
from judge_r1.models.base import Usage
from judge_r1.models.open_model import OpenedModel, is_local


class TokenJudge:
    """Runs the episodes of all calls of `judge` together, up to `build.batch_size` at a time. `settings` are added to
    those of the episode. Call `close` when done."""

    def __init__(
        self,
        build: JudgeBuild,
        config: EpisodeConfig,
        model: OpenedModel,
        *,
        kind: str,
        prompted: bool,
        **settings: str,
    ) -> None:
        self.name, self.settings = f"{kind}@{model.name}", judge_settings(build, config, **settings)
        self._factory = EpisodeFactory.of_model(self.name, config, model, build, prompted=prompted)
        # Before the weights are loaded: a server learns of its prompts only when they come.
        self._factory.check_window(case=is_local(build.backend))
        self._model, self._at_a_time = model, build.batch_size
        temperature, alternatives = build.sampling.temperature, self._factory.alternatives
        self._driver = EpisodeDriver(model.model, temperature=temperature, alternatives=alternatives)
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

    def close(self) -> None:
        self._model.close()
