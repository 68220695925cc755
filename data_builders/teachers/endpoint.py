"""A teacher behind an API, live and in batches: a chat endpoint, or Anthropic's."""

from typing import Any

from data_builders.teachers import TeacherError, TeacherRefused, TeacherReply, TeacherRequest
from judge_r1.core.endpoint import EndpointError
from judge_r1.core.errors import JudgeError
from judge_r1.models.anthropic import PREFIX as ANTHROPIC
from judge_r1.models.base import GenerateRequest, Generation
from judge_r1.models.endpoint_model import EndpointModel

BATCH_URL = "/v1/chat/completions"
_UNUSED = GenerateRequest(1, messages=())
_REFUSED = ("refused", "reply_too_large")


class FailedRow(JudgeError):
    """A line of a result file that holds no answer. The message is the vendor's reason."""


class EndpointTeacher:
    """The teacher of a `name` on the client of an endpoint, which needs the usage of each reply."""

    def __init__(self, name: str, model: EndpointModel) -> None:
        self.name, self.model = name, model

    async def aclose(self) -> None:
        await self.model.aclose()

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        """Raises: TeacherRefused if this request is rejected, TeacherError if it has no answer."""
        try:
            [found] = await self.model.generate([_as_generate(request)])
        except EndpointError as error:
            raise TeacherError(str(error)) from None
        if found.failure in _REFUSED or (found.declined and not found.usage.calls):
            raise TeacherRefused(found.error)
        if found.failure is not None:
            raise TeacherError(found.error)
        return self._reply(found)

    def batch_row(self, key: str, request: TeacherRequest) -> dict[str, Any]:
        """A line of the vendor's batch file. `key` is returned as the `custom_id` of the result."""
        body = self.model.body(_as_generate(request))
        if self.name.startswith(ANTHROPIC):
            return {"custom_id": key, "params": body}
        return {"custom_id": key, "method": "POST", "url": BATCH_URL, "body": body}

    def batch_result(self, row: Any) -> TeacherReply:
        """The reply in a line of the vendor's result file.

        Raises: FailedRow; LookupError, TypeError, ValueError or AttributeError for a line in another form.
        """
        if self.name.startswith(ANTHROPIC):
            result = row["result"]
            if result["type"] != "succeeded":
                error = result.get("error") or {}
                raise FailedRow((error.get("error") or error).get("message") or result["type"])
            return self._reply(self.model.received(result["message"], _UNUSED))
        response = row["response"]
        if response is None:
            raise FailedRow((row["error"] or {}).get("message") or "no response")
        if response["status_code"] != 200:
            error = response["body"].get("error") or {}
            raise FailedRow(f"status {response['status_code']}: {error.get('message', 'no reason given')}")
        return self._reply(self.model.received(response["body"], _UNUSED))

    def _reply(self, found: Generation) -> TeacherReply:
        names = [said.partition("=")[2] for said in found.usage.replies if said.startswith("model=")]
        return TeacherReply(
            text=found.text,
            input_tokens=found.usage.input_tokens,
            output_tokens=found.usage.output_tokens,
            cached_tokens=found.usage.cached_tokens,
            stored_tokens=found.usage.stored_tokens,
            finished=found.finish_reason in ("stop", "refusal"),
            model=names[0] if names else self.model.endpoint.model,
        )


def _as_generate(request: TeacherRequest) -> GenerateRequest:
    texts = [("system", request.system)] if request.system else []
    messages = [{"role": role, "content": text} for role, text in (*texts, ("user", request.user))]
    return GenerateRequest(
        request.max_tokens,
        messages=messages,
        temperature=request.temperature,
        sample=request.sample,
        prefix=request.prefix,
    )
