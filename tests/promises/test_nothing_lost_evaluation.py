"""Promise 5, evaluations: after kill -9 during requests to HTTP judges, a re-run gives the result of an uninterrupted
run. No result is lost or duplicated, and only calls in flight at a kill are repeated."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from command_server import start
from factories import mini_pairs
from fake_judge import searching
from fake_judge_endpoint import JudgeServer
from paths import REPO

from judge_r1.files.jsonl import write_jsonl

CONCURRENCY, KILLS = 8, 3
OPTIONS = "context=none,prompt=compact,retriever=bm25,budget.top_k=1,budget.passage_words=3"


def command(server: JudgeServer, home: Path, out: Path) -> list[str]:
    judges = [
        "--judge", f"agent=agentic:{OPTIONS}@{server.url}#toy",
        "--judge", f"panel=panel:orders=2(direct:context=none@{server.url}#toy|longer)",
    ]  # fmt: skip
    return [
        *("eval", *judges, "--path", str(home), "--out", str(out)),
        *("--batch-size", str(CONCURRENCY), "--resume"),
    ]


def finish(arguments: list[str]) -> None:
    """Runs the command to its end in a fresh process, with a hash seed of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "judge_r1.cli", *arguments],
        capture_output=True, text=True, timeout=400, env=os.environ | {"PYTHONPATH": str(REPO)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def results(out: Path) -> tuple[dict[str, Any], list[str]]:
    """The summary without timings, usage and digests of both, and the sorted votes."""
    summary = json.loads((out / "summary.json").read_text())
    del summary["seconds"], summary["digest"]["votes"], summary["digest"]["rows"], summary["digest"]["summary"]
    for row in summary["rows"]:
        row.pop("usage", None)
    votes = [json.loads(line) for line in (out / "votes.jsonl").read_text().splitlines()]
    for stored in votes:
        del stored["digest"]
    return summary, sorted(json.dumps(stored | {"usage": None}) for stored in votes)


@pytest.mark.timeout(1500)
def test_an_evaluation_killed_three_times_under_faults_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    data = mini_pairs(40)
    write_jsonl(tmp_path / "data" / "cases.jsonl", data.cases.values())
    write_jsonl(tmp_path / "data" / "pairs.jsonl", data.pairs)
    with JudgeServer(searching) as server:
        finish(command(server, tmp_path / "data", tmp_path / "uninterrupted"))
        first_address = urlsplit(server.url).netloc
        calls = server.completed.total()
        assert max(server.completed.values()) == 1, "no request is repeated without a fault"
    out, votes, kills = tmp_path / "faults", tmp_path / "faults" / "votes.jsonl", 0
    with JudgeServer(searching, faults=0.3, wait=lambda: time.sleep(0.02)) as server:
        arguments = command(server, tmp_path / "data", out)
        for _ in range(KILLS):
            before, deadline = _lines(votes), time.monotonic() + 300
            process = start(*arguments, log=tmp_path / "log")
            while process.poll() is None and _lines(votes) < before + 20:
                assert time.monotonic() < deadline
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            kills += process.wait(60) == -signal.SIGKILL
        finish(arguments)
        assert server.received.total() - server.completed.total() > 0.1 * server.received.total(), "faults occurred"
        repeated = server.completed.total() - calls
        address = urlsplit(server.url).netloc
    assert kills == KILLS
    assert 0 <= repeated <= KILLS * 2 * CONCURRENCY
    uninterrupted, resumed = results(tmp_path / "uninterrupted"), results(out)
    assert json.loads(json.dumps(resumed).replace(address, first_address)) == json.loads(json.dumps(uninterrupted))
    assert len(set(resumed[1])) == len(resumed[1]) == 5 * len(data.pairs)


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0
