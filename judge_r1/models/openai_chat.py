"""A `LanguageModel` for OpenAI-compatible chat endpoints: takes messages, returns text."""

from typing import Any

from judge_r1.core.text_check import valid_utf8
from judge_r1.models.base import GenerateRequest, Generation
from judge_r1.models.endpoint_model import EndpointModel, logprob


class ChatModel(EndpointModel):
    """A `LanguageModel` at one chat endpoint. Servers omit the stop string from the text they return."""

    def body(self, request: GenerateRequest) -> dict[str, Any]:
        if request.messages is None:
            raise ValueError("a chat endpoint needs messages, not prompt_ids")
        if request.allowed_ids is not None:
            raise ValueError("a chat endpoint takes no allowed_ids")
        more: dict[str, Any] = {"stop": list(request.stop)} if request.stop else {}
        if request.temperature:
            more["seed"] = request.seed % 2**31
        if request.thinking is not None:  # as vLLM and SGLang name it
            more["chat_template_kwargs"] = {"enable_thinking": request.thinking}
        if request.top_logprobs:
            more |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        return self.endpoint.chat(
            request.messages, max_tokens=request.max_tokens, temperature=request.temperature, **more
        )

    def read(self, data: Any, request: GenerateRequest) -> Generation:
        choice = data["choices"][0]
        message, finish = choice["message"], choice["finish_reason"]
        text, reasoning = message["content"] or "", message.get("reasoning_content") or message.get("reasoning") or ""
        if finish == "content_filter":
            pass
        elif not text and (refusal := message.get("refusal")):
            text, finish = refusal, "refusal"
        elif finish != "length":
            finish = "stop"
        return Generation(
            text=valid_utf8(text),
            reasoning=valid_utf8(reasoning),
            top_logprobs=[_entry(entry) for entry in (choice.get("logprobs") or {}).get("content") or ()],
            finish_reason=finish,
        )


def _entry(entry: Any) -> dict[str, Any]:
    """One position of `logprobs.content`: its token and the most likely ones."""

    def read(one: Any) -> dict[str, Any]:
        return {"token": "" + one["token"], "logprob": logprob(one["logprob"])}

    return read(entry) | {"top_logprobs": [read(top) for top in entry.get("top_logprobs") or ()]}
