"""The HTTP client against real servers on 127.0.0.1: the fake LLM server, and servers with scripted responses."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from email.utils import formatdate

import pytest
from fake_llm_server import TRANSIENT, FakeLLMServer, Faults
from pydantic import SecretStr
from teacher_factories import FAST, KEY, echo, request_for, run

from data_builders.teachers import TeacherError, TeacherRefused, TeacherReply
from data_builders.teachers.spec import TeacherSpec, parse_spec
from judge_r1.core.endpoint import RetryPolicy
from judge_r1.models.anthropic import AnthropicEndpoint

GOOD = b"""{"model": "m", "choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}],
 "usage": {"prompt_tokens": 1, "completion_tokens": 1}}"""


def http(status: int, body: bytes = b'{"error": {"message": "sorry"}}', extra: str = "") -> bytes:
    return f"HTTP/1.1 {status} x\r\nContent-Length: {len(body)}\r\n{extra}\r\n".encode() + body


@asynccontextmanager
async def scripted_server(*responses: bytes | Callable[[], bytes]) -> AsyncIterator[str]:
    """The base URL of a server that sends these responses in turn and then repeats the last one."""
    left = list(responses)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).lower():
                await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
                response = left.pop(0) if len(left) > 1 else left[0]
                writer.write(response if isinstance(response, bytes) else response())
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


async def ask(wire: TeacherSpec, limits: RetryPolicy = FAST, key: str | None = None) -> TeacherReply:
    teacher = wire.at_endpoint(SecretStr(key) if key else None, limits)
    try:
        return await teacher.ask(request_for("q"))
    finally:
        await teacher.aclose()


def ask_scripted(
    *responses: bytes | Callable[[], bytes], limits: RetryPolicy = FAST, key: str | None = None
) -> TeacherReply:
    async def work() -> TeacherReply:
        async with scripted_server(*responses) as base:
            return await ask(parse_spec(f"chat@{base}#m"), limits, key)

    return run(work())


def wire_to(server: FakeLLMServer, kind: str) -> TeacherSpec:
    if kind == "chat":
        return parse_spec(f"chat@{server.url}/v1#toy")
    return TeacherSpec("anthropic:toy", AnthropicEndpoint("toy", server.url))


@pytest.mark.parametrize("kind", ["chat", "anthropic"])
def test_a_request_with_the_right_key_is_answered(kind: str) -> None:
    with FakeLLMServer(echo, key=KEY) as server:
        answer = run(ask(wire_to(server, kind), key=KEY))
    assert answer.text == "be brief: q (0) é"
    assert (answer.input_tokens, answer.output_tokens, answer.finished, answer.model) == (3, 5, True, "toy-2026")


@pytest.mark.parametrize("kind", ["chat", "anthropic"])
@pytest.mark.parametrize("fault", TRANSIENT)
def test_transient_faults_are_retried(kind: str, fault: str) -> None:
    faults = Faults(rate=1.0, kinds=(fault,), in_a_row=1 if fault == "stall" else 2, stall_s=20)
    limits = replace(FAST, request_s=1.5, attempts=6) if fault == "stall" else FAST
    with FakeLLMServer(echo, faults=faults) as server:
        assert run(ask(wire_to(server, kind), limits, KEY)).text == "be brief: q (0) é"
        assert server.injected == {fault: faults.in_a_row}
        assert server.duplicates == 0


@pytest.mark.parametrize("fault", ["garbage", "truncated", "reset", "server_error", "missing_field"])
def test_a_permanent_fault_ends_in_a_one_line_error(fault: str) -> None:
    with FakeLLMServer(echo, faults=Faults(rate=1.0, kinds=(fault,), in_a_row=99)) as server:
        with pytest.raises(TeacherError, match=r"^127\.0\.0\.1:\d+: all 3 attempts failed; the last error: ") as caught:
            run(ask(wire_to(server, "chat"), replace(FAST, attempts=3)))
        assert server.calls.total() == 3
    assert "\n" not in str(caught.value)


def test_connection_errors_are_reported() -> None:
    with pytest.raises(TeacherError, match="ConnectError"):
        run(ask(parse_spec("chat@http://127.0.0.1:9/v1#m"), replace(FAST, attempts=2)))


@pytest.mark.parametrize("seconds", [0.7, 1])
def test_numeric_retry_after_is_respected(seconds: float) -> None:
    started = time.monotonic()
    assert ask_scripted(http(429, extra=f"Retry-After: {seconds}\r\n"), http(200, GOOD)).text == "fine"
    assert time.monotonic() - started >= seconds


def test_date_retry_after_is_respected() -> None:
    def limited() -> bytes:
        return http(503, extra=f"Retry-After: {formatdate(time.time() + 2, usegmt=True)}\r\n")

    started = time.monotonic()
    assert ask_scripted(limited, http(200, GOOD)).text == "fine"
    assert time.monotonic() - started >= 0.9  # HTTP dates have whole seconds


@pytest.mark.parametrize("value", ["soon", "Mon, 99 Jan 2020 00:00:00 GMT", "-3", "Wed, 01 Jan 2020 00:00:00 GMT"])
def test_invalid_and_past_retry_after_values_are_ignored(value: str) -> None:
    assert ask_scripted(http(429, extra=f"Retry-After: {value}\r\n"), http(200, GOOD)).text == "fine"


def test_retry_after_beyond_the_deadline_fails_immediately() -> None:
    with pytest.raises(TeacherError, match="asks for a wait of 3600 s"):
        ask_scripted(http(429, extra="Retry-After: 3600\r\n"))


@pytest.mark.parametrize("status", [400, 413, 422])
def test_refused_requests_are_not_retried(status: int) -> None:
    with pytest.raises(TeacherRefused, match=f"status {status}: sorry"):
        ask_scripted(http(status), http(200, GOOD))


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_transient_statuses_are_retried(status: int) -> None:
    assert ask_scripted(http(status), http(200, GOOD)).text == "fine"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, b'{"error": {"code": "insufficient_quota", "message": "You exceeded your quota"}}'),
        (400, b'{"error": {"message": "Your credit balance is too low"}}'),
        (402, b"{}"),
    ],
)
def test_missing_credit_is_fatal_for_any_status(status: int, body: bytes) -> None:
    with pytest.raises(TeacherError, match="no credit is left") as caught:
        ask_scripted(http(status, body), http(200, GOOD))
    assert not isinstance(caught.value, TeacherRefused)


def test_a_redirect_is_not_followed() -> None:
    with pytest.raises(TeacherError, match="redirects"):
        ask_scripted(http(307, extra="Location: http://127.0.0.1:9/v1\r\n"), http(200, GOOD), key=KEY)


def test_an_unknown_address_is_reported() -> None:
    with pytest.raises(TeacherError, match="no such address or model"):
        ask_scripted(http(404, b"nginx"))


def test_401_names_the_variable_and_hides_the_key() -> None:
    with FakeLLMServer(echo, key="sk-another-key") as server:
        with pytest.raises(TeacherError, match=r"needs a key .* JUDGE_R1_TEACHER_KEY"):
            run(ask(wire_to(server, "chat")))
        for kind, name in [("chat", "JUDGE_R1_TEACHER_KEY"), ("anthropic", "ANTHROPIC_API_KEY")]:
            with pytest.raises(TeacherError, match=f"rejects the key .* {name}") as caught:
                run(ask(wire_to(server, kind), key=KEY))
            assert KEY not in str(caught.value)
        assert server.refused == {401: 3}  # none was retried


def test_a_key_echoed_by_the_server_is_redacted() -> None:
    with pytest.raises(TeacherRefused) as caught:
        ask_scripted(http(400, f'{{"error": {{"message": "what is {KEY}?"}}}}'.encode()), key=KEY)
    assert "what is ***?" in str(caught.value)


def test_a_slow_response_hits_the_request_deadline() -> None:
    async def work() -> TeacherReply:
        async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 x\r\nContent-Length: 1000\r\n\r\n")
            try:
                for _ in range(200):
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(0.05)
            except ConnectionError:
                pass

        server = await asyncio.start_server(drip, "127.0.0.1", 0)
        try:
            base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            return await ask(parse_spec(f"chat@{base}#m"), replace(FAST, request_s=0.5, attempts=2))
        finally:
            server.close()

    started = time.monotonic()
    with pytest.raises(TeacherError, match=r"all 2 attempts failed; the last error: no response within 0\.5 s"):
        run(work())
    assert time.monotonic() - started < 8


def test_total_deadline_is_enforced() -> None:
    started = time.monotonic()
    with pytest.raises(TeacherError, match="no valid response within 1 s"):
        ask_scripted(http(500), limits=replace(FAST, total_s=1, attempts=10**6, backoff_s=0.1))
    assert time.monotonic() - started < 8


def test_timed_out_requests_close_their_connections() -> None:
    async def work() -> int:
        with FakeLLMServer(echo, faults=Faults(rate=1.0, kinds=("stall",), in_a_row=99, stall_s=60)) as server:
            teacher = wire_to(server, "chat").at_endpoint(None, replace(FAST, request_s=0.2, attempts=1))
            before = len(os.listdir("/proc/self/fd"))
            requests = [teacher.ask(request_for(f"q{n}")) for n in range(12)]
            failed = await asyncio.gather(*requests, return_exceptions=True)
            assert all(isinstance(error, TeacherError) for error in failed)
            await asyncio.sleep(0.1)
            ours = len(os.listdir("/proc/self/fd")) - before - server.in_flight  # the server's ends are in this process
            await teacher.aclose()
            return ours

    assert run(work()) <= 1


@pytest.mark.parametrize("before", [0, 190, 290])
def test_a_truncated_echo_of_the_key_is_redacted(before: int) -> None:
    with pytest.raises(TeacherRefused) as caught:
        ask_scripted(http(400, b"." * before + KEY.encode()), key=KEY)
    assert KEY[3:9] not in str(caught.value)
