"""Who comes in: a key on every request but those that ask how the server is, and so many judgments a minute for it."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from judge_r1.serving.errors import problem
from judge_r1.serving.middleware.api_keys import BadKeys, Key, KeyFile

DOCS = "/docs-assets"
"""Where the files lie that the page of `/docs` loads."""
_OPEN = {"/", "/healthz", "/readyz", "/docs", "/openapi.json"}


def is_open(path: str) -> bool:
    """Whether an address asks for no key: it shows nothing of anybody's, and reads no body."""
    return path in _OPEN or path.startswith(f"{DOCS}/")


@dataclass
class TokenBucket:
    """Tokens that come back at `per_minute`, at most `per_minute` of them."""

    per_minute: int
    now: Callable[[], float] = time.monotonic
    _left: float = field(init=False)
    _at: float = field(init=False)

    def __post_init__(self) -> None:
        self._left, self._at = float(self.per_minute), self.now()

    def take(self, count: int) -> int | None:
        """None, or where there are too few: the whole seconds until there may be enough."""
        now = self.now()
        self._left = min(self.per_minute, self._left + (now - self._at) * self.per_minute / 60)
        self._at = now
        if count > self._left:
            return math.ceil((min(count, self.per_minute) - self._left) * 60 / self.per_minute) or 1
        self._left -= count
        return None


class RateLimited(Exception):
    """A key that has asked for more than it may; `seconds` is when to come again."""

    def __init__(self, count: int, bucket: TokenBucket, seconds: int) -> None:
        if count > bucket.per_minute:
            said = f"{count} judgments in one request, and the key has {bucket.per_minute} a minute: ask for fewer"
        else:
            said = f"the key has {bucket.per_minute} judgments a minute: try again in {seconds} s"
        super().__init__(said)
        self.seconds = seconds


class AuthMiddleware:
    """Refuses who has no key; to others it notes whose request it is, for `owner_of` and `charge`."""

    def __init__(self, app: ASGIApp, keys: KeyFile | None) -> None:
        self.app, self.keys = app, keys
        self._buckets: dict[Key, TokenBucket] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self.keys is None or is_open(scope["path"]):
            await self.app(scope, receive, send)
            return
        try:
            key = self.keys.find(_sent(scope))
        except BadKeys:
            await problem(scope["path"], 503, "the keys of this server cannot be read")(scope, receive, send)
            return
        if key is None:
            said = "a key is needed: send it as `Authorization: Bearer KEY`"
            await problem(scope["path"], 401, said, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
            return
        bucket = self._buckets.setdefault(key, TokenBucket(key.per_minute))
        scope.setdefault("state", {}).update(owner=key.name, bucket=bucket)
        await self.app(scope, receive, send)


def tenant_of(request: Request) -> str:
    """Whose request it is: the name of its key, "" where no keys are asked for."""
    return str(getattr(request.state, "owner", ""))


def consume_quota(request: Request, count: int = 1) -> None:
    """So many judgments are asked for. Errors: Limited."""
    bucket: TokenBucket | None = getattr(request.state, "bucket", None)
    if bucket is not None and (seconds := bucket.take(count)) is not None:
        raise RateLimited(count, bucket, seconds)


def _sent(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"authorization":
            kind, _, secret = value.decode("latin-1").partition(" ")
            return secret.strip() if kind.lower() == "bearer" else ""
    return ""
