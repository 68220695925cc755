"""`build` with a teacher: budgets, batches, Ctrl-C and resuming."""

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import command_server
import fake_llm_server
import fake_teacher
import pytest
from fake_llm_server import FakeLLMServer, answer_batch

from data_builders import build_recipe
from data_builders.build_recipe import BuildRecipe
from data_builders.teacher_session import SessionResult
from data_builders.teachers import BudgetSpent
from data_builders.teachers.answer_cache import Cache
from judge_r1.core.errors import JudgeError

PLAN = {"source": "mini", "variants": 3, "limit": 4, "concurrency": 2}
BUILD = ["build", "mini", "limit=4", "variants=3"]


def build(
    server: FakeLLMServer,
    out: Path,
    cache: Path,
    *,
    budget: float | None = None,
    prices: Path | None = None,
    requests: Path | None = None,
    results: Path | None = None,
) -> SessionResult[dict[str, Any]]:
    given = {"teacher": server.chat, "budget": budget, "prices": prices, "cache": cache}
    files = {"batch_export": requests, "batch_import": results}
    return build_recipe.build(BuildRecipe.model_validate(PLAN | given | files), out)


def data(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("cases.jsonl", "pairs.jsonl", "build.json")}


@pytest.fixture
def server() -> Iterator[FakeLLMServer]:
    with FakeLLMServer(fake_teacher.liar) as running:
        yield running


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of an uninterrupted build."""
    out = tmp_path_factory.mktemp("unbroken")
    with FakeLLMServer(fake_teacher.liar) as server:
        done = build(server, out, out / "answers.sqlite")
    assert done.value
    assert "0 answers from the cache" in done.message
    return data(out)


def test_a_budget_stops_the_build_and_a_higher_one_resumes_it(
    tmp_path: Path, server: FakeLLMServer, unbroken: dict[str, bytes]
) -> None:
    prices, out, cache = tmp_path / "prices.yaml", tmp_path / "out", tmp_path / "answers.sqlite"
    prices.write_text("toy: {input: 1000, output: 1000}")
    with pytest.raises(BudgetSpent, match=r"^the budget of \$8\.00 is spent: .*higher budget"):
        build(server, out, cache, budget=8, prices=prices)
    assert not out.exists()
    before = server.served.total()
    assert 0 < before < 20
    done = build(server, out, cache, budget=1000, prices=prices)
    assert data(out) == unbroken
    assert server.duplicates == 0
    assert f"{before} answers from the cache" in done.message


def test_batch_rounds_give_the_same_data(tmp_path: Path, server: FakeLLMServer, unbroken: dict[str, bytes]) -> None:
    out, cache, asked = tmp_path / "out", tmp_path / "answers.sqlite", 0
    done = SessionResult[dict[str, Any]](None, "")
    results: Path | None = None
    while done.value is None:
        requests = tmp_path / f"requests-{asked}.jsonl"
        done = build(server, out, cache, requests=requests, results=results)
        if done.value is None:
            assert not (out / "pairs.jsonl").exists()
            assert "batch_import=RESULTS" in done.message
            results = tmp_path / f"results-{asked}.jsonl"
            answer_batch(fake_teacher.liar, requests, results, seed=asked)
            asked += len(requests.read_text().splitlines())
    assert "no request is left" in done.message
    assert not requests.exists()
    assert data(out) == unbroken
    assert server.calls.total() == 0
    with Cache(cache) as cached:
        assert cached.tokens("chat:toy", "batch").calls == asked


def test_a_batch_says_its_size_and_its_cost(tmp_path: Path, server: FakeLLMServer) -> None:
    requests, prices = tmp_path / "requests.jsonl", tmp_path / "prices.yaml"
    prices.write_text("toy: {input: 300.0, output: 500.0}")
    message = build(server, tmp_path / "out", tmp_path / "answers.sqlite", requests=requests).message
    bodies = [json.loads(line)["body"] for line in requests.read_text().splitlines()]
    read = round(sum(len(message["content"]) for body in bodies for message in body["messages"]) / 4)
    most = sum(body["max_tokens"] for body in bodies)
    size = f"about {read:,} tokens in (4 characters each), at most {most:,} out (max_tokens): "
    assert f"\n{size}add prices=FILE for the cost" in message
    message = build(server, tmp_path / "out", tmp_path / "answers.sqlite", requests=requests, prices=prices).message
    whole = (
        f"${read * 300e-6:.2f} for the input, at most ${read * 300e-6 + most * 500e-6:.2f} in all, at the prices given"
    )
    assert f"\n{size}{whole}" in message

    prices.write_text("other: {input: 1.0, output: 1.0}")
    requests.unlink()
    with pytest.raises(JudgeError, match="prices: no model is named 'toy'"):
        build(server, tmp_path / "out", tmp_path / "answers.sqlite", requests=requests, prices=prices)
    assert not requests.exists()
    with pytest.raises(JudgeError, match=r"prices: no model is named 'toy'; available: other$"):
        build(server, tmp_path / "new", tmp_path / "new" / "answers.sqlite", prices=prices)
    assert not (tmp_path / "new").exists()


def test_error_quotes_a_teacher_that_refuses_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(wire: str, body: Any) -> None:
        raise ValueError(f"{body['model']} takes no temperature")

    monkeypatch.setattr(fake_llm_server, "read_request", refuse)
    message = (
        r"(?s)^chat:toy gave 0 answers for 2 cases, and no pair is accepted.* 42  the teacher refused the request\n.*"
        r"What to do: the server refuses the requests: its reason is below.*; chat:toy: 14 requests rejected, "
        r"the first one because: 127\.0\.0\.1:\d+ "
        r"rejects a request \(status 400: .*toy takes no temperature"
    )
    with FakeLLMServer(fake_teacher.honest) as server, pytest.raises(JudgeError, match=message):
        build(server, tmp_path / "out", tmp_path / "answers.sqlite")


def test_ctrl_c_waits_for_running_calls_and_explains_how_to_resume(
    tmp_path: Path, server: FakeLLMServer, unbroken: dict[str, bytes]
) -> None:
    out, cache = tmp_path / "out", tmp_path / "out" / "answers.sqlite"
    server.latency_s = 0.3
    command = [*BUILD, f"teacher={server.chat}", "--out", str(out)]
    log, errors = tmp_path / "log", tmp_path / "errors"
    process = command_server.start(*command, log=log, errors=errors, env=server.environment)
    deadline = time.monotonic() + 60
    while server.served.total() < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    output = process.said()
    assert process.returncode == 2
    stored = f"every answer so far is stored in {cache}"
    stopping = "stopping after the calls in flight; a second Ctrl-C stops at once"
    assert output.startswith(f"{stopping}\nerror: stopped: {stored}, and the same command resumes; chat:toy: ")
    assert f" {server.served.total()} calls, " in output, "what was paid is reported, calls in flight included"
    assert [path.name for path in out.iterdir()] == ["answers.sqlite"]
    server.latency_s = 0
    build(server, out, cache)
    assert data(out) == unbroken
    assert server.duplicates == 0, "running calls finished before the process ended"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["budget=3"], "budget is for flaws by a model: add teacher=chat@URL#MODEL"),
        (["prompts=here"], "prompts is for flaws by a model: add teacher="),
        (["keep=all"], "keep chooses among pairs by the answers of a verifier"),
        (
            ["teacher=chat@anthropic:x", "verify=chat@anthropic:x", "keep=some"],
            "field keep: Input should be 'agreed' or 'all'",
        ),
        (["teacher=oracle"], "is no teacher that can be asked"),
        (["teacher=chat@anthropic:x"], "needs a key"),
        (["teacher=chat@http://127.0.0.1:9/v1#x", "budget=3"], "a budget needs prices"),
        (
            ["teacher=chat@anthropic:x", "verify=chat@anthropic:x", "batch_export=x.jsonl"],
            "takes one teacher",
        ),
    ],
)
def test_usage_errors_are_one_line(tmp_path: Path, more: list[str], message: str) -> None:
    command = [*BUILD, "--out", str(tmp_path / "out"), *more]
    done = command_server.run(*command)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr
    assert "run the same command again" not in done.stderr
    assert not (tmp_path / "out" / "answers.sqlite").exists()
