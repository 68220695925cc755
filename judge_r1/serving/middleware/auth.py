"""API-key authentication and per-key rate limits. Health routes are exempt."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from judge_r1.core.text_check import counted
from judge_r1.serving.errors import error_response
from judge_r1.serving.middleware.api_keys import BadKeys, Key, KeyFile

DOCS = "/docs-assets"
"""Path of the static files that `/docs` loads."""
NO_KEY = "an API key is required: send it as `Authorization: Bearer KEY`"
_PUBLIC = {"/", "/healthz", "/readyz", "/docs", "/openapi.json"}


def is_public(path: str) -> bool:
    """Paths without a key: they show no client's data and read no body."""
    return path in _PUBLIC or path.startswith(f"{DOCS}/")


@dataclass
class TokenBucket:
    """A token bucket of size `per_minute` that refills at `per_minute`."""

    per_minute: int
    now: Callable[[], float] = time.monotonic
    _tokens: float = field(init=False)
    _updated: float = field(init=False)

    def __post_init__(self) -> None:
        self._tokens, self._updated = float(self.per_minute), self.now()

    def take(self, count: int) -> int | None:
        """Takes `count` tokens. If there are too few, takes none and returns the seconds until there may be enough."""
        now = self.now()
        self._tokens = min(self.per_minute, self._tokens + (now - self._updated) * self.per_minute / 60)
        self._updated = now
        if count > self._tokens:
            return math.ceil((min(count, self.per_minute) - self._tokens) * 60 / self.per_minute) or 1
        self._tokens -= count
        return None


class RateLimited(Exception):
    """A key exceeds its rate limit. `seconds` is the wait before a retry."""

    def __init__(self, count: int, bucket: TokenBucket, seconds: int) -> None:
        if count > bucket.per_minute:
            message = f"{count} judgments in one request exceed the key's {bucket.per_minute} per minute: send fewer"
        else:
            message = (
                f"the key's limit is {counted(bucket.per_minute, 'judgment')} per minute: try again in {seconds} s"
            )
        super().__init__(message)
        self.seconds = seconds


class AuthMiddleware:
    """Rejects requests without a valid key, and stores the key's tenant and token bucket in the request state."""

    def __init__(self, app: ASGIApp, keys: KeyFile | None) -> None:
        self.app, self.keys = app, keys
        self._buckets: dict[Key, TokenBucket] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self.keys is None or is_public(scope["path"]):
            await self.app(scope, receive, send)
            return
        try:
            key, status, message = self.keys.find(_bearer_token(scope)), 401, NO_KEY
        except BadKeys:
            key, status, message = None, 503, "the keys of this server cannot be read"
        if key is None:  # the body is not read
            headers = {"Connection": "close"} | ({"WWW-Authenticate": "Bearer"} if status == 401 else {})
            await error_response(scope["path"], status, message, headers)(scope, receive, send)
            return
        # By the whole key: one whose limit was changed gets a new bucket.
        bucket = self._buckets.setdefault(key, TokenBucket(key.per_minute))
        scope.setdefault("state", {}).update(tenant=key.name, bucket=bucket)
        await self.app(scope, receive, send)


def tenant_of(request: Request) -> str:
    """The name of the request's key; "" if the server uses no keys."""
    return str(getattr(request.state, "tenant", ""))


def consume_quota(request: Request, count: int = 1) -> None:
    """Charges `count` judgments to the request's key. Raises RateLimited."""
    bucket: TokenBucket | None = getattr(request.state, "bucket", None)
    if bucket is not None and (seconds := bucket.take(count)) is not None:
        raise RateLimited(count, bucket, seconds)


def _bearer_token(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"authorization":
            # A header is any bytes. Latin-1 decodes them all; another decoder would raise for a wrong key.
            kind, _, secret = value.decode("latin-1").partition(" ")
            return secret.strip() if kind.lower() == "bearer" else ""
    return ""
