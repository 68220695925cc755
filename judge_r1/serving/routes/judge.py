"""Pairs: one, many, or one that is watched turn by turn."""

from fastapi import APIRouter, HTTPException, Request, Response

from judge_r1.core.wire import JudgeRequestBody, JudgeResponse
from judge_r1.episode.machine import Episode, Search
from judge_r1.serving.cancellation import some_at_a_time, while_there
from judge_r1.serving.errors import PROBLEMS, client_message, unjudged
from judge_r1.serving.middleware.auth import consume_quota, tenant_of
from judge_r1.serving.schemas import BatchRequest, BatchResponse, Unjudged, turn_seen
from judge_r1.serving.service import Service
from judge_r1.serving.sse import Emit, EventStream, event

STREAM = """`event: search` {query} and `event: turn` {text, query, passages, notice} as they happen, then
`event: verdict` (as from `/v1/judge`) or `event: error` {error}; a comment every ten seconds of silence. Leave, and
the game is given up."""
EVENT = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
"""One event, as OpenAPI has them."""


def router(service: Service) -> APIRouter:
    routes = APIRouter(tags=["judging"], responses=PROBLEMS)

    @routes.post("/v1/judge")
    async def judge(body: JudgeRequestBody, request: Request) -> JudgeResponse:
        """Compare two candidates."""
        consume_quota(request)
        answer, _ = await while_there(request, service.judge_one(body, tenant_of(request)))
        return answer

    @routes.post("/v1/judge/batch")
    async def judge_batch(body: BatchRequest, request: Request) -> BatchResponse:
        """Compare many pairs; one that has no judgment says why in its place."""
        if len(body.requests) > (most := service.limits.batch):
            raise HTTPException(413, f"{len(body.requests)} requests in a batch, over the {most} that it may have")
        consume_quota(request, len(body.requests))
        owner = tenant_of(request)

        async def one(entry: JudgeRequestBody) -> JudgeResponse | Unjudged:
            try:
                return (await service.judge_one(entry, owner, patient=True))[0]
            except Exception as error:  # the others are judged all the same
                return unjudged(error)

        works = [one(entry) for entry in body.requests]
        return BatchResponse(results=await while_there(request, some_at_a_time(works, service.desk.running)))

    @routes.post(
        "/v1/judge/stream",
        response_class=Response,
        responses={200: {"description": STREAM, "content": {"text/event-stream": {"schema": EVENT}}}},
    )
    async def judge_stream(body: JudgeRequestBody, request: Request) -> EventStream:
        """Compare two candidates and see the episode turn by turn."""
        consume_quota(request)
        owner = tenant_of(request)

        async def produce(emit: Emit) -> None:
            answer, _ = await service.judge_one(body, owner, _Watch(emit))
            emit(event("verdict", answer.model_dump(mode="json")))

        return EventStream(produce, lambda error: event("error", {"error": client_message(error)}))

    return routes


class _Watch:
    """Sees an episode after each step and tells what is new: a search that begins, a turn with what it was shown."""

    def __init__(self, emit: Emit) -> None:
        self._emit, self._turns = emit, 0

    def __call__(self, episode: Episode) -> None:
        for turn in episode.turns[self._turns :]:
            self._emit(event("turn", turn_seen(turn).model_dump(mode="json")))
        self._turns = len(episode.turns)
        if isinstance(episode.state, Search):
            self._emit(event("search", {"query": episode.state.query}))
