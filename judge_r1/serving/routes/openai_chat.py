"""The judge as a model of OpenAI's chat API. Each call runs an episode."""

import time
import uuid
from collections.abc import Mapping
from functools import partial
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError

from judge_r1.core.errors import explain
from judge_r1.core.wire import JudgeRequestBody
from judge_r1.judges.base import JudgeOutput
from judge_r1.serving.cancellation import cancel_on_disconnect
from judge_r1.serving.chat_questions import FORMS, ChatQuestion, answer_question, no_form, read_question
from judge_r1.serving.errors import client_message, documented_errors
from judge_r1.serving.json_body import json_router
from judge_r1.serving.middleware.auth import consume_quota, tenant_of
from judge_r1.serving.pairwise_prompt_formats import UnsupportedPrompt, message_text
from judge_r1.serving.reply_schema import requested_schema
from judge_r1.serving.schemas import ChatMessage, ChatRequest, OpenAIErrorResponse
from judge_r1.serving.service import Service
from judge_r1.serving.single_prompt_formats import SinglePrompt
from judge_r1.serving.sse import Emit, EventStream, event

ALIAS = "judge-r1"
"""A second model name, beside the judge's own."""
CHAT_ERRORS = documented_errors(400, 404, 429, 502, 504, model=OpenAIErrorResponse)
_PIECE = 40
"""Characters per chunk of a streamed answer."""


def router(service: Service) -> APIRouter:
    routes = json_router(tags=["OpenAI"])
    created = int(time.time())

    @routes.get("/v1/models", responses=documented_errors(model=OpenAIErrorResponse))
    async def models() -> dict[str, Any]:
        """The judge, by its own name and as `judge-r1`."""
        entry = {"object": "model", "created": created, "owned_by": "judge_r1"}
        return {"object": "list", "data": [{"id": name, **entry} for name in (service.judge.name, ALIAS)]}

    @routes.get("/v1/models/{name:path}", responses=documented_errors(404, model=OpenAIErrorResponse))
    async def model(name: str) -> dict[str, Any]:
        """The judge, if it has this name."""
        if name not in (service.judge.name, ALIAS):
            raise _unknown(name)
        return {"id": name, "object": "model", "created": created, "owned_by": "judge_r1"}

    @routes.post("/v1/chat/completions", response_model=None, responses=CHAT_ERRORS)
    async def chat(body: ChatRequest, request: Request) -> Response:
        """Judge a pair: that of the `judge` object, or that of a pairwise prompt without a case. Or judge one answer:
        a check against a reference, a rating, a rubric."""
        if body.model not in (service.judge.name, ALIAS):
            raise _unknown(body.model)
        (asked, function), head = _asked(body), _head(body.model)
        tenant, charge = tenant_of(request), partial(consume_quota, request)
        if not isinstance(asked.task, SinglePrompt):
            charge()

        async def answer() -> tuple[str, dict[str, int]]:
            text, outputs = await answer_question(service, asked, tenant, charge)
            return text, _usage(*outputs)

        if not body.stream:
            text, usage = await cancel_on_disconnect(request, answer())
            message = {"role": "assistant", "refusal": None, **_said(text, function)}
            choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
            return JSONResponse({**head, "object": "chat.completion", "choices": [choice], "usage": usage})

        async def produce(emit: Emit) -> None:
            text, usage = await answer()
            emit(_chunk(head, {"role": "assistant", "content": ""}))
            if function is not None:
                emit(_chunk(head, _said(text, function)))
            else:
                for at in range(0, len(text), _PIECE):
                    emit(_chunk(head, {"content": text[at : at + _PIECE]}))
            emit(_chunk(head, {}, "stop"))
            if (body.stream_options or {}).get("include_usage"):
                emit(event(None, {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}))
            emit(b"data: [DONE]\n\n")

        return EventStream(produce, lambda error: event(None, {"error": {"message": client_message(error)}}))

    return routes


def _asked(body: ChatRequest) -> tuple[ChatQuestion, str | None]:
    """The question, and the function that the answer is to call.

    Raises: HTTPException with status 400 if the request holds no question, or asks for tools or several answers.
    """
    more = body.model_extra or {}
    for name, allowed in {"n": 1, "functions": None}.items():
        if more.get(name) not in (None, allowed, []):
            raise HTTPException(400, f"{name} is not supported: a call returns one judgment")
    source = "the prompt" if body.judge is None else "the judge object"
    try:
        schema = requested_schema(*(more.get(name) for name in ("response_format", "tools", "tool_choice")))
    except UnsupportedPrompt as error:
        raise HTTPException(400, str(error)) from None
    try:
        if body.judge is None:
            return read_question(*_messages(body.messages), schema), schema.function if schema else None
        if schema is None or not schema.schema:
            return ChatQuestion(JudgeRequestBody.model_validate(body.judge)), None
        raise HTTPException(400, "the judge object has a reply of its own: leave out response_format and tools")
    except ValidationError as error:
        raise HTTPException(400, f"{source}: {explain(error)}; {FORMS}") from None
    except UnsupportedPrompt as error:
        raise HTTPException(400, no_form(error)) from None


def _said(text: str, function: str | None) -> dict[str, Any]:
    """The fields of a message: a text, or the call of a function with the text as its arguments."""
    if function is None:
        return {"content": text}
    call = {"index": 0, "id": f"call_{uuid.uuid4().hex}", "type": "function"}
    return {"content": None, "tool_calls": [{**call, "function": {"name": function, "arguments": text}}]}


def _messages(messages: list[ChatMessage]) -> tuple[str, str]:
    """The user message and the system messages."""
    system = [message_text(message.content) for message in messages if message.role in ("system", "developer")]
    users = [message_text(message.content) for message in messages if message.role == "user"]
    if len(users) != 1 or len(system) + 1 != len(messages):
        raise UnsupportedPrompt("send one user message, optionally after system messages")
    return users[0], "\n".join(system)


def _unknown(name: str) -> HTTPException:
    return HTTPException(404, f"there is no model {name!r}: GET /v1/models lists the names")


def _head(model: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}


def _chunk(head: Mapping[str, Any], delta: Mapping[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return event(None, {**head, "object": "chat.completion.chunk", "choices": [choice]})


def _usage(*outputs: JudgeOutput) -> dict[str, int]:
    """Tokens of all turns of the episodes; 0 for a judge without a model."""
    prompt, completion = (
        sum(int((output.usage or {}).get(f"{kind}_tokens", 0)) for output in outputs) for kind in ("input", "output")
    )
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
