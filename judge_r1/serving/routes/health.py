"""How the server is: for those who watch it."""

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from judge_r1.serving.service import Service


def router(service: Service) -> APIRouter:
    routes = APIRouter(tags=["health"])

    @routes.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Is the process alive?"""
        return {"status": "ok"}

    @routes.get("/readyz", responses={503: {"description": "it starts, or it is going away"}})
    async def readyz() -> JSONResponse:
        """Does it take requests?"""
        ready = service.ready and not service.desk.closing
        return JSONResponse({"ready": ready}, 200 if ready else 503)

    @routes.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """Queue, games, waits, tokens and cases, in Prometheus' form."""
        return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return routes
