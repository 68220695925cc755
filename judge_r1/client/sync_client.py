"""The synchronous client: runs `AsyncClient` in a background thread, so its deadlines apply."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from types import TracebackType
from typing import Any, TypeVar, cast

from judge_r1.client.async_client import AsyncClient
from judge_r1.client.responses import Event
from judge_r1.core.event_loop import BackgroundLoop
from judge_r1.core.wire import CaseResponse, ErrorMessage, JudgeResponse, ScoreResponse

T = TypeVar("T")


class Client:
    """The synchronous version of `AsyncClient`, with the same options, methods and errors.

    It is thread-safe and works in notebooks. Use it as a context manager, or call `close`. One that stays open does not
    keep the process alive.
    """

    def __init__(self, url: str = "http://127.0.0.1:8000", **options: Any) -> None:
        self._client = AsyncClient(url, **options)
        self._loop, self._closed = BackgroundLoop("judge-client"), False

    def judge(self, **pair: Any) -> JudgeResponse:
        return self._call(partial(self._client.judge, **pair))

    def many(self, pairs: Iterable[Mapping[str, Any]], *, progress: bool = True) -> list[JudgeResponse | ErrorMessage]:
        return self._call(partial(self._client.many, pairs, progress=progress))

    def score(self, prompt: str, candidates: Iterable[str], **more: Any) -> ScoreResponse:
        return self._call(partial(self._client.score, prompt, candidates, **more))

    def put_case(self, context: str) -> CaseResponse:
        return self._call(partial(self._client.put_case, context))

    def stream(self, **pair: Any) -> Iterator[Event]:
        events = cast("AsyncGenerator[Event, None]", self._client.stream(**pair))
        try:
            while (event := self._call(partial(_next, events))) is not None:
                yield event
        finally:
            # Closed in the loop that runs it, so that the server learns that nobody reads on.
            self._call(events.aclose)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._call(self._client.aclose)
            self._loop.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _call(self, request: Callable[[], Awaitable[T]]) -> T:
        return self._loop.run_sync(_await(request))


async def _await(request: Callable[[], Awaitable[T]]) -> T:
    return await request()


async def _next(events: AsyncGenerator[Event, None]) -> Event | None:
    return await anext(events, None)
