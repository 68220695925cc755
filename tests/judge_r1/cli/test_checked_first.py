"""What an evaluation checks before its first request: no judge is paid for in vain."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from fake_judge_endpoint import JudgeServer, chat_completion
from longjudgebench_factories import synthetic_checkout
from two_nodes import free_port

from judge_r1.cli.eval import eval_
from judge_r1.files.jsonl import write_jsonl
from judge_r1.judges.base import BadJudge


def test_a_judge_that_does_not_fit_the_benchmark_is_found_before_the_others_are_asked(tmp_path: Path) -> None:
    synthetic_checkout(tmp_path / "data")
    with JudgeServer(lambda path, body: chat_completion("1")) as server:
        judges = [f"direct@{server.url}#toy", f"pairs=agentic:search=false@{server.url}#toy"]
        with pytest.raises(BadJudge, match="compares two candidates, but item"):
            eval_(judge=judges, benchmark="longjudgebench", path=tmp_path / "data", out=tmp_path / "out", limit=20)
        assert not server.bodies


@pytest.mark.parametrize("kind", ["model", "embedder"])
def test_a_hub_that_is_not_there_is_found_in_seconds_and_before_the_others_are_asked(tmp_path: Path, kind: str) -> None:
    data = mini_pairs(6)
    write_jsonl(tmp_path / "data" / "cases.jsonl", data.cases.values())
    write_jsonl(tmp_path / "data" / "pairs.jsonl", data.pairs)
    environment: dict[str, Any] = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
    environment |= {"HF_ENDPOINT": f"http://127.0.0.1:{free_port()}", "HF_HOME": str(tmp_path / "hub")}
    with JudgeServer(lambda path, body: chat_completion("1")) as server:
        late = {
            "model": "late=agentic@some-owner/some-model",
            "embedder": f"late=agentic:retriever=some-owner/some-embedder@{server.url}#toy",
        }
        judges = ["--judge", f"direct@{server.url}#toy", "--judge", late[kind], "--judge", "longer"]
        command: list[str | Path] = [sys.executable, "-m", "judge_r1.cli", "eval", *judges, "--path", tmp_path / "data"]
        started = time.monotonic()
        done = subprocess.run(
            [*command, "--out", tmp_path / "out"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert not server.bodies
    assert time.monotonic() - started < 60
    assert (done.returncode, done.stdout) == (2, "")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: ")
    assert "cannot be reached" in last
    assert "HF_ENDPOINT, or give the folder of a downloaded model" in last
