"""HTTP clients for load tests, both well and badly behaved. Every answer is checked against its request."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

DEADLINE_S = 60.0
"""A request without an answer after this time has failed."""
KINDS = {"plain": 67, "large": 10, "slow": 8, "disconnecting": 8, "malformed": 7}
"""Percentage of requests of each kind."""
LARGE = 2**20
"""Size of a large case in bytes."""
_JSON = "Content-Type: application/json\r\n"
MALFORMED: list[tuple[bytes, int]] = [
    (
        f"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\n{_JSON}Content-Length: 16\r\n\r\n".encode()
        + b'{"reasoning_a": ',
        422,
    ),
    (f"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\n{_JSON}Content-Length: 4\r\n\r\n".encode() + b"\xff\xfe[]", 422),
    (f"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\n{_JSON}Content-Length: 2\r\n\r\n".encode() + b"[]", 422),
    (f"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\n{_JSON}Content-Length: 9999999999\r\n\r\n".encode(), 413),
    (b"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n", 400),
    (b"GET /v1/judge HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 405),
    (b"this is not HTTP\r\n\r\n", 400),
]
"""Malformed requests and the status that each must get."""
Sign = Callable[[str, str, str], str]
"""Maps a context and two reasonings to the explanation that the judge must return."""


@dataclass
class Load:
    """Counts of one load test. `seconds` are the latencies of small requests; `total_seconds` are the latencies of any
    request from its first attempt to its judgment, including retries after 429."""

    sent: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    judged: int = 0
    disconnected: int = 0
    refused: int = 0
    failed: list[str] = field(default_factory=list)
    mismatched: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    total_seconds: list[float] = field(default_factory=list)


async def run_clients(port: int, clients: int, requests: int, sign: Sign, seed: int = 0) -> Load:
    """Sends `requests` requests from `clients` clients. Each client sends one request at a time."""
    load, numbers = Load(), iter(range(requests))
    kinds = random.Random(seed).choices(list(KINDS), list(KINDS.values()), k=requests)

    async def client() -> None:
        for number in numbers:
            kind = kinds[number]
            load.sent[kind] += 1
            try:
                await asyncio.wait_for(_one(port, kind, random.Random(f"{seed}-{number}"), sign, load), DEADLINE_S)
            except (asyncio.TimeoutError, OSError, ValueError) as error:
                load.failed.append(f"request {number} ({kind}): {type(error).__name__} {error}")

    await asyncio.gather(*(client() for _ in range(clients)))
    return load


async def _one(port: int, kind: str, draw: random.Random, sign: Sign, load: Load) -> None:
    if kind == "malformed":
        sent, expected = draw.choice(MALFORMED)
        status, _, _ = await _exchange(port, [sent])
        load.statuses[status] += 1
        load.refused += 1
        if status != expected:
            load.failed.append(f"{sent[:60]!r} got {status}, expected {expected}")
        return
    context = f"case {draw.random()} " + "x" * (LARGE if kind == "large" else draw.randrange(300))
    a, b = f"first {draw.random()}", f"second {draw.random()}"
    body = json.dumps({"context": context, "reasoning_a": a, "reasoning_b": b}).encode()
    head = (
        f"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\n{_JSON}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    sent = head.encode() + body
    if kind == "disconnecting":
        await _disconnect(port, sent[: draw.choice([len(sent) // 2, len(sent)])], draw.uniform(0, 0.1))
        load.disconnected += 1
        return
    pieces, pause = [sent], 0.0
    if kind == "slow":
        step = max(1, len(sent) // 10)
        pieces, pause = [sent[at : at + step] for at in range(0, len(sent), step)], draw.uniform(0.05, 0.2)
    first = time.monotonic()
    while True:
        started = time.monotonic()
        status, headers, answer = await _exchange(port, pieces, pause)
        load.statuses[status] += 1
        if status == 200:
            break
        if status not in (429, 503):
            raise ValueError(f"status {status}: {answer[:200]!r}")
        await asyncio.sleep(int(headers["retry-after"]) * draw.uniform(1, 1.5))
    load.judged += 1
    load.total_seconds.append(time.monotonic() - first)
    if kind == "plain":
        load.seconds.append(time.monotonic() - started)
    if json.loads(answer)["explanation"] != sign(context, a, b):
        load.mismatched.append(answer.decode()[:300])


async def _exchange(port: int, pieces: list[bytes], pause: float = 0.0) -> tuple[int, dict[str, str], bytes]:
    """Sends `pieces` and returns status, headers and body.

    Raises:
        OSError, ValueError: the answer is incomplete.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            if pause:
                await asyncio.sleep(pause)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body = await (
            reader.readexactly(int(headers["content-length"])) if "content-length" in headers else reader.read()
        )
        return int(head[0].split()[1]), headers, body
    except (asyncio.IncompleteReadError, LookupError) as error:
        raise ValueError(f"incomplete answer: {error!r}") from None
    finally:
        writer.close()


async def _disconnect(port: int, sent: bytes, after: float) -> None:
    """Sends bytes, waits `after` seconds and resets the connection."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    await asyncio.sleep(after)
    transport: Any = writer.transport
    transport.abort()
