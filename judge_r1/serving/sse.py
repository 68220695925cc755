"""Server-sent events: what happens is sent as it happens, and what is done ends when the client leaves."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from judge_r1.serving.cancellation import left

HEARTBEAT_S = 10.0
"""A comment is sent after so long a silence: proxies close what is silent, and who has left is noticed."""
SEND_S = 60.0
"""A client that takes nothing for so long is gone."""
_BEAT = b": still playing\n\n"
Emit = Callable[[bytes], None]


def event(name: str | None, data: Any) -> bytes:
    """One event; `data` stands on one line as JSON."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


class EventStream(Response):
    """`produce` is played and what it emits is sent. What it raises before the first event has a status, as anywhere;
    after it `failed` makes an event of it."""

    def __init__(
        self,
        produce: Callable[[Emit], Awaitable[None]],
        failed: Callable[[Exception], bytes],
        *,
        heartbeat: float = HEARTBEAT_S,
    ) -> None:
        super().__init__(media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._produce, self._failed, self._heartbeat = produce, failed, heartbeat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        events: asyncio.Queue[bytes] = asyncio.Queue()
        task = asyncio.ensure_future(self._produce(events.put_nowait))
        gone = asyncio.ensure_future(left(receive))
        begun = False
        try:
            while not gone.done():
                sent = await self._next(events, task, gone)
                if not begun and sent is None and task.done() and (error := task.exception()):
                    raise error
                if not begun:
                    start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
                    await asyncio.wait_for(send(start), SEND_S)
                    begun = True
                last = sent is None
                if last and (error := task.exception()) is not None:
                    if not isinstance(error, Exception):
                        raise error
                    sent = self._failed(error)
                body = {"type": "http.response.body", "body": sent or b"", "more_body": not last}
                await asyncio.wait_for(send(body), SEND_S)
                if last:
                    return
        except (asyncio.TimeoutError, ConnectionError):
            if not begun:
                raise
        finally:
            task.cancel()
            gone.cancel()
            await asyncio.gather(task, gone, return_exceptions=True)

    async def _next(
        self, events: "asyncio.Queue[bytes]", task: "asyncio.Future[None]", gone: "asyncio.Future[None]"
    ) -> bytes | None:
        """The next event, a heartbeat where none comes; None where the last one was taken."""
        getting = asyncio.ensure_future(events.get())
        first: set[asyncio.Future[Any]] = {getting, task, gone}
        await asyncio.wait(first, timeout=self._heartbeat, return_when=asyncio.FIRST_COMPLETED)
        if getting.done():
            return getting.result()
        getting.cancel()
        if task.done():
            return events.get_nowait() if not events.empty() else None
        return _BEAT
