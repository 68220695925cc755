"""A fake LLM server: real HTTP on 127.0.0.1 in the OpenAI and Anthropic formats, with seeded faults.

    with FakeLLMServer(answer, faults=Faults(rate=0.3)) as server:  # answer(system, user, sample) -> text
        spec = server.chat                                    # or server.anthropic; set server.environment
        ...
        assert server.duplicates == 0                         # no request was answered (and billed) twice

    python tests/support/fake_llm_server.py MODULE:FUNCTION --port 8765 --faults 0.3    # standalone; \
        see GET /stats

The counters are keyed by a hash of the request: `calls` counts requests, `served` complete good answers, and
`abandoned` good answers whose client had disconnected. A fault depends on that hash, the seed and the number of
earlier requests with the same hash, never on the order of different requests.
"""

import argparse
import asyncio
import importlib
import json
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from email.utils import formatdate
from hashlib import sha256
from pathlib import Path
from random import Random
from time import time
from typing import Any

from judge_r1.core.record_base import content_hash

AnswerFunction = Callable[[str, str, int], str]
"""Maps (system, user, sample) to the answer text. It must be deterministic."""

TRANSIENT = ("rate_limit", "rate_limit_date", "server_error", "stall", "truncated", "reset", "garbage", "missing_field")
"""Faults that a client survives by retrying."""


@dataclass(frozen=True)
class Faults:
    """`rate` is the share of failing requests, with at most `in_a_row` failures in a row for one prompt. `cut` is the
    share of prompts whose answer is always truncated. A stall lasts `stall_s` seconds."""

    rate: float = 0.0
    seed: int = 0
    kinds: tuple[str, ...] = TRANSIENT
    in_a_row: int = 3
    stall_s: float = 30.0
    retry_after_s: int = 0
    cut: float = 0.0


@dataclass(frozen=True)
class Request:
    """The fields that both wire formats share."""

    wire: str
    model: str
    system: str
    user: str
    sample: int
    max_tokens: int
    temperature: float
    marked: str = ""
    """The beginning of `user` that is marked for the cache (Anthropic)."""

    @property
    def key(self) -> str:
        return content_hash(self.system, self.user, self.sample, self.max_tokens, self.temperature)


class PrefixCache:
    """What a vendor keeps of the prompts that it has answered, from `MIN` words (1,024 tokens) on: for Anthropic the
    marked beginning, for OpenAI every beginning of whole blocks of `BLOCK` words (128 tokens)."""

    MIN, BLOCK = 768, 96

    def __init__(self) -> None:
        self._known = set[str]()

    def find(self, request: Request) -> tuple[int, int]:
        """The numbers of words that are read from the cache and that are stored there."""
        beginnings = self._beginnings(request)
        read = max((words for words, key in beginnings.items() if key in self._known), default=0)
        stored = max(beginnings, default=0) if request.wire == "anthropic" else 0
        return read, 0 if read else stored

    def add(self, request: Request) -> None:
        self._known.update(self._beginnings(request).values())

    def _beginnings(self, request: Request) -> dict[int, str]:
        """The key of each beginning, by its number of words."""
        marked = request.wire == "anthropic"
        words = (request.system + " " + (request.marked if marked else request.user)).split()
        ends = range(self.BLOCK, len(words) + 1, self.BLOCK) if not marked else [len(words)] if request.marked else []
        found, start, digest = dict[int, str](), 0, sha256(f"{request.wire} {request.model}".encode())
        for end in ends:
            digest.update(" ".join(words[start:end]).encode())
            start = end
            if end >= self.MIN:
                found[end] = digest.hexdigest()
        return found


class FakeLLMServer:
    """The server, in its own thread. `key` is the only API key it accepts (None: any or none). `latency_s` is the delay
    before each good answer."""

    def __init__(
        self,
        answer: AnswerFunction,
        *,
        faults: Faults = Faults(),
        key: str | None = None,
        latency_s: float = 0.0,
        port: int = 0,
    ) -> None:
        self.faults, self.latency_s = faults, latency_s
        self.calls: Counter[str] = Counter()
        self.served: Counter[str] = Counter()
        self.abandoned: Counter[str] = Counter()
        self.injected: Counter[str] = Counter()
        self.refused: Counter[int] = Counter()
        self.errors: list[str] = []
        self.prefixes = PrefixCache()
        self.words: Counter[str] = Counter()
        """Words of the prompts of good answers: `in`, and of these `cached` and `stored`."""
        self.in_flight = self.peak = 0
        self._answer_function, self._key, self._port = answer, key, port
        self._failures: Counter[str] = Counter()
        self._pool = ThreadPoolExecutor(1)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def chat(self) -> str:
        """The teacher spec of the OpenAI-compatible API."""
        return f"chat@{self.url}/v1#toy"

    anthropic = "chat@anthropic:toy"
    """The teacher spec of the Anthropic API; it needs `environment`."""

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that point both kinds of teacher at this server."""
        key = self._key or "any-key"
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": key, "JUDGE_R1_TEACHER_KEY": key}

    @property
    def duplicates(self) -> int:
        """Good answers to a prompt beyond the first."""
        return sum(count - 1 for count in self.served.values())

    @property
    def made(self) -> Counter[str]:
        """Good answers by prompt, including those whose client had disconnected: a vendor would bill both."""
        return self.served + self.abandoned

    @property
    def repeated(self) -> int:
        """Good answers to a prompt beyond the first, delivered or not."""
        return sum(count - 1 for count in self.made.values())

    def stats(self) -> dict[str, Any]:
        return {
            "calls": self.calls.total(),
            "served": self.served.total(),
            "abandoned": self.abandoned.total(),
            "questions": len(self.calls),
            "duplicates": self.duplicates,
            "repeated": self.repeated,
            "words": dict(self.words),
            "injected": dict(sorted(self.injected.items())),
            "refused": {str(status): count for status, count in sorted(self.refused.items())},
            "peak": self.peak,
            "errors": self.errors,
        }

    def __enter__(self) -> "FakeLLMServer":
        self._thread.start()
        start = asyncio.start_server(self._connection, "127.0.0.1", self._port, limit=2**26, backlog=1024)
        self._server = asyncio.run_coroutine_threadsafe(start, self._loop).result(10)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        self._pool.shutdown()

    async def _stop(self) -> None:
        self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ---- HTTP ----

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):  # cancelled on shutdown
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, path, _ = head[0].split(" ")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                self.in_flight += 1
                self.peak = max(self.peak, self.in_flight)
                try:
                    keep_open = await self._respond(reader, writer, method, path, headers, body)
                finally:
                    self.in_flight -= 1
                if not keep_open:
                    break
        with suppress(ConnectionError):
            writer.close()

    async def _respond(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
    ) -> bool:
        if (method, path) == ("GET", "/stats"):
            return await _send(writer, 200, self.stats())
        if method == "GET":
            return await _send(writer, 404, {})
        wire = {"/v1/chat/completions": "chat", "/v1/messages": "anthropic"}.get(path)
        if method != "POST" or wire is None:
            return await self._refuse(writer, 404, f"no such address: {method} {path}")
        sent = headers.get("x-api-key") if wire == "anthropic" else headers.get("authorization", "")[len("Bearer ") :]
        if self._key is not None and sent != self._key:
            return await self._refuse(writer, 401, f"this is not a key: {sent}")
        if wire == "anthropic" and "anthropic-version" not in headers:
            return await self._refuse(writer, 400, "anthropic-version: header is required")
        try:
            request = read_request(wire, json.loads(body))
        except (ValueError, KeyError, TypeError) as error:
            return await self._refuse(writer, 400, f"bad request: {error!r}")
        before = self.calls[request.key]
        self.calls[request.key] += 1
        fault = self._fault(request.key, before)
        if fault is not None:
            self._failures[request.key] += 1
            self.injected[fault] += 1
        else:
            self._failures[request.key] = 0
        return await self._answer(reader, writer, request, fault)

    async def _refuse(self, writer: asyncio.StreamWriter, status: int, message: str) -> bool:
        self.refused[status] += 1
        return await _send(writer, status, {"error": {"message": message}})

    def _fault(self, key: str, before: int) -> str | None:
        rng = Random(content_hash("fault", self.faults.seed, key, before))
        if rng.random() >= self.faults.rate or self._failures[key] >= self.faults.in_a_row:
            return None
        return rng.choice(self.faults.kinds)

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: Request, fault: str | None
    ) -> bool:
        wait = self.faults.retry_after_s
        if fault == "rate_limit":
            return await _send(writer, 429, {"error": {"message": "slow down"}}, f"Retry-After: {wait}\r\n")
        if fault == "rate_limit_date":
            until = formatdate(time() + wait, usegmt=True)
            return await _send(writer, 429, {"error": {"message": "slow down"}}, f"Retry-After: {until}\r\n")
        if fault == "server_error":
            return await _send(writer, 500, {"error": {"message": "something broke"}})
        if fault == "stall":
            await asyncio.sleep(self.faults.stall_s)
            return False
        if fault == "reset":
            _reset(writer)
            return False
        if fault == "garbage":
            return await _send(writer, 200, b"<html>upstream hiccup</html>")
        cached, stored = self.prefixes.find(request)
        try:
            text = await self._loop.run_in_executor(
                self._pool, self._answer_function, request.system, request.user, request.sample
            )
        except Exception as error:
            self.errors.append(repr(error))
            return await _send(writer, 500, {"error": {"message": f"the answer function failed: {error!r}"}})
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        reply = self._reply(request, text, cached, stored)
        if fault == "missing_field":
            return await _send(writer, 200, {name: value for name, value in reply.items() if name != "usage"})
        if fault == "truncated":
            whole = json.dumps(reply).encode()
            writer.write(_head(200, len(whole)) + whole[: len(whole) // 2])
            await writer.drain()
            return False
        await asyncio.sleep(0)  # lets the loop notice a closed connection
        if reader.at_eof():
            self.abandoned[request.key] += 1
            return False
        self.served[request.key] += 1
        self.prefixes.add(request)
        self.words.update({"in": _words_in(request), "cached": cached, "stored": stored})
        await _send(writer, 200, reply)
        return True

    def _reply(self, request: Request, text: str, cached: int, stored: int) -> dict[str, Any]:
        cut = Random(content_hash("cut", self.faults.seed, request.key)).random() < self.faults.cut
        return reply(request, text[: len(text) // 2] if cut else text, cut=cut, cached=cached, stored=stored)


def read_request(wire: str, body: Any) -> Request:
    """Parses a request body.

    Raises:
        ValueError, KeyError, TypeError: the body is invalid in both formats.
    """
    messages, system = list(body["messages"]), body.get("system", "")
    if wire == "chat":
        system = messages.pop(0)["content"] if messages[0]["role"] == "system" else ""
        sample = int(body.get("seed", 0))
    else:
        sample = int(body.get("metadata", {}).get("user_id", "sample-0").removeprefix("sample-"))
    if [message["role"] for message in messages] != ["user"]:
        raise ValueError("expected exactly one user message")
    limit = body["max_completion_tokens"] if "max_completion_tokens" in body else body["max_tokens"]
    user, temperature, marked = messages[0]["content"], float(body.get("temperature", 1.0)), ""
    if isinstance(user, list):
        marks = [number for number, block in enumerate(user, 1) if "cache_control" in block]
        marked = "".join(block["text"] for block in user[: max(marks, default=0)])
        user = "".join(block["text"] for block in user)
    return Request(wire, body["model"], system, user, sample, int(limit), temperature, marked)


def _words_in(request: Request) -> int:
    return len((request.system + " " + request.user).split())


def reply(request: Request, text: str, *, cut: bool = False, cached: int = 0, stored: int = 0) -> dict[str, Any]:
    """Builds the body of a good answer. A token is a word here."""
    spent = {"in": _words_in(request), "out": len(text.split())}
    if request.wire == "chat":
        choice = {"index": 0, "message": {"role": "assistant", "content": text}}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": f"{request.model}-2026",
            "choices": [{**choice, "finish_reason": "length" if cut else "stop"}],
            "usage": {
                "prompt_tokens": spent["in"],
                "completion_tokens": spent["out"],
                "prompt_tokens_details": {"cached_tokens": cached},
            },
        }
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": f"{request.model}-2026",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "max_tokens" if cut else "end_turn",
        "usage": {
            "input_tokens": spent["in"] - cached - stored,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": stored,
            "output_tokens": spent["out"],
        },
    }


def answer_batch(answer: AnswerFunction, requests: Path, results: Path, *, seed: int = 0, failed: float = 0.0) -> None:
    """Answers an exported batch file like a batch service: shuffled results, a share of them `failed`."""
    rows, rng = [], Random(seed)
    for line in requests.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        wire = "chat" if "body" in row else "anthropic"
        request = read_request(wire, row["body"] if wire == "chat" else row["params"])
        body = reply(request, answer(request.system, request.user, request.sample))
        good = rng.random() >= failed
        if wire == "chat":
            response = {"status_code": 200, "request_id": "r", "body": body}
            error = {"code": "server_error", "message": "it broke"}
            row = {"id": "b", "response": response if good else None, "error": None if good else error}
        else:
            error = {"type": "error", "error": {"type": "api_error", "message": "it broke"}}
            outcome = {"type": "succeeded", "message": body} if good else {"type": "errored", "error": error}
            row = {"result": outcome}
        rows.append({"custom_id": json.loads(line)["custom_id"], **row})
    rng.shuffle(rows)
    results.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _head(status: int, length: int, extra: str = "") -> bytes:
    head = f"HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{extra}\r\n"
    return head.encode("latin-1")


async def _send(writer: asyncio.StreamWriter, status: int, body: Mapping[str, Any] | bytes, extra: str = "") -> bool:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    writer.write(_head(status, len(data), extra) + data)
    await writer.drain()
    return True


def _reset(writer: asyncio.StreamWriter) -> None:
    """Closes the connection with RST, like a crashed host."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def main() -> None:
    parser = argparse.ArgumentParser(description="A fake LLM server. It prints its URL and runs until it is killed.")
    parser.add_argument("answer", metavar="MODULE:FUNCTION", help="a function of (system, user, sample)")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--faults", type=float, default=0.0, help="share of the requests that fail")
    parser.add_argument("--stall", type=float, default=30.0, help="duration of a stall in seconds")
    parser.add_argument("--cut", type=float, default=0.0, help="share of the prompts whose answer is truncated")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each good answer")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    module, _, function = options.answer.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    answer = getattr(importlib.import_module(module), function)
    faults = Faults(rate=options.faults, seed=options.seed, stall_s=options.stall, cut=options.cut)
    with FakeLLMServer(answer, faults=faults, latency_s=options.latency, port=options.port) as server:
        print(server.url, flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
