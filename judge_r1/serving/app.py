"""The API of a served judge: an ASGI app around one judge, its queue and its cases."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from judge_r1 import __version__
from judge_r1.asks import Ask
from judge_r1.backends.endpoints import EndpointError
from judge_r1.judges import Judge
from judge_r1.loaded import ask_of, judged
from judge_r1.serving.desk import Busy, Closing, Desk, Lost, TooLate
from judge_r1.serving.schemas import (
    BatchRequest,
    BatchResponse,
    CaseRequest,
    CaseResponse,
    JudgeRequest,
    JudgeResponse,
    Problem,
    response,
)
from judge_r1.shelf import CaseShelf

PROBLEMS = {
    Busy: 429,
    Closing: 503,
    TooLate: 504,
    Lost: 502,
    EndpointError: 502,
}
"""The status of a game without a judgment."""


@dataclass
class Service:
    """What the routes share."""

    judge: Judge
    shelf: CaseShelf
    desk: Desk
    drain_seconds: float = 30.0
    ready: bool = field(default=False, init=False)

    async def judge_one(self, request: JudgeRequest, owner: str) -> JudgeResponse:
        started, trace_id = time.monotonic(), uuid.uuid4().hex
        played = await self.desk.play(self.ask(request, trace_id, owner), owner=owner)
        return response(trace_id, self.judge.name, judged(played), time.monotonic() - started, trace=request.trace)

    def ask(self, request: JudgeRequest, item_id: str, owner: str) -> Ask:
        """Errors: HTTPException 404 for a case that is not there."""
        context = request.context or ""
        if request.case_id is not None:
            try:
                context = self.shelf.owned(request.case_id, owner)
            except KeyError:
                raise HTTPException(404, f"there is no case {request.case_id}: put it at /v1/cases first") from None
        return ask_of(
            item_id,
            self.shelf,
            reasoning_a=request.reasoning_a,
            reasoning_b=request.reasoning_b,
            context=context,
            decision=request.decision,
            domain=request.domain,
            owner=owner,
        )


def create_app(service: Service) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.ready = True
        yield
        service.ready = False
        await service.desk.drain(service.drain_seconds)

    app = FastAPI(title="judge_r1", version=__version__, lifespan=lifespan)
    app.state.service = service
    _problems(app)

    @app.post("/v1/judge")
    async def judge(body: JudgeRequest, request: Request) -> JudgeResponse:
        """Compare two candidates."""
        return await service.judge_one(body, owner_of(request))

    @app.post("/v1/judge/batch")
    async def judge_batch(body: BatchRequest, request: Request) -> BatchResponse:
        """Compare many pairs; one that has no judgment says why in its place."""
        owner = owner_of(request)

        async def one(entry: JudgeRequest) -> JudgeResponse | Problem:
            try:
                return await service.judge_one(entry, owner)
            except HTTPException as error:
                return Problem(error=str(error.detail))
            except (Busy, Closing, TooLate, Lost, EndpointError) as error:
                return Problem(error=str(error))

        return BatchResponse(results=list(await asyncio.gather(*map(one, body.requests))))

    @app.put("/v1/cases")
    async def put_case(body: CaseRequest, request: Request) -> CaseResponse:
        """Keep a case to judge it many times; its index is kept, too. The least used give way."""
        return CaseResponse(case_id=service.shelf.put(body.context, owner_of(request)))

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Is the process alive?"""
        return {"status": "ok"}

    @app.get("/readyz")
    async def readyz() -> JSONResponse:
        """Does it take requests?"""
        ready = service.ready and not service.desk.closing
        return JSONResponse({"ready": ready, "judge": service.judge.name}, 200 if ready else 503)

    return app


def owner_of(request: Request) -> str:
    """Whose request it is: the name of its key, "" where no keys are asked for."""
    return str(getattr(request.state, "owner", ""))


def _problems(app: FastAPI) -> None:
    """Every problem is one JSON object with one sentence under `error`."""

    async def without_judgment(_: Request, error: Exception) -> JSONResponse:
        status = next(status for kind, status in PROBLEMS.items() if isinstance(error, kind))
        headers = {"Retry-After": str(error.seconds)} if isinstance(error, Busy) else {}
        return JSONResponse({"error": str(error)}, status, headers)

    for kind in PROBLEMS:
        app.add_exception_handler(kind, without_judgment)

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or "the body"
        return JSONResponse({"error": f"{where}: {first['msg']}"}, 422)
