"""API keys: storage as hashes, rate limits, and isolation of tenants."""

import asyncio
import logging
import socket
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving_fixture import PAIR, service
from typer.testing import CliRunner

from judge_r1.cli import app as cli
from judge_r1.core.errors import JudgeError
from judge_r1.serving.address import check_free, check_host
from judge_r1.serving.app import create_app
from judge_r1.serving.middleware.api_keys import BadKeys, KeyFile, add_key, read_keys, remove_key
from judge_r1.serving.middleware.auth import TokenBucket
from judge_r1.serving.request_traces import TraceLog


def talk_to(app: Any, talk: Callable[[httpx.AsyncClient], Awaitable[Any]]) -> Any:
    async def within() -> Any:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://judge") as client:
            return await asyncio.wait_for(talk(client), 60)

    return asyncio.run(within())


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def test_a_key_is_printed_once_and_stored_as_a_hash(file: Path) -> None:
    run = CliRunner().invoke(cli, ["keys", "add", "ana", "--file", str(file), "--per-minute", "7"])
    key = run.stdout.strip()
    assert (run.exit_code, len(key) > 40) == (0, True)
    assert key not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert CliRunner().invoke(cli, ["keys", "list", "--file", str(file)]).stdout == "ana\t7 per minute\n"
    found = KeyFile(file).find(key)
    assert found is not None
    assert (found.name, found.per_minute) == ("ana", 7)
    assert KeyFile(file).find(key + "x") is KeyFile(file).find("") is None
    assert CliRunner().invoke(cli, ["keys", "remove", "ana", "--file", str(file)]).exit_code == 0
    assert read_keys(file) == ()


def test_mistakes_with_keys_are_one_sentence(file: Path) -> None:
    with pytest.raises(BadKeys, match="create a key with"):
        KeyFile(file)
    add_key(file, "ana")
    with pytest.raises(BadKeys, match="already has a key 'ana'"):
        add_key(file, "ana")
    with pytest.raises(BadKeys, match="no key 'ben'"):
        remove_key(file, "ben")
    with pytest.raises(BadKeys, match="key 'no good'"):
        add_key(file, "no good")
    file.write_text('{"keys": [{"name": "x"}]}')
    with pytest.raises(BadKeys, match="is not a key file"):
        read_keys(file)
    for content, says in {
        b'{"keys": "\xff"}': "it is not UTF-8",
        b"\xff\xfe": "it is UTF-16",
        b"": "it is empty",
    }.items():
        file.write_bytes(content)
        with pytest.raises(BadKeys, match=f"is not a key file: not valid JSON: {says}"):
            read_keys(file)
    with pytest.raises(BadKeys, match="Is a directory"):
        read_keys(file.parent)


def test_an_unreadable_key_file_rejects_all_requests(file: Path) -> None:
    key = add_key(file, "ana")
    app = create_app(service("longer", keys=KeyFile(file)))
    file.write_bytes(b"\xff\xfe")

    async def talk(client: httpx.AsyncClient) -> None:
        assert (await client.get("/v1/cases", headers=bearer(key))).status_code == 503

    talk_to(app, talk)


def test_a_port_in_use_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(JudgeError, match=f"port {port} .Address already in use"):
            check_free("127.0.0.1", port)
    check_free("127.0.0.1", port)
    check_free("localhost", 0)


def test_added_and_removed_keys_take_effect_at_once(file: Path) -> None:
    ana, keys = add_key(file, "ana"), KeyFile(file)
    ben = add_key(file, "ben")
    assert keys.find(ben) is not None
    remove_key(file, "ana")
    assert keys.find(ana) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "judge.example.org"])
def test_serving_other_hosts_needs_keys(host: str, file: Path) -> None:
    with pytest.raises(JudgeError, match="--keys"):
        check_host(host, None)
    check_host(host, file)
    check_host("127.0.0.1", None)


def test_all_routes_but_health_and_docs_need_a_key(file: Path) -> None:
    key = add_key(file, "ana")
    app = create_app(service("longer", keys=KeyFile(file)))

    async def talk(client: httpx.AsyncClient) -> None:
        for path in ("/healthz", "/docs", "/openapi.json"):
            assert (await client.get(path)).status_code == 200
        assert (await client.get("/readyz")).status_code == 503  # no lifespan here
        for sent in ({}, bearer("x"), bearer(key[:-1]), {"Authorization": key}, {"Authorization": f"Basic {key}"}):
            for path in ("/metrics", "/v1/cases", "/v1/models", "/nothing"):
                answer = await client.get(path, headers=sent)
                assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
            answer = await client.post("/v1/judge", content=b"{", headers=sent)
            assert answer.status_code == 401
        assert (await client.post("/v1/judge", json=PAIR, headers=bearer(key))).status_code == 200

    talk_to(app, talk)


def test_a_tenant_cannot_use_the_cases_of_another(file: Path) -> None:
    ana, ben = bearer(add_key(file, "ana")), bearer(add_key(file, "ben"))
    app = create_app(service("longer", keys=KeyFile(file)))

    async def talk(client: httpx.AsyncClient) -> None:
        case_id = (await client.put("/v1/cases", json={"context": "secret"}, headers=ana)).json()["case_id"]
        mine = (await client.put("/v1/cases", json={"context": "secret"}, headers=ben)).json()["case_id"]
        assert case_id != mine
        for answer in (
            await client.get(f"/v1/cases/{case_id}", headers=ben),
            await client.delete(f"/v1/cases/{case_id}", headers=ben),
            await client.post("/v1/judge", json=PAIR | {"case_id": case_id}, headers=ben),
            await client.post(
                "/v1/score", json={"prompt": "", "candidates": ["a", "b"], "case_id": case_id}, headers=ben
            ),
            await client.post("/v1/judge/stream", json=PAIR | {"case_id": case_id}, headers=ben),
        ):
            assert answer.status_code == 404
            assert "secret" not in answer.text
        listed = (await client.get("/v1/cases", headers=ben)).json()["cases"]
        assert [case["case_id"] for case in listed] == [mine]
        assert (await client.get(f"/v1/cases/{case_id}", headers=ana)).json()["context"] == "secret"

    talk_to(app, talk)


def test_a_key_is_limited_to_its_judgments_per_minute(file: Path) -> None:
    ana, ben = bearer(add_key(file, "ana", 4)), bearer(add_key(file, "ben", 4))
    app = create_app(service("longer", keys=KeyFile(file)))

    async def talk(client: httpx.AsyncClient) -> None:
        async def post(path: str, body: Any, key: dict[str, str]) -> httpx.Response:
            return await client.post(path, json=body, headers=key)

        assert (await post("/v1/judge/batch", {"requests": [PAIR] * 3}, ana)).status_code == 200
        assert (await post("/v1/judge", PAIR, ana)).status_code == 200
        late = await post("/v1/judge", PAIR, ana)
        assert (late.status_code, 1 <= int(late.headers["retry-after"]) <= 15) == (429, True)
        assert "4 judgments per minute" in late.json()["error"]
        assert (await client.get("/v1/cases", headers=ana)).status_code == 200  # no judgment, no charge
        never = await post("/v1/judge/batch", {"requests": [PAIR] * 5}, ben)
        assert (never.status_code, "send fewer" in never.json()["error"]) == (429, True)
        assert (await post("/v1/judge", PAIR, ben)).status_code == 200

    talk_to(app, talk)


@given(st.integers(1, 600), st.lists(st.tuples(st.floats(0, 30), st.integers(1, 700)), max_size=30))
def test_a_bucket_never_exceeds_its_rate(rate: int, requests: list[tuple[float, int]]) -> None:
    """Any interval grants at most `rate` plus its refill, and a request succeeds after the returned wait."""
    time = 0.0
    bucket = TokenBucket(rate, lambda: time)
    granted: list[tuple[float, int]] = []
    for wait, count in requests:
        time += wait
        seconds = bucket.take(count)
        if seconds is None:
            granted.append((time, count))
        elif count <= rate:
            time += seconds + 1e-6
            assert bucket.take(count) is None
            granted.append((time, count))
    for start in range(len(granted)):
        for end in range(start, len(granted)):
            spent = sum(count for _, count in granted[start : end + 1])
            assert spent <= rate * (1 + (granted[end][0] - granted[start][0]) / 60) + 1e-6


def test_keys_never_appear_in_logs_responses_or_traces(
    file: Path, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """This holds for valid and invalid keys, and at every log level."""
    key, wrong = add_key(file, "ana"), "jr1-almost-the-key"
    app = create_app(service("longer", keys=KeyFile(file), trace_log=TraceLog(tmp_path / "traces")))

    async def talk(client: httpx.AsyncClient) -> list[httpx.Response]:
        answers = []
        for sent in (key, wrong):
            for body in (PAIR, {"x": 1}, PAIR | {"case_id": "x"}):
                answers.append(await client.post("/v1/judge", json=body, headers=bearer(sent)))
            answers.append(await client.get("/metrics", headers=bearer(sent)))
        return answers

    with caplog.at_level(logging.DEBUG):
        answers = talk_to(app, talk)
    assert [answer.status_code for answer in answers] == [200, 422, 404, 200, 401, 401, 401, 401]
    logged = caplog.text + "".join(answer.text + str(answer.headers) for answer in answers)
    logged += (tmp_path / "traces" / "traces.jsonl").read_text() + file.read_text()
    assert '"owner": "ana"' in logged
    for secret in (key, wrong, key[4:]):
        assert secret not in logged
