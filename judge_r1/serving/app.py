"""The ASGI app of a served judge: routes, middleware and error handlers around one `Service`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from fastapi_offline import FastAPIOffline
from prometheus_client import CONTENT_TYPE_LATEST

from judge_r1.core.version import __version__
from judge_r1.serving import ui
from judge_r1.serving.errors import add_error_handlers, error_response
from judge_r1.serving.middleware.auth import DOCS, AuthMiddleware, RateLimited
from judge_r1.serving.middleware.body_limit import BodyLimitMiddleware
from judge_r1.serving.middleware.metrics import MetricsMiddleware
from judge_r1.serving.middleware.shutdown import ShutdownMiddleware
from judge_r1.serving.routes import cases, judge, openai_chat, score, trace_file, trainers
from judge_r1.serving.service import Service

ABOUT = """A judge of long-context reasoning. Upload a case once or send it with the request, ask which of two
candidates is better, and get the verdict with the evidence that the judge read. Every error is
`{"error": "one sentence"}`."""


def health_routes(service: Service) -> APIRouter:
    """Health, readiness and metrics."""
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


def create_app(service: Service) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.ready, service.queue.closing = True, False
        yield
        service.ready = False
        await service.queue.drain(service.drain_seconds)
        service.close()

    app = FastAPIOffline(
        title="judge_r1",
        version=__version__,
        description=ABOUT,
        lifespan=lifespan,
        redoc_url=None,
        static_url=DOCS,
        redirect_slashes=False,
    )
    app.state.service = service
    add_error_handlers(app)
    app.add_exception_handler(RateLimited, _rate_limited)
    key = [Depends(HTTPBearer(auto_error=False))] if service.keys else []  # for /docs; AuthMiddleware checks the key
    for module in (judge, trace_file, score, trainers, cases, openai_chat):
        app.include_router(module.router(service), dependencies=key)
    app.include_router(health_routes(service))
    app.include_router(ui.router(service))
    # The last one added is the outermost: metrics count what the others refuse, and no body is read without a key.
    app.add_middleware(BodyLimitMiddleware, limits=service.limits, shutdown=service.shutdown)
    app.add_middleware(AuthMiddleware, keys=service.keys)
    app.add_middleware(ShutdownMiddleware, shutdown=service.shutdown)
    app.add_middleware(MetricsMiddleware, metrics=service.metrics)
    return app


async def _rate_limited(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RateLimited)
    return error_response(request.url.path, 429, str(error), {"Retry-After": str(error.seconds)})
