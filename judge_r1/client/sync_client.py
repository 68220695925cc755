"""The synchronous client: runs `AsyncClient` in a background thread, so its deadlines apply."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Any, TypeVar, cast

from anyio.from_thread import start_blocking_portal

from judge_r1.client.async_client import AsyncClient
from judge_r1.client.responses import Event
from judge_r1.core.wire import CaseResponse, ErrorMessage, JudgeResponse, ScoreResponse

T = TypeVar("T")


class Client:
    """The synchronous version of `AsyncClient`, with the same options, methods and errors.

    It is thread-safe and works in notebooks. Use it as a context manager, or call `close`.
    """

    def __init__(self, url: str = "http://127.0.0.1:8000", **options: Any) -> None:
        self._client = AsyncClient(url, **options)
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            stack.callback(self._portal.call, self._client.aclose)
            self._stack = stack.pop_all()

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
            self._call(events.aclose)

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _call(self, request: Callable[[], Awaitable[T]]) -> T:
        return self._portal.call(request)


async def _next(events: AsyncGenerator[Event, None]) -> Event | None:
    return await anext(events, None)
