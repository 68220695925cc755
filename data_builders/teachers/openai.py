"""The provider for OpenAI-compatible APIs (OpenAI, vLLM, SGLang, most gateways): POST URL/chat/completions."""

from dataclasses import dataclass
from typing import Any

from data_builders.teachers import TeacherReply, TeacherRequest
from data_builders.teachers.provider import FailedRow
from judge_r1.core.record_base import content_hash
from judge_r1.models.endpoint import OpenAIEndpoint
from judge_r1.models.openai_chat import read_message

BATCH_URL = "/v1/chat/completions"
_CUT = ("length", "content_filter")


@dataclass(frozen=True)
class Chat(OpenAIEndpoint):
    """A model behind an address. `base` includes `/v1`."""

    variable: str = "JUDGE_R1_TEACHER_KEY"

    @property
    def name(self) -> str:
        return f"chat:{self.model}"

    def body(self, request: TeacherRequest) -> dict[str, Any]:
        """The JSON body. A server that caches prompts finds their beginning itself; OpenAI's hosts send requests of one
        `prompt_cache_key` to the same machine."""
        messages = [{"role": "system", "content": request.system}] if request.system else []
        shared = {"prompt_cache_key": content_hash(request.system, request.prefix)} if request.prefix else {}
        return self.chat(
            [*messages, {"role": "user", "content": request.user}],
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            **({"seed": request.sample} if request.sample else {}),
            **(shared if self.is_openai else {}),
        )

    def read(self, data: Any) -> TeacherReply:
        choice, usage = data["choices"][0], data["usage"]
        finished, reply = choice["finish_reason"] not in _CUT, read_message(choice["message"])
        text = reply.text
        if choice["message"].get("content") is None:  # all tokens went into hidden thought, or the model declined
            text = reply.refusal
            finished = finished and bool(text)
        return TeacherReply(
            text=text,
            input_tokens=usage["prompt_tokens"],
            output_tokens=usage["completion_tokens"],
            cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
            finished=finished,
            model=data.get("model") or self.model,
        )

    def batch_row(self, key: str, request: TeacherRequest) -> dict[str, Any]:
        return {"custom_id": key, "method": "POST", "url": BATCH_URL, "body": self.body(request)}

    def batch_result(self, row: Any) -> TeacherReply:
        response = row["response"]
        if response is None:
            raise FailedRow((row["error"] or {}).get("message") or "no response")
        if response["status_code"] != 200:
            error = response["body"].get("error") or {}
            raise FailedRow(f"status {response['status_code']}: {error.get('message', 'no reason given')}")
        return self.read(response["body"])
