"""Routes that read JSON bodies strictly: repeated keys, deep nesting, huge numbers and lone surrogates are errors.

The number of values is limited, too: the checks of a body of a million wrong entries would take seconds and gigabytes.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from judge_r1.files.strict_json import BadJson, parse_json
from judge_r1.serving.errors import invalid_body_status

WHERE = "the body"
LARGE = 64 * 1024
"""Bytes of a body that is parsed in a thread, so that the server answers other requests meanwhile."""


def max_values(batch: int) -> int:
    """The number of JSON values that a body may hold: enough for a batch of `batch` requests."""
    return 16 * batch + 1000


class JsonRequest(Request):
    async def json(self) -> Any:
        """Raises HTTPException for a body that is not valid."""
        body, limit = await self.body(), max_values(self.app.state.service.limits.batch)
        status = invalid_body_status(self.url.path)
        try:
            large = len(body) > LARGE
            value = await run_in_threadpool(parse_json, body, WHERE) if large else parse_json(body, WHERE)
        except BadJson as error:
            raise HTTPException(status, str(error)) from None
        # Before the checks of pydantic, whose list of errors may be far larger than the body.
        if _more_values(value, limit):
            raise HTTPException(status, f"{WHERE} holds more than {limit} values: send fewer in one request")
        return value


def _more_values(value: Any, limit: int) -> bool:
    """Whether a JSON value holds more than `limit` values."""
    count, nested = 0, [value]
    while nested:
        item = nested.pop()
        if isinstance(item, dict | list):
            count += len(item)
            if count > limit:
                return True
            nested.extend(item.values() if isinstance(item, dict) else item)
    return False


class JsonRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(JsonRequest(request.scope, request.receive))

        return handle


def json_router(**options: Any) -> APIRouter:
    """A router whose routes read their bodies strictly."""
    return APIRouter(route_class=JsonRoute, **options)
