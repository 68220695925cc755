"""Judges that run requests concurrently: at endpoints (these need the extra `endpoints`) and in servers."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import Field

from judge_r1.core.endpoint import (
    DEFAULT_POLICY,
    EndpointError,
    MalformedReply,
    ReplyTooLarge,
    RequestRejected,
    RetriesExhausted,
    RetryPolicy,
    find_key,
)
from judge_r1.core.records import INFRASTRUCTURE, Trajectory
from judge_r1.core.verdicts import InvalidVerdict
from judge_r1.episode.answer_text import answer_text
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.chat_driver import EOS, ChatDriver, TextTokenizer, chat_budget
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import EpisodeDriver
from judge_r1.episode.machine import Episode
from judge_r1.episode.rollout import (
    EVALUATION_PARSERS,
    PromptTooLong,
    answer_parser,
    episode_seed,
    parser_without_tags,
    task_budget,
    task_prompt,
    task_scope,
)
from judge_r1.episode.tags import grammar
from judge_r1.episode.task import PairwiseTask
from judge_r1.files.yaml_config import ConfigModel
from judge_r1.judges.base import SLOW_ENDPOINT, Closable, Judge, JudgeBuild, JudgeOutput, PromptFit
from judge_r1.judges.episode_factory import (
    EpisodeFactory,
    case_text,
    judge_settings,
    overflow_output,
    reject_custom_prompt,
)
from judge_r1.judges.request import CustomPrompt, JudgeRequest
from judge_r1.models.base import LanguageModel, Usage
from judge_r1.models.open_model import OpenAIEndpoint, OpenedModel, endpoint_of, is_chat, is_local

T = TypeVar("T")
REFUSED = f"{INFRASTRUCTURE}refused"
MAX_CONSECUTIVE_FAILURES = 8
"""After this many consecutive infrastructure failures (or `limit`, if greater) the remaining requests are not tried."""


async def as_finished(
    name: str, requests: Sequence[JudgeRequest], run: Callable[[JudgeRequest], Awaitable[JudgeOutput]], limit: int
) -> AsyncIterator[JudgeOutput]:
    """Runs every request once, at most `limit` concurrently. Once one is answered, failures that concern a single
    request (`Trajectory.unanswered`) do not count as a sign that the server is down.

    Raises: EndpointError, after yielding what has finished.
    """
    if len(requests) == 1:  # a server asks for one at a time: no task, and no count of failures
        yield await run(requests[0])
        return
    waiting = iter(requests)
    running: set[asyncio.Task[JudgeOutput]] = set()
    consecutive, answered, stopped = 0, False, ""
    try:
        while True:
            while len(running) < limit and (request := next(waiting, None)) is not None:
                running.add(asyncio.ensure_future(run(request)))
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)  # each has its deadlines
            for task in [task for task in done if task.exception() is None]:
                output = task.result()
                ended = output.trajectory
                if not ended.infrastructure_failed:
                    consecutive, answered = 0, True
                elif not (answered and ended.unanswered):
                    consecutive += 1
                # At least `limit`: when a server restarts, all requests that run at that moment fail together.
                if not stopped and consecutive >= max(MAX_CONSECUTIVE_FAILURES, limit):
                    stopped = f"{consecutive} consecutive requests failed, the last one with {ended.ended}"
                    stopped += f" ({ended.detail})" if ended.detail else ""
                yield output
            for task in done:
                task.result()  # raises the error of a task, after the outputs beside it were yielded
            if stopped:
                raise EndpointError(
                    f"{name}: {stopped}: finished results are saved; run again with --resume once the server answers"
                )
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


class PostingOptions(ConfigModel):
    timeout: int = Field(180, ge=1, description="seconds for one request")


class PostingJudge(ABC):
    """Asks a server that takes no messages. `path` is that of its URL below the host, `v1` included."""

    def __init__(self, kind: str, build: JudgeBuild, path: str, *, timeout_s: int, **settings: Any) -> None:
        from judge_r1.models.http_client import Client

        found = endpoint_of(build.backend, kind)
        assert isinstance(found, OpenAIEndpoint)
        endpoint = replace(found, base=found.base.removesuffix("/v1"), path=path)
        shown = found.name if is_chat(build.backend) else f"vllm:{found.name}"
        self.name, self.settings = f"{kind}@{shown}", dict(settings)
        self._model, self._at_a_time = found.model, build.batch_size
        policy = RetryPolicy(build.batch_size, timeout_s, 5 * timeout_s, options=SLOW_ENDPOINT)
        self._client = Client(endpoint, find_key(found), policy)
        self._answers = False

    @abstractmethod
    async def answer(self, request: JudgeRequest) -> JudgeOutput:
        """The output for a request, by `post`."""

    @abstractmethod
    def check(self, requests: Sequence[JudgeRequest]) -> None:
        """Raises: BadJudge for requests that it cannot ask about."""

    def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        return as_finished(self.name, requests, self._one, self._at_a_time)

    async def post(self, body: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        return await self._client.post({"model": self._model, **body}, read)

    async def _one(self, request: JudgeRequest) -> JudgeOutput:
        again = False
        while True:
            try:
                output = await self.answer(request)
            except (RequestRejected, RetriesExhausted) as error:
                ended = _failure(error)
                if ended == REFUSED and self._answers and not again:  # as of models: a server that answers others
                    again = True
                    await asyncio.sleep(DEFAULT_POLICY.backoff_s)
                    continue
                trajectory = Trajectory.without_ids(ended, detail=str(error))
                return JudgeOutput(request, trajectory, InvalidVerdict(reason=ended))
            self._answers = True
            return output


def _failure(error: RequestRejected | RetriesExhausted) -> str:
    """How a request ends that has no answer, with the names that models have for it."""
    if isinstance(error, ReplyTooLarge):
        return f"{INFRASTRUCTURE}reply_too_large"
    if isinstance(error, RequestRejected):
        return error.meaning or REFUSED
    return f"{INFRASTRUCTURE}{'malformed_reply' if isinstance(error, MalformedReply) else 'no_answer'}"


class ThreadJudge:
    """Runs `judge` in one worker thread, one call at a time. A cancelled call that is waiting never starts; a running
    one finishes in the thread and its output is dropped. Call `close` when done."""

    def __init__(self, judge: Judge) -> None:
        self._judge, self._thread = judge, ThreadPoolExecutor(1, "judge")
        self.name, self.settings, self.members = judge.name, judge.settings, (judge,)

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit | None:
        return self._judge.check(requests)

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for output in await asyncio.get_running_loop().run_in_executor(self._thread, self._all, requests):
            yield output

    def close(self) -> None:
        """What has started ends first."""
        if isinstance(self._judge, Closable):
            self._thread.submit(self._judge.close)
        self._thread.shutdown(wait=False)

    def _all(self, requests: Sequence[JudgeRequest]) -> list[JudgeOutput]:
        async def gather() -> list[JudgeOutput]:
            return [output async for output in self._judge.judge(requests)]

        return asyncio.run(gather())


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
        self._searcher, self._texts = (build.searcher or CaseSearcher)(build.texts, config), build.texts

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
            trajectory, confidence = await self._driver.run_episode(
                task_prompt(task, self._config).chat(),
                episode,
                self._searcher.of_case(task.case_id or ""),
                max_tokens=tokens,
                usage=usage,
            )
        return JudgeOutput(request, trajectory, request.read(trajectory), confidence, usage.as_dict())

    def _episode(self, task: PairwiseTask, seed: int) -> Episode:
        budget = chat_budget(task_budget(task, self._config))
        style = self._config.prompt
        parse, parse_bare = answer_parser(style, task), parser_without_tags(style, EVALUATION_PARSERS)
        return Episode(
            (),
            budget,
            TextTokenizer(grammar(tools=bool(self._config.tools))),
            eos_ids=(EOS,),
            parse=parse,
            parse_bare=parse_bare,
            bare_text=answer_text,
            seed=seed,
            scope=task_scope(task, case_text(task, self._config, self._texts)),
        )


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
        self._factory = EpisodeFactory(self.name, config, model, build, prompted=prompted)
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
