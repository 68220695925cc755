"""Requests, answer functions, fast retry policies and an in-process teacher, for teacher tests."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any, TypeVar

from data_builders.teachers import TeacherReply, TeacherRequest
from data_builders.teachers.endpoint import EndpointTeacher
from data_builders.teachers.spec import parse_spec
from judge_r1.core.endpoint import RetryPolicy

T = TypeVar("T")
KEY = "sk-planted-0123456789abcdef"
FAST = RetryPolicy(concurrency=8, request_s=10, total_s=60, attempts=6, backoff_s=0.01)


def request_for(user: str, **fields: Any) -> TeacherRequest:
    return TeacherRequest(**{"system": "be brief", "user": user, "max_tokens": 100, **fields})


def echo(system: str, user: str, sample: int) -> str:
    return f"{system}: {user} ({sample}) é"


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 60))


def teacher(spec: str) -> EndpointTeacher:
    return parse_spec(spec).at_endpoint(None)


def body(wire: EndpointTeacher, sent: TeacherRequest) -> Any:
    row = wire.batch_row("k", sent)
    return row["params"] if "params" in row else row["body"]


class Stub:
    """Echoes after `wait_s`, counts its calls, and raises `error` if given."""

    name = "stub:echo"

    def __init__(self, *, wait_s: float = 0.0, error: Exception | None = None) -> None:
        self.calls: Counter[str] = Counter()
        self.running = self.peak = 0
        self.wait_s, self.error = wait_s, error

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        self.calls[request.user] += 1
        self.running += 1
        self.peak = max(self.peak, self.running)
        await asyncio.sleep(self.wait_s)
        self.running -= 1
        if self.error is not None:
            raise self.error
        text = echo(request.system, request.user, request.sample)
        return TeacherReply(text=text, input_tokens=1_000, output_tokens=100, finished=True, model="echo")
