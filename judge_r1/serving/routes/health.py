"""Health, readiness and metrics routes."""

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

    @routes.get("/readyz", responses={503: {"description": "the server is starting or shutting down"}})
    async def readyz() -> JSONResponse:
        """Does the server accept requests?"""
        ready = service.ready and not service.shutdown.started and not service.queue.closing
        return JSONResponse({"ready": ready}, 200 if ready else 503)

    @routes.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """Prometheus metrics of the queue, requests, waits, tokens and cases."""
        return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return routes
