"""Runs episodes over chat turns: observations are user messages, and the trajectory is text only.

Chat models use the same state machine as token models, with the ids of `TextTokenizer`. The trajectory does not keep
these ids and is never used for training. Servers omit the stop string, so the driver closes a search or an answer that
is open at the end of a turn. The reasoning that a server returns beside the text becomes the turn's thought.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from judge_r1.core.records import INFRASTRUCTURE, Trajectory, Turn
from judge_r1.episode.answer_text import answer_span, answer_text, first_turn, split_hidden_thought, thought_is_open
from judge_r1.episode.confidence import chat_confidence
from judge_r1.episode.config import Budget
from judge_r1.episode.driver import CaseSearch, ended_by_model, run_to_end, search_into
from judge_r1.episode.machine import Episode, Sample
from judge_r1.episode.tags import GRAMMAR, Grammar, escape_tags
from judge_r1.models.base import GenerateRequest, Generation, LanguageModel, Messages, Usage

_PIECE = 4
"""Characters per token: the server's tokenizer is unknown."""
_REPLY_PIECE = 1024
"""Characters per id of a reply, which the server has counted. An id costs some microseconds."""
_PIECES_PER_TOKEN = 64
"""Factor of the turn's budget, so that the server's limit applies and not the count of pieces."""
_CLOSING_TAGS = {"search": "</search>", "tool": "</tool>", "answer": "</answer>"}
EOS = 0


class SingleTurnEpisode(Episode):
    """Generates text up to EOS. Tags are text; nothing is searched or parsed. Ends as `turn_budget` without an EOS, and
    as `unclosed_think` with an EOS inside a thought."""

    def feed(self, ids: Sequence[int], logprobs: Sequence[float]) -> int:
        if not isinstance(self.state, Sample):
            raise RuntimeError(f"feed() in state {self.state}: the episode does not wait for tokens")
        if len(ids) != len(logprobs):
            raise ValueError(f"{len(ids)} ids with {len(logprobs)} log-probabilities")
        for used, (token, logprob) in enumerate(zip(ids, logprobs, strict=True), 1):
            self._append([token], 1, [logprob])
            self._turn_tokens += 1
            if token in self.eos_ids:
                self._finish("unclosed_think" if thought_is_open(self._scanner.text) else "answer")
                return used
            self._scanner.append(self._stream.push(token))
            if self._left() <= 0:
                self._finish("turn_budget")
                return used
            self._state = Sample(self._left())
        return len(ids)

    def trajectory(self) -> Trajectory:
        """Thoughts are a separate turn; the last turn is the answer."""
        whole = super().trajectory()
        if len(whole.turns) != 1:
            return whole
        return whole.model_copy(update={"turns": thought_and_answer(whole.turns[0].text)})


def thought_and_answer(text: str) -> tuple[Turn, ...]:
    """The turns of a reply: its thoughts, if any, and its answer. Text behind the end of the turn is left out."""
    start, text = answer_span(text)[0], first_turn(text)
    thoughts = [Turn(text=text[:start])] if start else []
    return (*thoughts, Turn(text=text[start:].lstrip("\n") if start else text))


class TextTokenizer:
    """Encodes text without a vocabulary: a tag is one id, other text one id for four characters, in a reply for more.
    Id 0 ends a turn."""

    bytewise = True

    def __init__(self, grammar: Grammar = GRAMMAR) -> None:
        self._tag, self._texts, self._ids = grammar.tag, [""], {"": EOS}

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self._texts[number] for number in ids)

    def encode_trusted(self, text: str) -> list[int]:
        return self._encode(text, _PIECE)

    encode_untrusted = encode_trusted

    def encode_reply(self, text: str) -> list[int]:
        return self._encode(text, _REPLY_PIECE)

    def _encode(self, text: str, size: int) -> list[int]:
        ids = []
        for part in self._tag.split(text):
            pieces = [part] if self._tag.fullmatch(part) else [part[n : n + size] for n in range(0, len(part), size)]
            for piece in pieces:
                if piece not in self._ids:
                    self._ids[piece] = len(self._texts)
                    self._texts.append(piece)
                ids.append(self._ids[piece])
        return ids


def chat_budget(budget: Budget) -> Budget:
    """The budget for an episode over chat, in which the server counts the tokens of a turn."""
    return budget.model_copy(update={"response_tokens": budget.response_tokens * _PIECES_PER_TOKEN})


class ChatDriver:
    """Runs episodes and single answers on `model`. `top_logprobs` is the number of most likely tokens to request per
    position, for the confidence; some servers do not return them."""

    def __init__(self, model: LanguageModel, *, temperature: float = 0.0, top_logprobs: int = 0) -> None:
        self.model, self._temperature, self._top_logprobs = model, temperature, top_logprobs

    async def run_episode(
        self, messages: Messages, episode: Episode, search: CaseSearch, *, max_tokens: int, usage: Usage
    ) -> tuple[Trajectory, float | None]:
        """Run an episode to its end. It needs a `TextTokenizer`, `EOS` as its end id and a `chat_budget`.

        Returns:
            The trajectory, and the confidence of its comparison where log-probabilities were returned.

        Raises:
            EndpointError: every other episode would fail in the same way.
        """
        stop = episode.stop_strings
        confidence: float | None = None

        async def sample(_: int) -> None:
            nonlocal confidence
            reply = await self._generate([*messages, *_observed(episode)], max_tokens, episode.seed, usage, stop)
            confidence = chat_confidence(reply.top_logprobs)
            feed_reply(episode, reply)

        await run_to_end(episode, sample, partial(search_into, episode, search))
        whole = episode.trajectory()
        trajectory = Trajectory.without_ids(whole.ended, whole.turns, whole.judgment, whole.detail)
        return trajectory, confidence if whole.judgment else None

    async def answer(self, messages: Messages, *, max_tokens: int, seed: int, usage: Usage) -> Trajectory:
        """One unparsed answer, for prompts that a benchmark defines.

        Raises:
            EndpointError: every other request would fail in the same way.
        """
        reply = await self._generate(messages, max_tokens, seed, usage)
        if reply.failure is not None:
            return Trajectory.without_ids(f"{INFRASTRUCTURE}{reply.failure}", detail=reply.error or None)
        if reply.declined and not reply.usage.calls:
            return Trajectory.without_ids(reply.finish_reason, detail=reply.error or None)
        turns = [Turn(text=f"<think>{escape_tags(reply.reasoning)}</think>")] if reply.reasoning else []
        ended = {"stop": "answer", "length": "turn_budget"}.get(reply.finish_reason, reply.finish_reason)
        if ended == "answer" and thought_is_open(reply.text):
            ended = "unclosed_think"
        return Trajectory.without_ids(ended, (*turns, *thought_and_answer(reply.text)))

    async def _generate(
        self, messages: Messages, max_tokens: int, seed: int, usage: Usage, stop: Sequence[str] = ()
    ) -> Generation:
        request = GenerateRequest(
            messages=messages,
            max_tokens=max_tokens,
            temperature=self._temperature,
            seed=seed,
            stop=stop,
            top_logprobs=self._top_logprobs,
        )
        [generation] = await self.model.generate([request])
        usage.add(generation.usage)
        return generation


def _observed(episode: Episode) -> Iterator[dict[str, str]]:
    """The turns so far and their observations, as messages."""
    for turn in episode.turns:
        if turn.observation is not None:
            # Without its thoughts, which chat templates of reasoning models drop from earlier turns, too. A turn of
            # thoughts alone stays: a message must not be empty.
            yield {"role": "assistant", "content": answer_text(turn.text) or turn.text}
            yield {"role": "user", "content": turn.observation}


def feed_reply(episode: Episode, reply: Generation) -> None:
    """Put a reply into the episode, which has a `TextTokenizer`, as one turn."""
    assert isinstance(episode.tokenizer, TextTokenizer)
    encode, turns = episode.tokenizer.encode_reply, len(episode.turns)

    def feed(text: str, *end: int) -> None:
        ids = [*encode(text), *end]
        episode.feed(ids, [0.0] * len(ids))

    if ended_by_model(episode, reply):
        return
    if reply.declined:
        # Escaped: a text that was stopped by a filter may hold a whole answer, which must not count.
        feed(episode.grammar.escape(reply.text))
        episode.end(reply.finish_reason)
        return
    hidden, text = split_hidden_thought(reply.text)
    reasoning = escape_tags(reply.reasoning + hidden)
    thought = f"<think>{reasoning}" if reasoning else ""
    if thought and (reply.text or reply.finish_reason == "stop"):
        thought += "</think>"
    feed(thought + text)
    if not isinstance(episode.state, Sample) or len(episode.turns) > turns:
        return
    if reply.finish_reason == "length":
        episode.truncate()
    elif closing := _CLOSING_TAGS.get(episode.open or ""):
        feed(closing)  # the stop string, which servers leave out
    else:
        feed("", EOS)
