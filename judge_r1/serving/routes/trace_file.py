"""The route that reads the file of a trace, for pages and programs that judge it as the context of a pair."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.concurrency import run_in_threadpool

from judge_r1.core.wire import TraceFile
from judge_r1.serving.errors import documented_errors
from judge_r1.serving.middleware.auth import consume_quota
from judge_r1.serving.request_traces import read_upload
from judge_r1.serving.service import Service

FILE = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}}


def router(service: Service) -> APIRouter:
    routes = APIRouter(tags=["judging"], responses=documented_errors(429))

    @routes.post("/v1/traces", openapi_extra=FILE)
    async def read_trace(
        request: Request,
        number: Annotated[
            int | None, Query(ge=1, le=1_000_000, description="which trace of a file with several")
        ] = None,
        mask: Annotated[bool, Query(description="mask secrets such as API keys")] = False,
        allow_unread: Annotated[bool, Query(description="leave out texts that no event has, and count them")] = False,
    ) -> TraceFile:
        """Read the trace of an agent: the body is a file of any format of docs/traces.md. The answer is its text, to
        send as the `context` of a pair."""
        consume_quota(request)
        data = await request.body()
        found = await run_in_threadpool(
            read_upload, data, service.limits, service.unpacking, number=number, mask=mask, allow_unread=allow_unread
        )
        if (size := len(found.context.encode())) > service.limits.case:
            raise HTTPException(413, f"the trace has {size} bytes as text: the limit is {service.limits.case}")
        return found

    return routes
