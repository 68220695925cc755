"""Episodes over HTTP equal those of the same model in this process."""

import asyncio
from typing import Any

import pytest
from fake_judge_endpoint import JudgeServer
from fake_vllm import serving
from word_model import BUDGET, WordTokenizer, episodes, model, passages, search

from judge_r1.core.endpoint import EndpointError, RetryPolicy
from judge_r1.episode.driver import EpisodeDriver
from judge_r1.episode.machine import Episode
from judge_r1.models.base import GenerateRequest, Generation, Usage
from judge_r1.models.engine import LocalModel
from judge_r1.models.open_model import OpenAIEndpoint
from judge_r1.models.openai_completions import CompletionsModel

ALTERNATIVES = {2 * n + 1: 2 * n for n in range(48)} | {2 * n: 2 * n + 1 for n in range(48)}
"""Arbitrary pairs of ids, the same for both models."""
FAST = RetryPolicy(concurrency=4, request_s=30, total_s=60, attempts=6, backoff_s=0.01)


def over_http(server: JudgeServer, running: list[Episode], temperature: float = 0.0) -> list[Usage]:
    spent = [Usage() for _ in running]

    async def work() -> None:
        endpoint = OpenAIEndpoint(server.url, "toy", "NO_KEY", "completions")
        served = CompletionsModel(endpoint, None, FAST)
        driver = EpisodeDriver(served, temperature=temperature, alternatives=ALTERNATIVES)

        async def one(index: int, episode: Episode) -> None:
            await driver.run_episode(episode, lambda query: passages(index, query), spent[index])

        try:
            await asyncio.gather(*(one(index, episode) for index, episode in enumerate(running)))
        finally:
            await served.aclose()

    asyncio.run(asyncio.wait_for(work(), 300))
    return spent


@pytest.mark.parametrize(("part", "faults"), [(10**6, 0.0), (3, 0.3)])
def test_the_same_ids_as_the_local_engine(part: int, faults: float) -> None:
    """With whole turns per request, and with parts of three ids and 30% failed requests."""
    local, remote = episodes(), episodes()
    engine = LocalModel(model(), WordTokenizer().decode, [1], pad_id=0, max_rows=16)
    EpisodeDriver(engine, alternatives=ALTERNATIVES).run_episodes(local, search, 0.0)
    with serving(model(), WordTokenizer().decode, part=part, faults=faults) as server:
        spent = over_http(server, remote)
        assert server.peak <= 4
        assert (server.received.total() > server.completed.total()) == bool(faults)
    compared = 0
    for one, other, usage in zip(local, remote, spent, strict=True):
        a, b = one.trajectory(), other.trajectory()
        assert a.model_copy(update={"logprobs": ()}) == b.model_copy(update={"logprobs": ()})
        assert a.logprobs == pytest.approx(b.logprobs, abs=1e-4)
        assert usage.output_tokens >= sum(a.loss_mask), "ids after a stop are counted and dropped"
        for position, value in other.alternative_logprobs.items():
            compared += 1
            assert one.alternative_logprobs[position] == pytest.approx(value, abs=1e-4)
    assert sum(episode.trajectory().searches for episode in local) >= 6
    assert compared > 20


def test_samples_repeat_with_the_seed_and_each_part_has_its_own() -> None:
    with serving(model(), WordTokenizer().decode, part=4) as server:
        first, again = (episodes(3)[:7] for _ in range(2))
        over_http(server, first, 1.0)
        over_http(server, again, 1.0)
        assert [e.token_ids for e in first] == [e.token_ids for e in again]
        assert len({body["seed"] for body in server.bodies}) > len(first)


def one(answer: tuple[int, Any]) -> Episode:
    [episode, *_] = episodes()
    with JudgeServer(lambda path, body: answer) as server:
        over_http(server, [episode])
    return episode


def choice(**logprobs: Any) -> tuple[int, Any]:
    return 200, {"choices": [{"text": "x", "logprobs": logprobs or None, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("answer", "ended"),
    [
        ((400, {"error": {"message": "This model's maximum context length is 9 tokens"}}), "context_overflow"),
        ((400, {"error": {"message": "unknown field"}}), "infrastructure_refused"),
        (choice(tokens=[], token_logprobs=[]), "infrastructure_no_ids"),
        (choice(tokens=["q"], token_logprobs=[-1.0]), "infrastructure_malformed_reply"),
        (choice(tokens=["token_id:3"], token_logprobs=[]), "infrastructure_malformed_reply"),
        (choice(), "infrastructure_malformed_reply"),
    ],
)
def test_each_failure_has_a_name(answer: tuple[int, Any], ended: str) -> None:
    assert one(answer).trajectory().ended == ended


def test_ids_after_a_stop_are_dropped() -> None:
    [episode, *_] = episodes()
    logprobs = {"tokens": ["token_id:6", "token_id:1", "token_id:8"], "token_logprobs": [-1.0, -2.0, -3.0]}
    with JudgeServer(lambda path, body: choice(**logprobs)) as server:
        over_http(server, [episode])
        assert server.bodies[0]["prompt"] == list(episode.prompt_ids)
        assert server.bodies[0]["max_tokens"] == BUDGET.response_tokens
    assert episode.token_ids == [6, 1]
    assert episode.trajectory().ended == "no_answer"


def test_no_request_outlives_a_call_that_failed() -> None:
    """The first error ends the call; the requests beside it are cancelled and have ended when it is raised."""
    ended: list[int] = []

    class Slow(CompletionsModel):
        async def _one(self, request: GenerateRequest) -> Generation:
            try:
                if request.seed == 0:
                    raise EndpointError("no such model")
                await asyncio.sleep(60)
                return Generation()
            finally:
                await asyncio.sleep(0.01)
                ended.append(request.seed)

    async def work() -> None:
        served = Slow(OpenAIEndpoint("http://127.0.0.1:9/v1", "toy", "NO_KEY", "completions"), None)
        with pytest.raises(EndpointError):
            await served.generate([GenerateRequest(max_tokens=1, prompt_ids=[1], seed=seed) for seed in range(3)])
        assert sorted(ended) == [0, 1, 2]
        await served.aclose()

    asyncio.run(work())
