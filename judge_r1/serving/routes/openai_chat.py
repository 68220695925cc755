"""The judge behind OpenAI's chat API: an episode runs behind a call."""

import time
import uuid
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError

from judge_r1.core.jsonl import explain
from judge_r1.core.wire import JudgeRequestBody
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.result import result_of
from judge_r1.serving.cancellation import while_there
from judge_r1.serving.errors import client_message, documented
from judge_r1.serving.middleware.auth import consume_quota, tenant_of
from judge_r1.serving.pairwise_prompt_formats import (
    EXAMPLES,
    Form,
    PlainPair,
    Unreadable,
    answer_in,
    read_plain,
    text_of,
)
from judge_r1.serving.schemas import ChatMessage, ChatRequest, OpenAIProblem
from judge_r1.serving.service import Service
from judge_r1.serving.sse import Emit, EventStream, event

ALIAS = "judge-r1"
"""What the judge is called beside its own name."""
PROBLEMS = documented(400, 404, 429, 502, 504, model=OpenAIProblem)
_PIECE = 40
"""Characters in a chunk of a streamed answer."""


def router(service: Service) -> APIRouter:
    routes = APIRouter(tags=["OpenAI"])
    created = int(time.time())

    @routes.get("/v1/models", responses=documented(model=OpenAIProblem))
    async def models() -> dict[str, Any]:
        """The judge, by its own name and as `judge-r1`."""
        entry = {"object": "model", "created": created, "owned_by": "judge_r1"}
        return {"object": "list", "data": [{"id": name, **entry} for name in (service.judge.name, ALIAS)]}

    @routes.get("/v1/models/{name:path}", responses=documented(404, model=OpenAIProblem))
    async def model(name: str) -> dict[str, Any]:
        """The judge, if it is called that."""
        if name not in (service.judge.name, ALIAS):
            raise _unknown(name)
        return {"id": name, "object": "model", "created": created, "owned_by": "judge_r1"}

    @routes.post("/v1/chat/completions", response_model=None, responses=PROBLEMS)
    async def chat(body: ChatRequest, request: Request) -> Response:
        """Judge a pair: the one of the `judge` object, or that of a plain pairwise prompt, without a case."""
        if body.model not in (service.judge.name, ALIAS):
            raise _unknown(body.model)
        asked, form = _asked(body)
        consume_quota(request)
        owner, head = tenant_of(request), _head(body.model)

        async def answer() -> tuple[str, dict[str, int]]:
            said, played = await service.judge_one(asked, owner)
            text = said.model_dump_json() if form is None else answer_in(form, result_of(played))
            return text, _usage(played)

        if not body.stream:
            text, usage = await while_there(request, answer())
            message = {"role": "assistant", "content": text, "refusal": None}
            choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
            return JSONResponse({**head, "object": "chat.completion", "choices": [choice], "usage": usage})

        async def produce(emit: Emit) -> None:
            text, usage = await answer()
            emit(_chunk(head, {"role": "assistant", "content": ""}))
            for at in range(0, len(text), _PIECE):
                emit(_chunk(head, {"content": text[at : at + _PIECE]}))
            emit(_chunk(head, {}, "stop"))
            if (body.stream_options or {}).get("include_usage"):
                emit(event(None, {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}))
            emit(b"data: [DONE]\n\n")

        return EventStream(produce, lambda error: event(None, {"error": {"message": client_message(error)}}))

    return routes


def _asked(body: ChatRequest) -> tuple[JudgeRequestBody, Form | None]:
    """What is to be judged, and the form of the answer; None: the whole judgment. Errors: HTTPException 400."""
    for name, most in {"n": 1, "tools": None, "functions": None}.items():
        if (body.model_extra or {}).get(name) not in (None, most, []):
            raise HTTPException(400, f"{name} is not supported: one judgment is what a call gives")
    asked = "the prompt" if body.judge is None else "the judge object"
    try:
        if body.judge is not None:
            return JudgeRequestBody.model_validate(body.judge), None
        pair = _plain(body.messages)
        request = JudgeRequestBody(
            context=pair.context or None, decision=pair.question, reasoning_a=pair.a, reasoning_b=pair.b
        )
        return request, pair.form
    except ValidationError as error:
        raise HTTPException(400, f"{asked}: {explain(error)}; {EXAMPLES}") from None
    except Unreadable as error:
        raise HTTPException(400, f"this is no prompt that compares two answers ({error}): {EXAMPLES}") from None


def _plain(messages: list[ChatMessage]) -> PlainPair:
    system = [text_of(message.content) for message in messages if message.role in ("system", "developer")]
    users = [text_of(message.content) for message in messages if message.role == "user"]
    if len(users) != 1 or len(system) + 1 != len(messages):
        raise Unreadable("it must be one user message, after system messages at most")
    return read_plain(users[0], "\n".join(system))


def _unknown(name: str) -> HTTPException:
    return HTTPException(404, f"there is no model {name!r}: GET /v1/models names those that are")


def _head(model: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}


def _chunk(head: Mapping[str, Any], delta: Mapping[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return event(None, {**head, "object": "chat.completion.chunk", "choices": [choice]})


def _usage(played: JudgeOutput) -> dict[str, int]:
    """Tokens of all turns of the episode; 0 for a judge that reads none."""
    spent = played.usage or {}
    read, written = int(spent.get("input_tokens", 0)), int(spent.get("output_tokens", 0))
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
