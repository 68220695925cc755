"""The OpenAI-compatible wire: POST URL/chat/completions, as OpenAI, vLLM, SGLang and most gateways speak it."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from data_builders.teachers import Answer, Ask
from data_builders.teachers.wire import FailedRow

BATCH_URL = "/v1/chat/completions"
_CUT = ("length", "content_filter")


@dataclass(frozen=True)
class Chat:
    """`base` is the address up to and with `/v1`."""

    base: str
    model: str

    @property
    def name(self) -> str:
        return f"chat:{self.model}"

    @property
    def url(self) -> str:
        return f"{self.base}/chat/completions"

    @property
    def key_variables(self) -> tuple[str, ...]:
        """OpenAI's own variable holds OpenAI's key: no other host is shown it."""
        return ("JUDGE_R1_TEACHER_KEY", "OPENAI_API_KEY") if self._openai else ("JUDGE_R1_TEACHER_KEY",)

    @property
    def needs_key(self) -> bool:
        return self._openai

    @property
    def _openai(self) -> bool:
        host = urlsplit(self.base).hostname or ""
        return host == "openai.com" or host.endswith(".openai.com")

    def headers(self, key: str | None) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, ask: Ask) -> dict[str, Any]:
        """OpenAI's reasoning models know `max_tokens` by another name and take no temperature but their own, which is
        1; other servers know the old name only, and have temperatures of their own."""
        messages = [{"role": "system", "content": ask.system}] if ask.system else []
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [*messages, {"role": "user", "content": ask.user}],
            "max_completion_tokens" if self._openai else "max_tokens": ask.max_tokens,
        }
        if not (self._openai and ask.temperature == 1):
            body["temperature"] = ask.temperature
        if ask.sample:
            body["seed"] = ask.sample
        return body

    def read(self, data: Any) -> Answer:
        choice, usage = data["choices"][0], data["usage"]
        finished = choice["finish_reason"] not in _CUT
        text = choice["message"]["content"]
        if text is None:  # all tokens went into hidden thought, or the model declined
            text = choice["message"].get("refusal") or ""
            finished = finished and bool(text)
        return Answer(
            text=text,
            input_tokens=usage["prompt_tokens"],
            output_tokens=usage["completion_tokens"],
            finished=finished,
            model=data.get("model") or self.model,
        )

    def batch_row(self, key: str, ask: Ask) -> dict[str, Any]:
        return {"custom_id": key, "method": "POST", "url": BATCH_URL, "body": self.body(ask)}

    def batch_result(self, row: Any) -> Answer:
        response = row["response"]
        if response is None:
            raise FailedRow((row["error"] or {}).get("message") or "no response")
        if response["status_code"] != 200:
            error = response["body"].get("error") or {}
            raise FailedRow(f"status {response['status_code']}: {error.get('message', 'no reason given')}")
        return self.read(response["body"])
