"""Server-sent events. The work behind a stream is cancelled when the client disconnects."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from judge_r1.serving.cancellation import wait_for_disconnect

HEARTBEAT_S = 10.0
"""Seconds without an event before a comment is sent: it keeps proxies from closing the connection, and detects a
closed one."""
_HEARTBEAT = b": still running\n\n"
Emit = Callable[[bytes], None]


def event(name: str | None, data: Any) -> bytes:
    """One event; `data` is JSON on one line."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


class EventStream(Response):
    """Runs `produce` and sends what it emits.

    An error before the first event becomes an ordinary error response. After it, `failed` turns the error into an
    event.
    """

    def __init__(self, produce: Callable[[Emit], Awaitable[None]], failed: Callable[[Exception], bytes]) -> None:
        super().__init__(media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]  # set for the empty body that Response begins with
        self._produce, self._failed = produce, failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        events: asyncio.Queue[bytes] = asyncio.Queue()
        task = asyncio.ensure_future(self._produce(events.put_nowait))
        disconnect = asyncio.ensure_future(wait_for_disconnect(receive))
        started = False
        try:
            while not disconnect.done():
                sent = await self._next(events, task, disconnect)
                # Raised here, an error keeps its status: once the head is sent, the status is 200.
                if not started and sent is None and task.done() and (error := task.exception()):
                    raise error
                if not started:
                    await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                    started = True
                last = sent is None
                if last and (error := task.exception()) is not None:
                    if not isinstance(error, Exception):
                        raise error
                    sent = self._failed(error)
                await send({"type": "http.response.body", "body": sent or b"", "more_body": not last})
                if last:
                    return
        except ConnectionError:
            if not started:
                raise
        finally:
            task.cancel()
            disconnect.cancel()
            await asyncio.gather(task, disconnect, return_exceptions=True)

    async def _next(
        self, events: "asyncio.Queue[bytes]", task: "asyncio.Future[None]", disconnect: "asyncio.Future[None]"
    ) -> bytes | None:
        """The next event; a heartbeat if none arrives in time; None after the last one."""
        next_event = asyncio.ensure_future(events.get())
        waiting: set[asyncio.Future[Any]] = {next_event, task, disconnect}
        await asyncio.wait(waiting, timeout=HEARTBEAT_S, return_when=asyncio.FIRST_COMPLETED)
        if next_event.done():
            return next_event.result()
        next_event.cancel()
        if task.done():
            return events.get_nowait() if not events.empty() else None
        return _HEARTBEAT
