"""Routes that read JSON bodies strictly: repeated keys, deep nesting, huge numbers and lone surrogates are errors."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.routing import APIRoute

from judge_r1.core.strict_json import BadJson, parse_json
from judge_r1.serving.errors import invalid_body_status


class JsonRequest(Request):
    async def json(self) -> Any:
        """Raises HTTPException for a body that is not valid."""
        try:
            return parse_json(await self.body(), "the body")
        except BadJson as error:
            raise HTTPException(invalid_body_status(self.url.path), str(error)) from None


class JsonRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(JsonRequest(request.scope, request.receive))

        return handle


def json_router(**options: Any) -> APIRouter:
    """A router whose routes read their bodies strictly."""
    return APIRouter(route_class=JsonRoute, **options)
