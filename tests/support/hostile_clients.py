"""HTTP clients that attack a server: long heads, half requests, random bytes, and a probe of `/healthz` meanwhile.

The attackers come from 127.0.0.2, so the limit of connections per client does not hit the probe.
"""

import random
import select
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

ATTACKER = "127.0.0.2"
JUDGE = b"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@dataclass(frozen=True)
class Reply:
    """What a client got. `reset` says that the connection ended with an error. `closed` says that it ended."""

    data: bytes
    sent: int = 0
    reset: bool = False
    closed: bool = True

    @property
    def status(self) -> int | None:
        """The status of the first response."""
        return int(self.data.split(b" ", 2)[1]) if self.data.startswith(b"HTTP/1.1 ") else None

    @property
    def statuses(self) -> list[int]:
        return [int(part.split(b" ", 1)[0]) for part in self.data.split(b"HTTP/1.1 ")[1:]]


def connect(port: int, source: str = ATTACKER) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 30.0, (source, 0))


def read_reply(connection: socket.socket, seconds: float, sent: int = 0) -> Reply:
    """Reads until the server closes the connection."""
    data, until = b"", time.monotonic() + seconds
    try:
        while (left := until - time.monotonic()) > 0:
            connection.settimeout(left)
            if not (piece := connection.recv(65536)):
                return Reply(data, sent)
            data += piece
        return Reply(data, sent, closed=False)
    except TimeoutError:
        return Reply(data, sent, closed=False)
    except OSError:
        return Reply(data, sent, reset=True)


def send_all(port: int, pieces: Iterable[bytes], seconds: float = 30.0) -> Reply:
    """Sends pieces until the server answers or closes, then reads what it says."""
    sent = 0
    with connect(port) as connection:
        try:
            for piece in pieces:
                if select.select([connection], [], [], 0)[0]:
                    break
                connection.sendall(piece)
                sent += len(piece)
        except OSError:
            pass
        return read_reply(connection, seconds, sent)


def repeated(first: bytes, piece: bytes, size: int) -> Iterator[bytes]:
    """`first`, then `piece` until `size` bytes are sent."""
    yield first
    for _ in range(size // len(piece)):
        yield piece


def mutated(draw: random.Random, request: bytes) -> bytes:
    """A request with a few bytes replaced, removed, doubled or swapped."""
    text = bytearray(request)
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(len(text))
        kind = draw.randrange(4)
        if kind == 0:
            text[at] = draw.randrange(256)
        elif kind == 1:
            del text[at : at + draw.randint(1, 20)]
        elif kind == 2:
            text[at:at] = text[at : at + draw.randint(1, 40)]
        else:
            text[at:at] = draw.choice([b"\r\n", b"\0", b"\xff", b"\r", b": ", b"0\r\n\r\n"])
        text = text or bytearray(b"\n")
    return bytes(text)


@dataclass
class Probe:
    """Latencies of `/healthz`, in seconds. `failures` counts probes without a 200."""

    seconds: list[float] = field(default_factory=list)
    failures: int = 0

    @property
    def worst(self) -> float:
        return max(self.seconds)


@contextmanager
def probing(port: int) -> Iterator[Probe]:
    """Asks for `/healthz` from 127.0.0.1, on a new connection each time."""
    probe, stop = Probe(), threading.Event()

    def run() -> None:
        while not stop.is_set():
            started = time.monotonic()
            reply = Reply(b"")
            with suppress(OSError), connect(port, "127.0.0.1") as connection:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                reply = read_reply(connection, 60)
            probe.seconds.append(time.monotonic() - started)
            probe.failures += reply.status != 200
            stop.wait(0.05)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield probe
    finally:
        stop.set()
        thread.join(120)
