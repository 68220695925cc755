"""Routes that judge: one pair, a batch, or one pair as a stream of turns."""

from fastapi import APIRouter, HTTPException, Request, Response

from judge_r1.core.text_check import counted
from judge_r1.core.wire import JudgeRequestBody, JudgeResponse
from judge_r1.episode.machine import Call, Episode, Search
from judge_r1.serving.cancellation import cancel_on_disconnect, gather_limited
from judge_r1.serving.errors import JUDGE_ERRORS, batch_error, client_message
from judge_r1.serving.json_body import json_router
from judge_r1.serving.middleware.auth import consume_quota, tenant_of
from judge_r1.serving.schemas import BatchError, BatchRequest, BatchResponse, QueueResponse, turn_response
from judge_r1.serving.service import Service
from judge_r1.serving.sse import Emit, EventStream, event

STREAM = """`event: search` {query}, `event: call` {name, input} and
`event: turn` {text, query, passages, notice, call} as they happen, then `event: verdict` (as from `/v1/judge`) or
`event: error` {error}; a comment after every ten seconds without an event.
The judge stops when the client disconnects."""
EVENT = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
"""The OpenAPI schema of one event."""


def router(service: Service) -> APIRouter:
    routes = json_router(tags=["judging"], responses=JUDGE_ERRORS)

    @routes.post("/v1/judge")
    async def judge(body: JudgeRequestBody, request: Request) -> JudgeResponse:
        """Compare two candidates."""
        consume_quota(request)
        answer, _ = await cancel_on_disconnect(request, service.judge_one(body, tenant_of(request)))
        return answer

    @routes.post("/v1/judge/batch")
    async def judge_batch(body: BatchRequest, request: Request) -> BatchResponse:
        """Compare many pairs. The entry of a pair that is not valid, or fails, is its error."""
        if len(body.requests) > (limit := service.limits.batch):
            raise HTTPException(413, f"{counted(len(body.requests), 'request')} in a batch: the limit is {limit}")
        consume_quota(request, len(body.requests))
        tenant = tenant_of(request)

        async def one(entry: JudgeRequestBody | BatchError) -> JudgeResponse | BatchError:
            if isinstance(entry, BatchError):
                return entry
            try:
                return (await service.judge_one(entry, tenant, wait_when_full=True))[0]
            except Exception as error:  # the other entries are judged
                return batch_error(error)

        works = [one(entry) for entry in body.entries]
        return BatchResponse(
            results=await cancel_on_disconnect(request, gather_limited(works, service.queue.max_concurrency))
        )

    @routes.post(
        "/v1/judge/stream",
        response_class=Response,
        responses={200: {"description": STREAM, "content": {"text/event-stream": {"schema": EVENT}}}},
    )
    async def judge_stream(body: JudgeRequestBody, request: Request) -> EventStream:
        """Compare two candidates and stream the episode turn by turn."""
        consume_quota(request)
        tenant = tenant_of(request)

        async def produce(emit: Emit) -> None:
            answer, _ = await service.judge_one(body, tenant, _TurnEvents(emit))
            emit(event("verdict", answer.model_dump(mode="json")))

        return EventStream(produce, lambda error: event("error", {"error": client_message(error)}))

    @routes.get("/v1/queue")
    async def queue() -> QueueResponse:
        """How long does a judgment take now?"""
        now = service.queue
        return QueueResponse(
            running=now.running, waiting=now.waiting, seconds=now.expected_seconds, timeout=now.timeout
        )

    return routes


class _TurnEvents:
    """Emits the new searches, calls and turns after each step of an episode."""

    def __init__(self, emit: Emit) -> None:
        self._emit, self._turns = emit, 0

    def __call__(self, episode: Episode) -> None:
        for turn in episode.turns[self._turns :]:
            self._emit(event("turn", turn_response(turn).model_dump(mode="json")))
        self._turns = len(episode.turns)
        if isinstance(episode.state, Search):
            self._emit(event("search", {"query": episode.state.query}))
        elif isinstance(episode.state, Call):
            self._emit(event("call", {"name": episode.state.tool, "input": episode.state.text}))
