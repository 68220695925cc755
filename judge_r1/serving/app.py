"""The ASGI app of a served judge: routes, middleware and error handlers around one `Service`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from fastapi_offline import FastAPIOffline

from judge_r1.core.version import __version__
from judge_r1.serving.errors import add_error_handlers, error_response
from judge_r1.serving.middleware.auth import DOCS, AuthMiddleware, RateLimited
from judge_r1.serving.middleware.body_limit import BodyLimitMiddleware
from judge_r1.serving.middleware.metrics import MetricsMiddleware
from judge_r1.serving.middleware.shutdown import ShutdownMiddleware
from judge_r1.serving.routes import cases, health, judge, openai_chat, score, trace_file, trainers
from judge_r1.serving.service import Service
from judge_r1.serving.ui import routes as ui

ABOUT = """A judge of long-context reasoning. Upload a case once or send it with the request, ask which of two
candidates is better, and get the verdict with the evidence that the judge read. Every error is
`{"error": "one sentence"}`."""


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
    for module in (health, ui):
        app.include_router(module.router(service))
    # The last one added is the outermost: metrics count what the others refuse, and no body is read without a key.
    app.add_middleware(BodyLimitMiddleware, limits=service.limits, shutdown=service.shutdown)
    app.add_middleware(AuthMiddleware, keys=service.keys)
    app.add_middleware(ShutdownMiddleware, shutdown=service.shutdown)
    app.add_middleware(MetricsMiddleware, metrics=service.metrics)
    return app


async def _rate_limited(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RateLimited)
    return error_response(request.url.path, 429, str(error), {"Retry-After": str(error.seconds)})
