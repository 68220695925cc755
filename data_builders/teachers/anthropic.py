"""The provider for Anthropic's API: POST /v1/messages."""

from dataclasses import dataclass
from typing import Any

from data_builders.teachers import TeacherReply, TeacherRequest
from data_builders.teachers.provider import FailedRow

API = "https://api.anthropic.com"
VERSION = "2023-06-01"
_CUT = ("max_tokens", "model_context_window_exceeded", "refusal")


@dataclass(frozen=True)
class Anthropic:
    """A model of Anthropic's API. `base` is the address without `/v1`."""

    model: str
    base: str = API

    @property
    def name(self) -> str:
        return f"anthropic:{self.model}"

    @property
    def url(self) -> str:
        return f"{self.base}/v1/messages"

    @property
    def key_variables(self) -> tuple[str, ...]:
        return ("ANTHROPIC_API_KEY",)

    @property
    def needs_key(self) -> bool:
        return True

    def headers(self, key: str | None) -> dict[str, str]:
        return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})

    def body(self, request: TeacherRequest) -> dict[str, Any]:
        """The JSON body. The API has no seed: repeated requests differ in the user id, so that a caching gateway does
        not answer them alike. Temperature 1 is the default and is left out, because some models accept no value."""
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": request.max_tokens,
            "messages": [{"role": "user", "content": _content(request)}],
        }
        if request.system:
            body["system"] = request.system
        if request.temperature != 1:
            body["temperature"] = request.temperature
        if request.sample:
            body["metadata"] = {"user_id": f"sample-{request.sample}"}
        return body

    def read(self, data: Any) -> TeacherReply:
        usage = data["usage"]
        cached, stored = (usage.get(f"cache_{name}_input_tokens") or 0 for name in ("read", "creation"))
        return TeacherReply(
            text="".join(block["text"] for block in data["content"] if block["type"] == "text"),
            input_tokens=usage["input_tokens"] + cached + stored,
            output_tokens=usage["output_tokens"],
            cached_tokens=cached,
            stored_tokens=stored,
            finished=data["stop_reason"] not in _CUT,
            model=data.get("model") or self.model,
        )

    def batch_row(self, key: str, request: TeacherRequest) -> dict[str, Any]:
        return {"custom_id": key, "params": self.body(request)}

    def batch_result(self, row: Any) -> TeacherReply:
        result = row["result"]
        if result["type"] != "succeeded":
            error = result.get("error") or {}
            raise FailedRow((error.get("error") or error).get("message") or result["type"])
        return self.read(result["message"])


def _content(request: TeacherRequest) -> str | list[dict[str, Any]]:
    """The user's text, with a mark at the end of what other requests share. What precedes the mark, the system text
    too, is stored for five minutes and read by requests with the same beginning."""
    if not request.prefix:
        return request.user
    marked = {"type": "text", "text": request.prefix, "cache_control": {"type": "ephemeral"}}
    rest = request.user.removeprefix(request.prefix)
    return [marked, *([{"type": "text", "text": rest}] if rest else [])]
