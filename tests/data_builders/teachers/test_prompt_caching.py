"""What requests on a case share is read from the provider's cache, and nothing else changes."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import fake_teacher
import pytest
from fake_llm_server import FakeLLMServer
from teacher_factories import Stub, body, request_for, run, teacher
from typer.testing import CliRunner

from data_builders.teachers import TeacherError, TeacherReply, TeacherRequest
from data_builders.teachers.answer_cache import Cache, Tokens, request_key
from data_builders.teachers.budget import Price
from data_builders.teachers.cached_teacher import CachedTeacher
from judge_r1.cli import app

PRICES = "toy: {input: 1000, output: 0, cached_input: 100, stored_input: 1250}\n"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLLMServer]:
    with FakeLLMServer(fake_teacher.honest, latency_s=0.02) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


def build(spec: str, out: Path, *more: str) -> dict[str, object]:
    (out.parent / "prices.yaml").write_text(PRICES)
    command = ["build", "builtin", "limit=4", f"teacher={spec}", f"verify={spec}", "keep=all"]
    done = CliRunner().invoke(app, [*command, f"prices={out.parent / 'prices.yaml'}", "--out", str(out), *more])
    assert done.exit_code == 0, done.output
    spending = json.loads((out / "timing.json").read_text())["spending"]
    [found] = spending.values()
    return dict(found)


@pytest.mark.parametrize("vendor", ["anthropic", "chat"])
def test_at_least_half_of_the_input_is_read_from_the_cache(
    vendor: str, server: FakeLLMServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = getattr(server, vendor)
    spent = build(spec, tmp_path / "with")
    words = server.words.copy()
    assert words["cached"] >= 0.5 * words["in"]
    assert (spent["input_tokens"], spent["cached_tokens"]) == (words["in"], words["cached"])
    assert spent["stored_tokens"] == words["stored"]
    plain = words["in"] - words["cached"] - words["stored"]
    usd = (plain * 1000 + words["cached"] * 100 + words["stored"] * 1250) / 1e6
    assert spent["usd"] == pytest.approx(usd)

    # without the cache: the same answers, as the requests are the same
    monkeypatch.setattr("data_builders.prompts.shared_beginning", lambda user, tag: "")
    monkeypatch.setattr("data_builders.perturb.teacher.generate.shared_beginning", lambda user, tag: "")
    monkeypatch.setattr("data_builders.second_opinion.shared_beginning", lambda user, tag: "")
    build(spec, tmp_path / "without", f"cache={tmp_path / 'other.sqlite'}")
    for name in ("cases.jsonl", "pairs.jsonl", "opinions.jsonl", "build.json"):
        assert (tmp_path / "with" / name).read_bytes() == (tmp_path / "without" / name).read_bytes()
    assert server.served.total() == 2 * spent["calls"]  # type: ignore[operator]
    assert all(count == 2 for count in server.served.values())


def test_the_beginning_is_marked_for_anthropic_and_names_a_key_at_openai() -> None:
    request = request_for("the case. the rest", prefix="the case.")
    [marked, rest] = body(teacher("chat@anthropic:m"), request)["messages"][0]["content"]
    assert marked == {"type": "text", "text": "the case.", "cache_control": {"type": "ephemeral"}}
    assert rest == {"type": "text", "text": " the rest"}
    hosts = teacher("chat@https://api.openai.com/v1#m"), teacher("chat@http://host/v1#m")
    openai, other = (body(host, request) for host in hosts)
    assert openai.pop("prompt_cache_key")
    assert openai["messages"] == other["messages"] == body(hosts[1], request_for(request.user))["messages"]
    assert "prompt_cache_key" not in other
    assert request_key("chat:m", request) == request_key("chat:m", request_for(request.user))
    with pytest.raises(ValueError, match="prefix must be the beginning of user"):
        request_for("another", prefix="the case.")


class Slow(Stub):
    """Records in which order requests start and end."""

    def __init__(self) -> None:
        super().__init__(wait_s=0.01)
        self.events: list[str] = []
        self.fail_first = False

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        self.events.append(f"+{request.user}")
        try:
            if self.fail_first and len(self.events) == 1:
                raise TeacherError("gone")
            return await super().ask(request)
        finally:
            self.events.append(f"-{request.user}")


@pytest.mark.parametrize("fail_first", [False, True])
def test_the_first_request_of_a_beginning_is_answered_before_the_others_start(tmp_path: Path, fail_first: bool) -> None:
    stub = Slow()
    stub.fail_first = fail_first

    async def work(cache: Cache) -> None:
        teacher = CachedTeacher(stub, cache)
        requests = [request_for(f"{case} {n}", prefix=case) for case in "ab" for n in range(4)]
        await asyncio.gather(*map(teacher.ask, requests), return_exceptions=True)
        stub.events.append("later")
        await asyncio.gather(*(teacher.ask(request_for(f"a {n}", prefix="a")) for n in (7, 8)))

    with Cache(tmp_path / "c.sqlite") as cache:
        run(work(cache))
    for case in "ab":
        of_case = [event for event in stub.events if event[1] == case]
        lonely = 2 if fail_first and case == "a" else 1  # after a failure the next one is the first
        for number in range(lonely):
            assert of_case[2 * number : 2 * number + 2] == [f"+{case} {number}", f"-{case} {number}"]
        assert {event[0] for event in of_case[2 * lonely : 8 - (4 - lonely)]} == {"+"}  # then all at once
    assert stub.events[:2] == ["+a 0", "-a 0"] if fail_first else ["+a 0", "+b 0"]
    assert stub.events[stub.events.index("later") + 1 :][:2] == ["+a 7", "+a 8"]  # it is known by now


def test_usage_of_the_cache_has_its_price() -> None:
    tokens = Tokens(1, 1000, 10, cached=600, stored=300)
    assert Price(input=10, output=100).of(tokens) == pytest.approx((1000 * 10 + 10 * 100) / 1e6)
    price = Price(input=10, output=100, cached_input=1, stored_input=12.5)
    assert price.of(tokens) == pytest.approx((100 * 10 + 600 * 1 + 300 * 12.5 + 10 * 100) / 1e6)
