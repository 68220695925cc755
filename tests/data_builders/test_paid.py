"""`build` with a teacher as a user meets it: money, batches, Ctrl-C, and how it goes on."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import rules_brain
from loopback import Loopback, answer_batch

from data_builders.teachers.cache import Cache

DATA = ("cases.jsonl", "pairs.jsonl", "build.json")


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback(rules_brain.liar, latency_s=0.005) as running:
        yield running


def command(out: Path, server: Loopback, *more: str | Path) -> list[str]:
    plan = ["build", "mini", "--limit", "4", "--variants", "3", "--teacher", server.chat, "--out", str(out)]
    return [sys.executable, "-m", "judge_r1.cli", *plan, *map(str, more)]


def run(out: Path, server: Loopback, *more: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **server.environment, "COLUMNS": "200"}
    return subprocess.run(command(out, server, *more), capture_output=True, text=True, timeout=120, env=environment)


def data(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in DATA}


@pytest.fixture
def calm(tmp_path: Path, server: Loopback) -> dict[str, bytes]:
    """What an unbroken build makes."""
    done = run(tmp_path / "calm", server, "--cache", tmp_path / "calm.sqlite")
    assert done.returncode == 0, done.stderr
    assert "variants wanted" in done.stdout
    server.calls.clear()
    server.served.clear()
    return data(tmp_path / "calm")


def test_a_budget_stops_it_and_more_money_goes_on(tmp_path: Path, server: Loopback, calm: dict[str, bytes]) -> None:
    prices, out = tmp_path / "prices.yaml", tmp_path / "out"
    prices.write_text("toy: {input: 1000, output: 1000}")
    stopped = run(out, server, "--prices", prices, "--budget", "8", "--concurrency", "2")
    assert stopped.returncode == 2
    assert re.fullmatch(r"error: the budget of \$8\.00 is spent: .*higher --budget.*\n", stopped.stderr)
    assert [path.name for path in out.iterdir()] == ["answers.sqlite"]
    before = server.served.total()
    assert 0 < before < 20
    done = run(out, server, "--prices", prices, "--budget", "1000")
    assert done.returncode == 0, done.stderr
    assert data(out) == calm
    assert server.duplicates == 0
    assert f"{before} answers from the cache" in done.stdout


def test_batches_bring_the_same_data_round_by_round(tmp_path: Path, server: Loopback, calm: dict[str, bytes]) -> None:
    out, asked = tmp_path / "out", 0
    results: list[str | Path] = []
    for number in range(9):
        asks = tmp_path / f"asks-{number}.jsonl"
        done = run(out, server, "--batch-export", asks, *results)
        assert done.returncode == 0, done.stderr
        if not asks.exists():
            break
        asked += len(asks.read_text().splitlines())
        assert "--batch-import RESULTS" in done.stdout
        assert not (out / "pairs.jsonl").exists()
        results = ["--batch-import", tmp_path / f"results-{number}.jsonl"]
        answer_batch(rules_brain.liar, asks, tmp_path / f"results-{number}.jsonl", seed=number)
    assert number == 3, "three rounds of asks, and a fourth run that has none left"
    assert "no ask is left" in done.stdout
    assert data(out) == calm
    assert server.calls.total() == 0
    with Cache(out / "answers.sqlite") as cache:
        assert cache.tokens("chat:toy", "batch").calls == asked


def test_ctrl_c_waits_for_calls_in_flight_and_says_how_to_go_on(
    tmp_path: Path, server: Loopback, calm: dict[str, bytes]
) -> None:
    out, environment = tmp_path / "out", {**os.environ, **server.environment}
    server.latency_s = 0.3
    process = subprocess.Popen(command(out, server), stderr=subprocess.PIPE, text=True, env=environment)
    deadline = time.monotonic() + 60
    while server.served.total() < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said == f"error: stopped: every answer that came is kept in {out / 'answers.sqlite'}; " + (
        "run the same command again to go on\n"
    )
    assert [path.name for path in out.iterdir()] == ["answers.sqlite"]
    server.latency_s = 0
    assert run(out, server).returncode == 0
    assert data(out) == calm
    assert server.duplicates == 0, "calls in flight came home before the end"


def test_a_verifier_reports_agreement(tmp_path: Path, server: Loopback, calm: dict[str, bytes]) -> None:
    second = server.chat.replace("#toy", "#second")
    done = run(tmp_path / "out", server, "--verify", second)
    assert done.returncode == 0, done.stderr
    assert "chat:second" in done.stdout
    assert data(tmp_path / "out")["pairs.jsonl"] == calm["pairs.jsonl"]
    assert (tmp_path / "out" / "opinions.jsonl").exists()


def test_a_teacher_that_is_not_there_says_so(tmp_path: Path, server: Loopback) -> None:
    wrong = [sys.executable, "-m", "judge_r1.cli", "build", "mini", "--limit", "2", "--out", str(tmp_path / "out")]
    for more, said in [
        (["--budget", "3"], "go with a --teacher that is asked"),
        (["--teacher", "oracle"], "is no teacher that can be asked"),
        (["--teacher", server.chat, "--budget", "3"], "a budget needs prices"),
        (["--teacher", server.chat, "--verify", server.chat, "--batch-export", "x.jsonl"], "asks one teacher"),
    ]:
        done = subprocess.run([*wrong, *more], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
