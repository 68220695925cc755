"""An endpoint that answers chat requests after 50 ms, and clients of a served judge, each in a process of its own.

    python -m scripts.bench.endpoint_load endpoint --port 8001 --answer TEXT
    python -m scripts.bench.endpoint_load clients --port 8000 --process PID --endpoint PID --clients 16 …

Both parse no JSON, so that they use little of the processor that the server needs. `clients` prints a JSON object: the
answers after a warm-up of a second; the seconds, and the processor seconds of the server, of the endpoint and of the
clients meanwhile; the memory of the server at the start and after each quarter of `--answers`. It ends with an error if
an answer does not prefer A.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Sequence
from importlib.util import find_spec
from itertools import cycle, islice
from typing import Any

from scripts.bench.serve import cpu_seconds, rss

DELAY_S = 0.05
WARM_UP_S = 1.0
CASES = 64
"""Pairs that differ. The clients send them in turn."""
_TEXT = "Ana paid the rent of the flat on Monday and Ben saw the letter that the court had sent to both"


def pair(number: int, words: int) -> dict[str, str]:
    """A pair whose case has `words` words. The endpoint's answer prefers A."""
    context = " ".join([*islice(cycle(_TEXT.split()), words - 3), "and", str(number), "crowns."])
    first = f"1. Ana paid {number} crowns and Ben nothing. 2. So Ben owes {number} crowns."
    second = first.replace("Ana paid", "Ana paid no more than")
    decision = f"Ben owes {number} crowns."
    return {"context": context, "decision": decision, "reasoning_a": first, "reasoning_b": second, "domain": "legal"}


def http_request(body: dict[str, str]) -> bytes:
    content = json.dumps(body).encode()
    head = "POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


def http_response(answer: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 900, "completion_tokens": 30, "total_tokens": 930}
    reply = {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
    content = json.dumps(reply)
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n{content}".encode()


class Messages(asyncio.Protocol):
    """Splits what arrives into HTTP messages."""

    def connection_made(self, transport: Any) -> None:
        self.transport, self._data = transport, bytearray()

    def data_received(self, data: bytes) -> None:
        self._data += data
        if (end := self._data.find(b"\r\n\r\n")) < 0:
            return
        head = bytes(self._data[:end]).lower()
        size = end + 4 + int(head.split(b"\r\ncontent-length:", 1)[1].split(b"\r\n", 1)[0])
        if len(self._data) >= size:
            message = bytes(self._data[:size])
            del self._data[:size]
            self.received(message)

    def received(self, message: bytes) -> None:
        raise NotImplementedError


class Endpoint(Messages):
    def __init__(self, response: bytes) -> None:
        self._response = response

    def received(self, message: bytes) -> None:
        asyncio.get_running_loop().call_later(DELAY_S, self._answer)

    def _answer(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(self._response)


class Client(Messages):
    """Keeps its connection, and sends a request when it has the answer to the last one."""

    def __init__(self, requests: Sequence[bytes], number: int, answered: Callable[[bytes], bool]) -> None:
        self._requests, self._number, self._answered = requests, number, answered

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._send()

    def received(self, message: bytes) -> None:
        if self._answered(message):
            self._send()

    def connection_lost(self, error: Exception | None) -> None:
        self._answered(f"the connection was closed: {error}".encode())

    def _send(self) -> None:
        self.transport.write(self._requests[self._number % len(self._requests)])
        self._number += 1


async def endpoint(port: int, answer: str) -> None:
    response = http_response(answer)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Endpoint(response), "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


async def clients(given: argparse.Namespace) -> dict[str, Any]:
    """The load of the clients until `given.seconds` are over and `given.answers` are there."""
    requests = [http_request(pair(number, given.words)) for number in range(CASES)]
    done, wrong, running = 0, list[bytes](), True

    def answered(message: bytes) -> bool:
        nonlocal done
        if running and not (message.startswith(b"HTTP/1.1 200 ") and b'"winner":"A"' in message):
            wrong.append(message)
        done += 1
        return running and not wrong

    loop, transports = asyncio.get_running_loop(), []
    for number in range(given.clients):
        client = Client(requests, number, answered)
        transports.append((await loop.create_connection(lambda one=client: one, "127.0.0.1", given.port))[0])  # type: ignore[misc]
    await asyncio.sleep(WARM_UP_S)

    def processor_seconds() -> list[float]:
        return [cpu_seconds(given.process), cpu_seconds(given.endpoint), time.process_time()]

    before, used, started, memory = done, processor_seconds(), time.monotonic(), [rss(given.process)]
    while not wrong and (time.monotonic() < started + given.seconds or done < before + given.answers):
        await asyncio.sleep(0.05)
        if done >= before + given.answers * len(memory) / 4 and len(memory) < 5:
            memory.append(rss(given.process))
    server, endpoint, own = (now - then for now, then in zip(processor_seconds(), used, strict=True))
    found = {"answers": done - before, "seconds": time.monotonic() - started, "rss": memory}
    running = False
    for transport in transports:
        transport.abort()
    if wrong:
        raise RuntimeError(wrong[0][:500])
    return found | {"cpu_s": server, "endpoint_cpu_s": endpoint, "clients_cpu_s": own}


def run(work: Coroutine[Any, Any, Any]) -> Any:
    if find_spec("uvloop") is None:
        return asyncio.run(work)
    import uvloop

    return uvloop.run(work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("endpoint")
    one.add_argument("--answer", required=True)
    many = commands.add_parser("clients")
    for name in ("process", "endpoint", "clients", "answers", "words"):
        many.add_argument(f"--{name}", type=int, required=True)
    many.add_argument("--seconds", type=float, required=True)
    for command in (one, many):
        command.add_argument("--port", type=int, required=True)
    given = parser.parse_args()
    print(json.dumps(run(endpoint(given.port, given.answer) if given.command == "endpoint" else clients(given))))


if __name__ == "__main__":
    main()
