"""Any OpenAI-compatible chat endpoint: the turns of an episode as chat messages, or one message answered once.

The episode machine is that of the token backends; only its ids are made up here, and none is kept: a trajectory over
chat is `text_only`, never trained on. An observation goes out as a user message. Servers leave the stop string out of
what they return, so it is put back: a search or an answer still open where a turn has stopped is closed. What a server
returns beside the text as reasoning becomes the turn's thought.
"""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import SecretStr

from judge_r1.core.records import Trajectory, Turn
from judge_r1.episode.budget import Budget
from judge_r1.episode.confidence import chat_confidence
from judge_r1.episode.machine import Episode, Finished, Sample
from judge_r1.episode.tags import STOP_STRINGS, TAG, escape_tags
from judge_r1.models.endpoint import Messages, OpenAIEndpoint
from judge_r1.models.episode_driver import CaseSearch, Usage, answered, search_into
from judge_r1.models.http_client import DEFAULT_POLICY, Client, RetryPolicy

_PIECE = 4
"""Characters that stand for a token where nobody knows the server's."""
_ROOM = 64
_LIKELIEST = 20
"""Tokens in the place of each that are asked for with `logprobs`: the most that OpenAI gives."""
_CLOSED = {"search": "</search>", "answer": "</answer>"}
EOS = 0


class Reply(NamedTuple):
    """What came back. `finish` is the server's reason to stop, or the name of an answer that it declined."""

    text: str
    thought: str
    finish: str
    confidence: float | None


class TextTokenizer:
    """Text as ids of its own: a tag is one, and else every four characters are. Id 0 says that a turn is over."""

    def __init__(self) -> None:
        self._texts, self._ids = [""], {"": EOS}

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self._texts[number] for number in ids)

    def encode_trusted(self, text: str) -> list[int]:
        ids = []
        for part in TAG.split(text):
            pieces = [part] if TAG.fullmatch(part) else [part[n : n + _PIECE] for n in range(0, len(part), _PIECE)]
            for piece in pieces:
                if piece not in self._ids:
                    self._ids[piece] = len(self._texts)
                    self._texts.append(piece)
                ids.append(self._ids[piece])
        return ids

    encode_untrusted = encode_trusted


def chat_budget(budget: Budget) -> Budget:
    """The server counts the tokens of a turn; the machine must not count its own pieces beside it."""
    return budget.model_copy(update={"response_tokens": budget.response_tokens * _ROOM})


class ChatBackend:
    """One endpoint under one temperature; `logprobs` asks for those too, which not every server gives."""

    def __init__(
        self,
        endpoint: OpenAIEndpoint,
        key: SecretStr | None,
        limits: RetryPolicy = DEFAULT_POLICY,
        *,
        temperature: float = 0.0,
        logprobs: bool = False,
    ) -> None:
        self._endpoint, self._temperature, self._logprobs = endpoint, temperature, logprobs
        self._client = Client(endpoint, key, limits)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def ask(
        self, messages: Messages, *, max_tokens: int, seed: int, usage: Usage, stop: Sequence[str] = ()
    ) -> Reply:
        """One answer. Errors: EndpointError."""
        more: dict[str, Any] = {"stop": list(stop)} if stop else {}
        if self._temperature:
            more["seed"] = seed % 2**31
        if self._logprobs:
            more |= {"logprobs": True, "top_logprobs": _LIKELIEST}
        body = self._endpoint.chat(messages, max_tokens=max_tokens, temperature=self._temperature, **more)
        started = time.monotonic()
        reply, spent = await self._client.post(body, _read)
        usage.seconds += time.monotonic() - started
        usage.calls += 1
        usage.input_tokens += spent.get("prompt_tokens") or 0
        usage.output_tokens += spent.get("completion_tokens") or 0
        return reply

    async def run_episode(
        self, messages: Messages, episode: Episode, search: CaseSearch, *, max_tokens: int, usage: Usage
    ) -> tuple[Trajectory, float | None]:
        """The episode to its end, and how sure its last turn was of the comparison. Its codec is a `TextCodec` whose
        `EOS` ends a turn, its budget a `chat_budget`. Errors: EndpointError for what would befall any other, too."""
        history, confidence = [dict(message) for message in messages], None
        stop = STOP_STRINGS if episode.answer_in_tags else ()

        async def turn() -> None:
            nonlocal confidence
            reply = await self.ask(history, max_tokens=max_tokens, seed=episode.seed, usage=usage, stop=stop)
            confidence = reply.confidence
            _take(episode, reply)

        while not isinstance(episode.state, Finished):
            turns = len(episode.turns)
            if isinstance(episode.state, Sample):
                await answered(episode, turn())
            else:
                await search_into(episode, search)
            if len(episode.turns) > turns and (observed := episode.turns[-1].observation) is not None:
                said = episode.turns[-1].text.rpartition("</think>")[2] or episode.turns[-1].text
                history += [{"role": "assistant", "content": said}, {"role": "user", "content": observed}]
        whole = episode.trajectory()
        told = Trajectory.without_ids(whole.ended, whole.turns, whole.judgment)
        return told, confidence if whole.judgment else None

    async def answer(self, messages: Messages, *, max_tokens: int, seed: int, usage: Usage) -> Trajectory:
        """One answer as it is, for prompts that a benchmark words itself. Errors: EndpointError."""
        reply = await self.ask(messages, max_tokens=max_tokens, seed=seed, usage=usage)
        turns = [Turn(text=f"<think>{escape_tags(reply.thought)}</think>")] if reply.thought else []
        ended = {"stop": "answer", "length": "turn_budget"}.get(reply.finish, reply.finish)
        return Trajectory.without_ids(ended, (*turns, Turn(text=reply.text)))


def _read(data: Any) -> tuple[Reply, dict[str, Any]]:
    choice = data["choices"][0]
    message, finish = choice["message"], choice["finish_reason"]
    text, thought = message["content"] or "", message.get("reasoning_content") or message.get("reasoning") or ""
    if finish == "content_filter":
        pass
    elif not text and (refusal := message.get("refusal")):
        text, finish = refusal, "refusal"
    elif finish != "length":
        finish = "stop"
    logprobs = (choice.get("logprobs") or {}).get("content")
    return Reply(_writable(text), _writable(thought), finish, chat_confidence(logprobs)), data.get("usage") or {}


def _writable(text: str) -> str:
    """JSON may escape half of a surrogate pair, UTF-8 has no bytes for it."""
    return text.encode("utf-8", "replace").decode()


def _take(episode: Episode, reply: Reply) -> None:
    """Put a reply into the episode, as one turn."""

    def feed(text: str, *end: int) -> None:
        ids = [*codec.encode_trusted(text), *end]
        episode.feed(ids, [0.0] * len(ids))

    codec, turns = episode.codec, len(episode.turns)
    if reply.finish not in ("stop", "length"):
        if reply.text:
            feed(escape_tags(reply.text))
        episode.end(reply.finish)
        return
    thought = f"<think>{escape_tags(reply.thought)}" if reply.thought else ""
    if thought and (reply.text or reply.finish == "stop"):
        thought += "</think>"
    feed(thought + reply.text)
    if not isinstance(episode.state, Sample) or len(episode.turns) > turns:
        return
    if reply.finish == "length":
        episode.truncate()
    elif closing := _CLOSED.get(episode.open or ""):
        feed(closing)
    else:
        feed("", EOS)
