"""Episodes over chat turns against a real server on 127.0.0.1."""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Sequence
from math import log
from typing import Any, TypeVar

import pytest
from factories import evidence
from fake_judge_endpoint import JudgeServer, chat_completion, error_response
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.endpoint import EndpointError, RetryPolicy
from judge_r1.core.records import Trajectory
from judge_r1.episode.chat_driver import EOS, ChatDriver, TextTokenizer, chat_budget, feed_reply
from judge_r1.episode.config import Budget
from judge_r1.episode.machine import Episode
from judge_r1.episode.parsing import parse_tolerant
from judge_r1.models.base import GenerateRequest, Generation, Usage
from judge_r1.models.open_model import OpenAIEndpoint
from judge_r1.models.openai_chat import ChatModel

T = TypeVar("T")
FAST = RetryPolicy(concurrency=4, request_s=5, total_s=20, attempts=3, backoff_s=0.01)
BUDGET = Budget(max_searches=2, response_tokens=50, observation_tokens=60)
JUDGMENT = '{"comparison": "A>B", "violated_principles": [2]}'
ANSWER = f"<answer>{JUDGMENT}</answer>"
MESSAGES = [{"role": "system", "content": "judge"}, {"role": "user", "content": "these"}]


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 60))


def episode(*, bare: bool = False, budget: Budget = BUDGET) -> Episode:
    bare_parser = parse_tolerant if bare else None
    return Episode((), chat_budget(budget), TextTokenizer(), eos_ids=(EOS,), parse_bare=bare_parser)


def run_replies(
    *replies: tuple[int, Any], bare: bool = False, search: Callable[[str], Any] | None = None, **options: Any
) -> tuple[Trajectory, float | None, JudgeServer, Usage]:
    """Run an episode on these replies of a server."""
    left, usage = list(replies), Usage()

    async def work(url: str) -> tuple[Trajectory, float | None]:
        model = ChatModel(OpenAIEndpoint(url, "toy", "NO_KEY"), None, FAST)
        try:
            running = episode(bare=bare)
            find = search or (lambda query: evidence(f"found {query}"))
            return await ChatDriver(model, **options).run_episode(MESSAGES, running, find, max_tokens=50, usage=usage)
        finally:
            await model.aclose()

    with JudgeServer(lambda path, body: left.pop(0) if len(left) > 1 else left[0]) as server:
        trajectory, confidence = run(work(server.url))
    return trajectory, confidence, server, usage


def test_observations_are_user_messages_and_stop_tags_are_restored() -> None:
    trajectory, _, server, usage = run_replies(
        chat_completion("let me look<search>dose"), chat_completion(ANSWER.removesuffix("</answer>"))
    )
    assert trajectory.ended == "answer"
    assert trajectory.judgment is not None
    assert (trajectory.judgment.comparison, trajectory.judgment.violated_principles) == ("A>B", (2,))
    assert [turn.query for turn in trajectory.turns] == ["dose", None]
    assert trajectory.turns[-1].text == ANSWER
    first, second = server.bodies
    assert first["messages"] == MESSAGES
    assert first["stop"] == ["</search>", "</answer>"]
    assert second["messages"][2:] == [
        {"role": "assistant", "content": "let me look<search>dose</search>"},
        {"role": "user", "content": "<information>\n[1] found dose\n(1 searches left)</information>"},
    ]
    assert trajectory.text_only
    assert trajectory.token_ids == trajectory.prompt_ids == trajectory.logprobs == ()
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (2, 14, 6)
    assert usage.seconds > 0


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_becomes_a_thought_without_actions(field: str) -> None:
    thought = {field: "they say <answer>{}</answer></think><search>x</search>"}
    trajectory, _, server, _ = run_replies(chat_completion("<search>q", **thought), chat_completion(ANSWER, **thought))
    assert trajectory.ended == "answer"
    first = trajectory.turns[0].text
    assert first.startswith("<think>they say ‹answer›{}‹/answer›‹/think›")
    assert first.endswith("</think><search>q</search>")
    assert server.bodies[1]["messages"][2]["content"] == "<search>q</search>", "thoughts are not sent back"


@pytest.mark.parametrize(
    ("reply", "ended"),
    [
        (chat_completion("I prefer A."), "no_answer"),
        (chat_completion("<think>hm"), "unclosed_think"),
        (chat_completion("I prefer", finish="length"), "turn_budget"),
        (chat_completion("<answer>{", finish="length"), "unclosed_answer"),
        (chat_completion(None, finish="length", reasoning_content="on and on"), "unclosed_think"),
        (chat_completion("<answer>none"), "rejected_no_json"),
        (chat_completion(None, refusal="I would rather not"), "refusal"),
        (chat_completion("half <answer>" + JUDGMENT + "</answer>", finish="content_filter"), "content_filter"),
        (error_response(400, "This model's maximum context length is 10 tokens"), "context_overflow"),
        (error_response(400, "too long", "context_length_exceeded"), "context_overflow"),
        (error_response(413, "prompt is too long: 9 tokens > 8 maximum"), "context_overflow"),
        (error_response(400, "The response was filtered", "content_filter"), "content_filter"),
        (error_response(400, "unknown field"), "infrastructure_refused"),
        (error_response(500, "it broke"), "infrastructure_no_answer"),
        ((200, {"choices": []}), "infrastructure_malformed_reply"),
    ],
)
def test_each_failure_has_a_name(reply: tuple[int, Any], ended: str) -> None:
    trajectory, confidence, _, _ = run_replies(reply)
    assert (trajectory.ended, trajectory.judgment, confidence) == (ended, None, None)
    assert trajectory.infrastructure_failed == ended.startswith("infrastructure_")


def test_an_answer_without_tags_is_parsed_at_the_end_of_the_turn() -> None:
    trajectory, _, server, _ = run_replies(chat_completion(f"```json\n{JUDGMENT}\n```"), bare=True)
    assert trajectory.judgment is not None
    assert "stop" not in server.bodies[0], "a bare answer has no tag to stop at"
    assert run_replies(chat_completion(JUDGMENT, finish="length"), bare=True)[0].ended == "turn_budget"
    thinking = run_replies(chat_completion(JUDGMENT, reasoning="perhaps <answer>no</answer>"), bare=True)[0]
    assert thinking.judgment == trajectory.judgment


def test_a_failed_search_is_an_infrastructure_failure() -> None:
    def broken(query: str) -> Any:
        raise OSError("the index is gone")

    assert run_replies(chat_completion("<search>q"), search=broken)[0].ended == "infrastructure_search_error"


def test_a_wrong_key_raises() -> None:
    with pytest.raises(EndpointError, match=r"needs a key .* NO_KEY"):
        run_replies(error_response(401, "who are you?"))


def entry(token: str, p: float) -> dict[str, Any]:
    return {"token": token, "logprob": log(p), "top_logprobs": []}


def test_confidence_from_logprobs() -> None:
    tokens = [entry('{"comparison": "', 1), entry("A", 0.9), entry(">B", 0.6)]
    tail = [entry('", "violated_principles": [2]}', 1)]
    alone = run_replies(chat_completion(JUDGMENT, logprobs={"content": [*tokens, *tail]}), bare=True, top_logprobs=20)
    assert alone[1] == pytest.approx(0.6)
    assert alone[2].bodies[0]["logprobs"] is True
    tokens[2]["top_logprobs"] = [{"token": "<B", "logprob": -2.0}, {"token": ">B", "logprob": -1.0}]
    tokens[2]["logprob"] = -1.0
    both = run_replies(chat_completion(JUDGMENT, logprobs={"content": [*tokens, *tail]}), bare=True, top_logprobs=20)
    assert both[1] == pytest.approx(1 / (1 + 2.718281828**-1))
    assert "logprobs" not in run_replies(chat_completion(JUDGMENT), bare=True)[2].bodies[0]


def test_a_seed_within_32_bits_is_sent_when_sampling() -> None:
    async def seeds(temperature: float) -> list[Any]:
        with JudgeServer(lambda path, body: chat_completion("x")) as server:
            model = ChatModel(OpenAIEndpoint(server.url, "toy", "NO_KEY"), None, FAST)
            await ChatDriver(model, temperature=temperature).answer(
                MESSAGES, max_tokens=5, seed=2**63 + 5, usage=Usage()
            )
            await model.aclose()
            return [body.get("seed") for body in server.bodies]

    assert run(seeds(0.7)) == [5]
    assert run(seeds(0.0)) == [None]


def test_single_answers_are_not_parsed() -> None:
    async def answers(*replies: tuple[int, Any]) -> list[Trajectory]:
        left = list(replies)
        with JudgeServer(lambda path, body: left.pop(0)) as server:
            model = ChatModel(OpenAIEndpoint(server.url, "toy", "NO_KEY"), None, FAST)
            found = [await ChatDriver(model).answer(MESSAGES, max_tokens=5, seed=0, usage=Usage()) for _ in replies]
            await model.aclose()
            return found

    plain, thought, cut = run(
        answers(
            chat_completion("<search>7</search> \ud800"),
            chat_completion("8", reasoning="hm"),
            chat_completion("9", finish="length"),
        )
    )
    assert (plain.ended, [turn.text for turn in plain.turns]) == ("answer", ["<search>7</search> ?"])
    assert [turn.text for turn in thought.turns] == ["<think>hm</think>", "8"]
    assert cut.ended == "turn_budget"
    assert json.loads(plain.model_dump_json())["text_only"] is True


WRITTEN = ["<search>", "</search>", "</answer>", "<think>", "</think>", "<answer>", "q é", "{}", " "]


@given(st.lists(st.sampled_from(WRITTEN)))
def test_text_round_trips_and_every_episode_ends(parts: Sequence[str]) -> None:
    tokenizer, text = TextTokenizer(), "".join(parts)
    assert tokenizer.decode(tokenizer.encode_trusted(text)) == text
    running = episode()
    for _ in range(4):
        turns = len(running.turns)
        feed_reply(running, Generation(text))
        assert (
            running.trajectory().ended != "unfinished" or len(running.turns) > turns or hasattr(running.state, "query")
        )
        if hasattr(running.state, "query"):
            running.observe(evidence("p"))
        if running.trajectory().ended != "unfinished":
            return
    assert not parts or "<search>" in text


def test_a_client_respects_the_concurrency_of_its_policy() -> None:
    async def work(url: str) -> list[Generation]:
        model = ChatModel(OpenAIEndpoint(url, "toy", "NO_KEY"), None, RetryPolicy(concurrency=3))
        requests = [GenerateRequest(messages=MESSAGES, max_tokens=5) for _ in range(12)]
        try:
            return await model.generate(requests)
        finally:
            await model.aclose()

    with JudgeServer(lambda path, body: chat_completion("x"), wait=lambda: time.sleep(0.02)) as server:
        assert [g.text for g in run(work(server.url))] == ["x"] * 12
        assert server.peak == 3
