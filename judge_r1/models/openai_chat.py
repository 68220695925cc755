"""A `LanguageModel` for OpenAI-compatible chat endpoints: takes messages, returns text."""

from typing import Any, NamedTuple

from judge_r1.core.record_base import content_hash
from judge_r1.core.text_check import valid_utf8
from judge_r1.models.base import GenerateRequest, Generation, Messages
from judge_r1.models.endpoint_model import EndpointModel, logprob

_FILTERED = ("content_filter", "safety", "prohibited_content", "blocklist", "spii", "recitation")
"""Finish reasons of an answer that a filter withholds: OpenAI's, and those that Gemini passes on."""
_SHORT = 256
"""Tokens up to which a prompt is too short for an estimate. No server has so short a window."""
_PARTS = {
    "text": "text", "output_text": "text", "thinking": "thinking", "reasoning": "thinking", "refusal": "refusal",
}  # fmt: skip
"""Types of the parts of a message, and what they are."""


class ChatModel(EndpointModel):
    """A `LanguageModel` at one chat endpoint. Servers omit the stop string from the text they return."""

    whole_turns = True

    def body(self, request: GenerateRequest) -> dict[str, Any]:
        more: dict[str, Any] = {"stop": list(request.stop)} if request.stop else {}
        if seed := request.sample or (request.seed if request.temperature else 0):
            more["seed"] = seed % 2**31
        if request.thinking is not None:  # as vLLM and SGLang name it
            more["chat_template_kwargs"] = {"enable_thinking": request.thinking}
        if request.top_logprobs:
            more |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        if request.prefix and self.endpoint.is_openai:
            # A server that caches prompts finds their beginning itself; OpenAI's hosts send requests of one key to the
            # same machine.
            earlier = [message["content"] for message in self.messages(request)[:-1]]
            more["prompt_cache_key"] = content_hash(earlier, request.prefix)
        messages, limit, temperature = self.messages(request), request.max_tokens, request.temperature
        body: dict[str, Any] = self.endpoint.chat(messages, max_tokens=limit, temperature=temperature, **more)
        return body

    def messages(self, request: GenerateRequest) -> Messages:
        """The messages of a request."""
        if request.messages is None:
            raise ValueError("a chat endpoint needs messages, not prompt_ids")
        if request.allowed_ids is not None:
            raise ValueError("a chat endpoint takes no allowed_ids")
        return request.messages

    def least_tokens(self, request: GenerateRequest) -> int:
        return least_tokens("\n".join(message["content"] for message in request.messages or ()))

    def read(self, data: Any, request: GenerateRequest) -> Generation:
        choice = data["choices"][0]
        reply, finish = read_message(choice["message"]), (choice.get("finish_reason") or "stop").casefold()
        text = reply.text
        if finish.partition(":")[0] in _FILTERED:
            finish = "content_filter"
        elif not text and reply.refusal:
            text, finish = reply.refusal, "refusal"
        elif finish != "length":
            finish = "stop"
            # An empty answer is an answer. A message without the key is another form of reply.
            if not text and not reply.reasoning and "content" not in choice["message"]:
                raise KeyError("content")
        return Generation(
            text=valid_utf8(text),
            reasoning=valid_utf8(reply.reasoning),
            top_logprobs=[_entry(entry) for entry in (choice.get("logprobs") or {}).get("content") or ()],
            finish_reason=finish,
        )


def least_tokens(text: str) -> int:
    """Fewer tokens than any tokenizer makes of a text: three of four words, or one for 16 bytes. 0 for a short text.

    Seven tokenizers make at least 1.37 times as many of texts of 530 languages, of code and of this project's data.
    """
    # Without spaces and lines of one sign, of which a token may hold many.
    words = [word for word in text.split() if len(set(word)) > 1]
    least = max(3 * len(words) // 4, sum(len(word.encode("utf-8", "replace")) for word in words) // 16)
    return least if least >= _SHORT else 0


class ChatMessage(NamedTuple):
    """The texts of a message of a model."""

    text: str
    reasoning: str
    refusal: str


def read_message(message: Any) -> ChatMessage:
    """The texts of the `message` of a choice. Its content may be a list of parts: those of one kind are one text.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: The message has another form.
    """
    content = message.get("content")
    parts = [{"type": "text", "text": content or ""}] if content is None or isinstance(content, str) else content
    texts = {"text": "", "thinking": "", "refusal": ""}
    for part in parts:
        kind = _PARTS[part["type"]]
        value = part[part["type"]] if part["type"] in part else part["text"]
        texts[kind] += value if isinstance(value, str) else "".join([inner["text"] for inner in value])
    reasoning = message.get("reasoning_content") or message.get("reasoning") or texts["thinking"]
    return ChatMessage(texts["text"], reasoning, texts["refusal"] or message.get("refusal") or "")


def _entry(entry: Any) -> dict[str, Any]:
    """One position of `logprobs.content`: its token and the most likely ones."""

    def read(one: Any) -> dict[str, Any]:
        # The sum raises TypeError for a token that is no text, so that the reply counts as malformed.
        return {"token": "" + one["token"], "logprob": logprob(one["logprob"])}

    return read(entry) | {"top_logprobs": [read(top) for top in entry.get("top_logprobs") or ()]}
