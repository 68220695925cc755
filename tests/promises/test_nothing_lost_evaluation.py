"""Promise 5, evaluations: killed with -9 while judges are asked over HTTP, and run again, the result equals an unbroken
run. No game is lost, none doubled, and no call repeated beyond those in flight at a kill."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from fake_judge import searching
from fake_judge_endpoint import JudgeServer
from paths import REPO

from judge_r1.core.jsonl import write_jsonl

AT_A_TIME, KILLS = 8, 3
OPTIONS = "context=none,prompt=compact,retriever=bm25,budget.top_k=1,budget.passage_words=3"


def command(server: JudgeServer, home: Path, out: Path) -> list[str]:
    judges = [
        "--judge", f"agent=agentic:{OPTIONS}@{server.url}#toy",
        "--judge", f"panel=panel:orders=2@direct:context=none@{server.url}#toy|longer",
    ]  # fmt: skip
    return [
        *(sys.executable, "-m", "judge_r1.cli", "eval", *judges, "--path", str(home), "--out", str(out)),
        *("--batch-size", str(AT_A_TIME), "--resume"),
    ]


def environment() -> dict[str, str]:
    repo = REPO
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(repo)}


def results(out: Path) -> tuple[dict[str, Any], list[str]]:
    """The summary without what differs from run to run, and the games in an order of their own."""
    summary = json.loads((out / "summary.json").read_text())
    del summary["seconds"]
    for row in summary["rows"]:
        row.pop("usage", None)
    games = [json.loads(line) for line in (out / "traces.jsonl").read_text().splitlines()]
    return summary, sorted(json.dumps(game | {"usage": None}) for game in games)


@pytest.mark.timeout(400)
def test_an_evaluation_killed_three_times_under_faults_equals_the_calm_one(tmp_path: Path) -> None:
    data = mini_pairs(40)
    write_jsonl(tmp_path / "data" / "cases.jsonl", data.cases.values())
    write_jsonl(tmp_path / "data" / "pairs.jsonl", data.pairs)
    with JudgeServer(searching) as server:
        run = subprocess.run(
            command(server, tmp_path / "data", tmp_path / "calm"),
            capture_output=True, text=True, timeout=120, env=environment(),
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        port_free = server.url
        calls = server.completed.total()
        assert max(server.completed.values()) == 1, "nothing is asked twice without need"
    out, traces, kills = tmp_path / "faults", tmp_path / "faults" / "traces.jsonl", 0
    with JudgeServer(searching, faults=0.3, wait=lambda: time.sleep(0.02)) as server:
        arguments = command(server, tmp_path / "data", out)
        for _ in range(KILLS):
            before, deadline = _lines(traces), time.monotonic() + 100
            quiet = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
            process = subprocess.Popen(arguments, env=environment(), **quiet)
            while process.poll() is None and _lines(traces) < before + 20:
                assert time.monotonic() < deadline
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
        last = subprocess.run(arguments, capture_output=True, text=True, timeout=200, env=environment())
        assert last.returncode == 0, last.stderr
        assert server.received.total() - server.completed.total() > 0.1 * server.received.total(), (
            "the faults were real"
        )
        repeated = server.completed.total() - calls
        url = server.url
    assert kills == KILLS
    assert 0 <= repeated <= KILLS * 2 * AT_A_TIME
    calm, broken = results(tmp_path / "calm"), results(out)
    assert json.loads(json.dumps(broken).replace(url, port_free)) == json.loads(json.dumps(calm))
    assert len(set(broken[1])) == len(broken[1]) == 5 * len(data.pairs)


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0
