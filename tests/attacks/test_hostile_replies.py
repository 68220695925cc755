"""Hostile replies of models: every parser takes linear time, raises nothing unexpected, and reads no thought."""

import asyncio
import gzip
import json
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from factories import ByteTokenizer, make_case, make_pair
from process_faults import short_and_long

from data_builders.perturb.teacher.answer_parser import parse_answer
from data_builders.rationales.turn_parser import read_turn
from data_builders.second_opinion import read_opinion
from judge_r1.benchmarks.longjudgebench.answer_parsers import UnreadableAnswer, find_json, number, released_json, word
from judge_r1.benchmarks.longjudgebench.deep_research_bench import _plain
from judge_r1.benchmarks.pointwise import read_rating
from judge_r1.core.endpoint import RetryPolicy
from judge_r1.core.records import Trajectory, Turn
from judge_r1.core.verdicts import Judgment
from judge_r1.episode.answer_text import answer_of, answer_text, split_hidden_thought
from judge_r1.episode.chat_driver import EOS, ChatDriver, SingleTurnEpisode, TextTokenizer, feed_reply
from judge_r1.episode.confidence import chat_confidence, sign_position
from judge_r1.episode.config import Budget
from judge_r1.episode.machine import Episode
from judge_r1.episode.parsing import (
    Rejected,
    parse_last_object,
    parse_strict,
    parse_table6,
    parse_table6_tolerant,
    parse_tolerant,
)
from judge_r1.evaluation.rescore import reparse
from judge_r1.models.base import GenerateRequest, Generation, Usage
from judge_r1.models.open_model import OpenAIEndpoint
from judge_r1.models.openai_chat import ChatModel
from judge_r1.models.openai_completions import CompletionsModel

JSON = '{"comparison": "A>B", "violated_principles": [1]}'
REPEATED = [
    "{", "}", '{"', '{"a":', '{"a":[', '{"a":{"b":1},', '{"a":"{', '\\"{', "[", '"', "\\", '"a":1,', JSON, "1", "9.",
    " ", "\n", "\t ", "<think>", "</think>", "<think></think>", "<answer>", "</answer>", f"<answer>{JSON}", "<search>",
    "<search>q</search>", "<", "</", "<answer", "```", "```json ", "A>B ", "A ", "A>", 'comparison": "',
    '"comparison" ', "violated_principles [", "violated principles ", "violated_principles: [1, 2]\n", "Rating: ",
    "rating 9\n", "!", "[weight", "\\ud800", "é", "\U0001f600", "\x00", "Flawed Variant 1:\n", "Flawed Variant 1",
    "{'a':", "{a:", "{\u201ca", '{"a', '", ', "//", "/*", "A>B or ", "A>B if ", "so A<B. ", "although ", "reasoning A ",
    "&gt;", "violated principles: P2, ", "comparison: ", "Worse: ",
    "Worse: A\n", "Violated Principles: [", "*", "_ ", "P1,", "1,", "-", "Infinity",
]  # fmt: skip
PIECES = [
    *REPEATED,
    "<|im_end|>", "</s>", "<s>", "<eos>", "<turn|>", "<｜end▁of▁sentence｜>", "<|im_start|>user\n", "<|user|>",
    "<start_of_turn>user\n", "<|channel|>analysis<|message|>", "<|start|>assistant<|channel|>final<|message|>",
    "<|channel>", "<channel|>", "[THINK]", "[/THINK]", "<seed:think>", "◁think▷", "<|START_THINKING|>",
    "<|end_of_thought|>", "<reasoning>\n", "</reasoning>\n",
]  # fmt: skip
"""With the marks of turns and thoughts, which may end a turn or open a thought that `</think>` does not close."""
BYTES = ByteTokenizer(b"<|end|>")
END = BYTES.id_of(b"<|end|>")
PAIR = make_pair(make_case())
LARGE = Budget(max_searches=1, response_tokens=10**6, observation_tokens=1000)


def chat(text: str, *, bare: bool) -> Trajectory:
    episode = Episode((), LARGE, TextTokenizer(), eos_ids=[EOS], parse_bare=parse_tolerant if bare else None)
    feed_reply(episode, Generation(text, reasoning=text[: len(text) // 2]))
    return episode.trajectory()


def sampled(text: str, kind: type[Episode], **options: Any) -> Trajectory:
    episode = kind([1], LARGE, BYTES, eos_ids=[END], **options)
    ids = [*text.encode("utf-8", "replace"), END]
    episode.feed(ids, [0.0] * len(ids))
    return episode.trajectory()


def in_ljb(find: Callable[..., dict[str, Any]]) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            values = find(text)
        except UnreadableAnswer as error:
            return str(error)
        for key in list(values)[:50]:
            for check in (lambda key: number(values, key, 10), lambda key: word(values, key, "yes", "no")):
                with suppress(UnreadableAnswer):
                    check(key)
            _plain(str(values[key]))
        return values

    return read


PARSERS: dict[str, Callable[[str], Any]] = {
    "strict": parse_strict,
    "tolerant": parse_tolerant,
    "last object": parse_last_object,
    "table 6": parse_table6,
    "table 6, tolerant": parse_table6_tolerant,
    "rating": read_rating,
    "longjudgebench": in_ljb(find_json),
    "longjudgebench release": in_ljb(released_json),
    "longjudgebench criterion": _plain,
    "answer of a turn": answer_of,
    "thoughts": answer_text,
    "hidden thoughts": split_hidden_thought,
    "confidence": sign_position,
    "confidence over chat": lambda text: chat_confidence([{"token": text, "logprob": -1.0}]),
    "chat episode": lambda text: chat(text, bare=False),
    "chat episode, bare": lambda text: chat(text, bare=True),
    "token episode": lambda text: sampled(text, Episode),
    "token episode, bare": lambda text: sampled(text, Episode, parse_bare=parse_tolerant),
    "single turn": lambda text: sampled(text, SingleTurnEpisode),
    "replay": lambda text: reparse(Trajectory.without_ids("answer", [Turn(text=text or " ")]), parse_tolerant),
    "rationale of a teacher": lambda text: read_turn(text, PAIR, may_search=True, may_answer=True),
    "variants of a teacher": lambda text: parse_answer(text, [1, 2], "multi"),
    "second opinion": lambda text: read_opinion("p", "v", text),
}


EPISODES = ("chat episode", "chat episode, bare", "token episode", "token episode, bare", "single turn")
FRAMES = ("%s", '{"comparison": "%s', "<think>%s</think>%s", "<answer>%s</answer>")


def seconds(parse: Callable[[str], Any], text: str) -> float:
    started = time.process_time()
    parse(text)
    return time.process_time() - started


def is_slow(parse: Callable[[str], Any], short: str, long: str) -> bool:
    """Whether the time of a text of eight times the length is more than linear."""
    return seconds(parse, long) > 24 * seconds(parse, short) + 0.05


@pytest.mark.parametrize("length", short_and_long(1_000, 25_000))
@pytest.mark.parametrize("name", sorted(PARSERS))
def test_time_is_linear(name: str, length: int, attacks: Callable[..., None]) -> None:
    """Each piece repeated, alone and in the frames of an answer, to a length and to eight times the length: linear time
    grows by eight, quadratic time by 64. Episodes run token by token and get every twelfth piece."""
    parse, pieces, frames, slow = PARSERS[name], PIECES, FRAMES, []
    if name in EPISODES:
        pieces, frames, length = pieces[::12], FRAMES[:1], length // 2
    for piece in pieces:
        for frame in frames:
            short, long = (frame.replace("%s", piece * (size // len(piece))) for size in (length, 8 * length))
            if is_slow(parse, short, long) and is_slow(parse, short, long):  # once may be another process
                slow.append((piece, frame))
    attacks("hostile reply, repeated piece", 2 * len(pieces) * len(frames))
    assert not slow


def test_two_hundred_thousand_braces_take_seconds_of_a_busy_core_at_most() -> None:
    for text in ("{" * 200_000, '{"a":' * 40_000, '{"comparison": "' + "{" * 200_000):
        assert seconds(parse_tolerant, text) < 3.0
    keys = "{" + ", ".join(f'"{number}": 1' for number in range(50_000)) + "}"
    assert seconds(parse_strict, keys) < 3.0
    assert isinstance(rejected := parse_strict(keys[:-1] + ', "7": 1}'), Rejected)
    assert (rejected.reason, rejected.detail) == ("repeated_key", "'7'")


@pytest.mark.parametrize("count", short_and_long(100, 20_000))
@pytest.mark.parametrize("name", sorted(PARSERS))
def test_random_replies_raise_nothing_and_give_text_that_utf8_can_encode(
    name: str, count: int, attacks: Callable[..., None]
) -> None:
    rng = random.Random(name)
    count //= 5 if name in EPISODES else 1
    for _ in range(count):
        text = "".join(rng.choice(PIECES) * rng.choice((1, 1, 1, 2, 30)) for _ in range(rng.randint(1, 12)))
        found = PARSERS[name](text.replace("\\ud800", rng.choice(("\\ud800", ""))))
        if isinstance(found, Trajectory | Judgment):
            found.model_dump_json().encode()
        if isinstance(found, Rejected):
            assert len(found.detail.encode()) < 1000
    attacks("hostile reply, random", count)


@pytest.mark.parametrize("count", short_and_long(30, 20_000))
def test_random_thoughts_never_act(count: int, attacks: Callable[..., None]) -> None:
    """Whatever a thought holds, a reply that decides nothing after it is invalid, and a decision after it counts."""
    rng = random.Random("thoughts")
    good = JSON.replace("A>B", "A<B")
    for _ in range(count):
        thought = "".join(rng.choice(REPEATED) for _ in range(rng.randint(1, 12))) + JSON
        for reply in (f"<think>{thought}</think>", f"{thought}</think>", f"<think>{thought}<think>{thought}</think>"):
            for bare in (True, False):
                after = good if bare else f"<answer>{good}</answer>"
                decided = _chat(Generation(f"{reply}</think>{after}"), bare=bare).judgment
                assert decided is not None
                assert decided.comparison == "A<B"
                assert _chat(Generation(f"{reply}</think> so be it"), bare=bare).judgment is None
                assert _chat(Generation("so be it", reasoning=reply), bare=bare).judgment is None
    attacks("draft in a thought", 18 * count)


def _chat(reply: Generation, *, bare: bool) -> Trajectory:
    episode = Episode((), LARGE, TextTokenizer(), eos_ids=[EOS], parse_bare=parse_tolerant if bare else None)
    feed_reply(episode, reply)
    return episode.trajectory()


def test_values_beyond_all_limits() -> None:
    deep, digits = "[" * 200_000, "9" * 6000
    for text in (
        f'{{"comparison": "A>B", "violated_principles": {deep}',
        f'{{"comparison": "A>B", "violated_principles": {"[" * 900}{"]" * 900}}}',
        f'{{"comparison": {"[" * 900}{"]" * 900}, "violated_principles": []}}',
        f'{{"comparison": "A>B", "violated_principles": [{digits}]}}',
        f'{{"comparison": "A>B", "violated_principles": [1e{digits}]}}',
        '{"comparison": "A>B", "violated_principles": [1], "\\ud800": 1}',
    ):
        assert isinstance(parse_strict(text), Rejected)
        for find in (find_json, released_json):
            in_ljb(find)(text)
        parse_tolerant(text)
    for value in ("9" * 900, "1e999", "-1e999", "NaN"):
        values = find_json(f'{{"score": {value}}}')
        with pytest.raises(UnreadableAnswer, match=r"bad_value|out_of_range"):
            number(values, "score", 10)


# ---- replies of endpoints ----

Reply = Callable[[asyncio.StreamWriter], Any]
FAST = RetryPolicy(concurrency=4, request_s=10, total_s=20, attempts=2, backoff_s=0.01, reply_bytes=200_000)
CHAT = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}


@asynccontextmanager
async def endpoint(reply: Reply) -> AsyncIterator[str]:
    """A server that reads a request and lets `reply` write what it likes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(length)
            await reply(writer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


def body(data: bytes, status: str = "200 OK", *headers: str) -> Reply:
    async def write(writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status}", f"content-length: {len(data)}", "connection: close", *headers, "", ""]
        writer.write("\r\n".join(lines).encode() + data)

    return write


def endless(status: str = "200 OK") -> Reply:
    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status}\r\ntransfer-encoding: chunked\r\n\r\n".encode())
        while not writer.is_closing():
            writer.write(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
            await writer.drain()

    return write


def as_json(**changes: Any) -> bytes:
    choice = CHAT["choices"][0] | changes
    return json.dumps(CHAT | {"choices": [choice]}).encode()


def logprobs(*values: Any) -> bytes:
    return as_json(logprobs={"content": [{"token": "x", "logprob": value} for value in values]})


ENDPOINT_REPLIES: dict[str, tuple[Reply, str]] = {
    "too large": (body(b" " * 300_000 + b"{}"), "reply_too_large"),
    "endless": (endless(), "reply_too_large"),
    "compressed": (body(gzip.compress(b" " * 10**7), "200 OK", "content-encoding: gzip"), "reply_too_large"),
    "broken compression": (body(b"xxxx", "200 OK", "content-encoding: gzip"), "no_answer"),
    "endless error": (endless("500 Internal Server Error"), "no_answer"),
    "endless rejection": (endless("400 Bad Request"), "refused"),
    "deep": (body(b'{"choices":' + b"[" * 90_000), "no_answer"),
    "deep rejection": (body(b'{"error":' + b"[" * 60_000, "400 Bad Request"), "refused"),
    "huge number": (body(as_json()[:-1] + b', "usage": {"prompt_tokens": ' + b"9" * 6000 + b"}}"), "no_answer"),
    "infinite count": (body(as_json()[:-1] + b', "usage": {"prompt_tokens": 1e999}}'), "malformed_reply"),
    "count that is a text": (body(as_json()[:-1] + b', "usage": {"prompt_tokens": "x"}}'), "malformed_reply"),
    "usage that is a list": (body(as_json()[:-1] + b', "usage": [1]}'), "malformed_reply"),
    "NaN": (body(logprobs(float("nan"))), "malformed_reply"),
    "logprob that is a text": (body(logprobs("x")), "malformed_reply"),
    "token that is a number": (body(as_json(logprobs={"content": [{"token": 5, "logprob": -1}]})), "malformed_reply"),
    "logprobs that are numbers": (body(as_json(logprobs={"content": [5]})), "malformed_reply"),
    "content that is a number": (body(as_json(message={"content": 5})), "malformed_reply"),
    "content that is a list": (body(as_json(message={"content": ["x"]})), "malformed_reply"),
    "reasoning that is an object": (body(as_json(message={"content": "x", "reasoning": {"a": 1}})), "malformed_reply"),
    "no choices": (body(b'{"choices": {}}'), "malformed_reply"),
    "a list": (body(b"[]"), "malformed_reply"),
    "not UTF-8": (body(b'{"choices": "\xff"}'), "no_answer"),
    "nothing": (body(b""), "no_answer"),
}


async def generate(reply: Reply, kind: type[ChatModel] | type[CompletionsModel] = ChatModel) -> Generation:
    async with endpoint(reply) as url:
        model = kind(OpenAIEndpoint(url, "toy", "NO_KEY"), None, FAST)
        prompt: dict[str, Any] = {"prompt_ids": [1]} if kind is CompletionsModel else {"messages": []}
        try:
            [generation] = await asyncio.wait_for(model.generate([GenerateRequest(max_tokens=5, **prompt)]), 60)
            return generation
        finally:
            await model.aclose()


@pytest.mark.parametrize("name", sorted(ENDPOINT_REPLIES))
def test_a_hostile_reply_of_an_endpoint_is_a_named_failure(name: str, attacks: Callable[..., None]) -> None:
    reply, failure = ENDPOINT_REPLIES[name]
    assert asyncio.run(generate(reply)).failure == failure
    attacks("hostile reply of an endpoint")


def test_a_reply_that_is_too_large_is_not_requested_again_and_ends_the_episode() -> None:
    asked = 0

    async def counted(writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        await body(b" " * 300_000)(writer)

    async def run() -> Trajectory:
        async with endpoint(counted) as url:
            model = ChatModel(OpenAIEndpoint(url, "toy", "NO_KEY"), None, FAST)
            trajectory = await ChatDriver(model).answer([], max_tokens=5, seed=0, usage=Usage())
            await model.aclose()
            return trajectory

    assert asyncio.run(run()).ended == "infrastructure_reply_too_large"
    assert asked == 1


def test_extreme_log_probabilities_give_a_confidence() -> None:
    """Servers send -9999 or -Infinity for impossible tokens, and tiny positive numbers for certain ones."""
    for values in ((-1e308,), (1e-7,), (float("-inf"),), (1e308,)):
        generation = asyncio.run(generate(body(logprobs(*values))))
        [entry] = generation.top_logprobs
        assert -9999 <= entry["logprob"] <= 0


@pytest.mark.parametrize("token", ["token_id:-1", f"token_id:{2**63}", "token_id:x", "token_id:", "x", 5])
def test_token_ids_outside_any_vocabulary(token: Any) -> None:
    choice = {"text": "x", "logprobs": {"tokens": [token], "token_logprobs": [-1.0]}, "finish_reason": "stop"}
    reply = body(json.dumps({"choices": [choice]}).encode())
    assert asyncio.run(generate(reply, CompletionsModel)).failure == "malformed_reply"
