"""The connections to one address, kept open between calls: a pool for each event loop, and one TLS context for all.

aiohttp holds them: its calls cost a quarter of the processor time of httpx, whatever the number of connections.
"""

import asyncio
import ssl
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from judge_r1.core.endpoint import LOOPBACK, EndpointError

if sys.version_info >= (3, 11):
    deadline = asyncio.timeout
else:

    @asynccontextmanager
    async def deadline(seconds: float) -> AsyncIterator[None]:
        import anyio  # takes a thirtieth of the start of a short command

        with anyio.fail_after(seconds):
            yield


_CONNECT_S = 10.0
_CLOSE_S = 5.0
"""How long open connections may take to close."""


class CallError(Exception):
    """A call without a whole reply."""


class ConnectError(CallError):
    """No connection."""


class ConnectTimeout(ConnectError):
    """No connection in time."""


class ProxyError(CallError):
    """A proxy that makes no connection."""


class NetworkError(CallError):
    """A connection that broke."""


class ReadError(CallError):
    """A reply that ends too early."""


class RemoteProtocolError(CallError):
    """A reply that is no HTTP."""


_ERRORS: dict[type[Exception], type[CallError]] = {
    aiohttp.ConnectionTimeoutError: ConnectTimeout,
    aiohttp.ClientProxyConnectionError: ProxyError,
    aiohttp.ClientHttpProxyError: ProxyError,
    aiohttp.ClientConnectorError: ConnectError,
    aiohttp.ClientOSError: NetworkError,
    aiohttp.ClientPayloadError: ReadError,
    aiohttp.ClientError: RemoteProtocolError,
}
"""The first kind that an error is an instance of counts."""


class _Pool(NamedTuple):
    session: aiohttp.ClientSession
    slots: asyncio.Task[asyncio.Semaphore]


class Connections:
    """At most `size` connections to the host of `url` in each event loop that uses them, or as many as `limit` finds
    with the first one.

    The first call in a loop opens its pool. `aclose` closes it, or the end of the loop: a loop closes its async
    generators before it ends, and a generator owns the pool.
    """

    def __init__(self, url: str, size: int, limit: Callable[[aiohttp.ClientSession], Awaitable[int | None]]) -> None:
        self._url, self._size, self._limit = url, size, limit
        self._pools: dict[asyncio.AbstractEventLoop, tuple[_Pool, AsyncGenerator[_Pool, None]]] = {}

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[aiohttp.ClientSession]:
        """A session for one call at a time. Waits while as many calls run as may."""
        loop = asyncio.get_running_loop()
        if loop not in self._pools:
            owner = self._opened(loop)
            self._pools[loop] = await anext(owner), owner
        pool, _ = self._pools[loop]
        async with await asyncio.shield(pool.slots):  # a cancelled call leaves it to the others
            yield pool.session

    async def aclose(self) -> None:
        """Closes the connections of the running event loop. The next call opens others."""
        if found := self._pools.get(asyncio.get_running_loop()):
            await found[1].aclose()

    @cached_property
    def _tls(self) -> ssl.SSLContext | bool:
        if urlsplit(self._url).scheme == "http" and not _proxy_of(self._url):
            return True  # the certificates are not read
        import httpx  # its context takes SSL_CERT_FILE, or certifi's certificates

        return httpx.create_ssl_context()

    async def _opened(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[_Pool, None]:
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=self._tls),
            cookie_jar=aiohttp.DummyCookieJar(),  # calls for different tenants share the connections
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S),
            proxy=_proxy_of(self._url),
        )
        slots = asyncio.ensure_future(self._semaphore(session))
        try:
            yield _Pool(session, slots)
        finally:
            slots.cancel()
            del self._pools[loop]
            with suppress(TimeoutError):
                async with deadline(_CLOSE_S):
                    await session.close()

    async def _semaphore(self, session: aiohttp.ClientSession) -> asyncio.Semaphore:
        return asyncio.Semaphore(await self._limit(session) or self._size)


def clean_error(error: BaseException) -> BaseException:
    """The error of a call as a `CallError`, without the frames of aiohttp, whose variables hold the key."""
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    kind = next((other for own, other in _ERRORS.items() if isinstance(error, own)), None)
    return error if kind is None else kind(str(error))


def _proxy_of(url: str) -> str | None:
    """The proxy that the environment names for a URL (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`). Loopback needs none."""
    parts, proxies = urlsplit(url), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or parts.hostname in LOOPBACK or proxy_bypass(parts.netloc):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if (kind := urlsplit(proxy).scheme) not in ("http", "https"):
        raise EndpointError(f"{parts.hostname}: the environment names a proxy of type {kind}, only http is supported")
    return proxy
