"""A served judge on a real socket of 127.0.0.1 in its own thread, and judges with controlled delays.

with LiveServer(service("longer")) as server:
    httpx.post(f"{server.url}/v1/judge", json=...)
"""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any

import httpx

from judge_r1.core.case_store import CaseStore
from judge_r1.core.records import Trajectory
from judge_r1.judges.base import Judge, JudgeBuild, JudgeOutput
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import JudgeRequest
from judge_r1.serving.app import create_app
from judge_r1.serving.middleware.api_keys import KeyFile
from judge_r1.serving.middleware.body_limit import Limits
from judge_r1.serving.protocol import ConnectionLimits
from judge_r1.serving.queue import RequestQueue
from judge_r1.serving.request_traces import TraceLog
from judge_r1.serving.server import make_server
from judge_r1.serving.service import Service

PAIR = {"reasoning_a": "1. Ana paid. 2. So Ben owes.", "reasoning_b": "1. Ben owes."}


def run(served: Service, talk: Callable[[httpx.AsyncClient], Awaitable[Any]]) -> Any:
    """What `talk` returns, with a client of the app in this process."""

    async def within() -> Any:
        app = create_app(served)
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://judge") as client:
                return await asyncio.wait_for(talk(client), 60)

    return asyncio.run(within())


class BlockedJudge:
    """Judges like `longer`, but no request ends before `release` is set. Counts requests by state."""

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}
        self._judge, self.name = make_judge("longer", JudgeBuild("")), "blocked-longer"
        self.release = threading.Event()
        self.started = self.cancelled = self.running = 0

    def check(self, requests: Sequence[JudgeRequest]) -> None: ...

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        self.started += 1
        self.running += 1
        try:
            while not self.release.is_set():
                await asyncio.sleep(0.005)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        async for output in self._judge.judge(requests):
            yield output


class InvalidJudge:
    """Gives no verdict: every episode ends by the reason `ended`."""

    name, settings = "invalid", {}

    def __init__(self, ended: str) -> None:
        self.ended = ended

    def check(self, requests: Sequence[JudgeRequest]) -> None: ...

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            trajectory = Trajectory.without_ids(self.ended)
            yield JudgeOutput(request, trajectory, request.read(trajectory))


def service(
    judge: Judge | str = "longer",
    *,
    limits: Limits | None = None,
    keys: KeyFile | None = None,
    trace_log: TraceLog | None = None,
    cases: CaseStore | None = None,
    note: str | None = None,
    **queue: Any,
) -> Service:
    judge = make_judge(judge, JudgeBuild("")) if isinstance(judge, str) else judge
    requests = RequestQueue(judge, **queue)
    return Service(judge, cases or CaseStore(), requests, limits or Limits(), keys, trace_log, note)


class LiveServer:
    def __init__(self, served: Service, limits: ConnectionLimits | None = None) -> None:
        self.service = served
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._server = make_server(served, limits=limits, log_level="warning")
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    def __enter__(self) -> "LiveServer":
        self._thread.start()
        wait_for(lambda: self._server.started)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        self._socket.close()


def wait_for(condition: Callable[[], Any], seconds: float = 120.0) -> None:
    """Waits until the condition holds.

    Raises:
        AssertionError: It does not hold in time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"the condition did not hold within {seconds} s"
        time.sleep(0.005)
