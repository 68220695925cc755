"""Ray's job server: tokens, refusals, one job of a recipe at a time. The server here speaks what Ray 2.60 was seen to
speak; `test_verl_two_nodes` sends a job to a real one."""

import json
import shlex
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from launch_factories import job

from judge_r1.core.errors import JudgeError
from judge_r1.training.launch import ray_jobs
from judge_r1.training.launch.cluster import RayCluster
from judge_r1.training.launch.ray_jobs import request_json, status, submit
from judge_r1.training.launch.submit import SubmitFailed, send


@dataclass
class Server:
    """`token` is what it wants, if anything; `jobs` what it holds; `starting` how often it still says so."""

    address: str = ""
    token: str | None = None
    starting: int = 0
    jobs: list[dict[str, Any]] = field(default_factory=list)
    tokens_seen: list[str | None] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def answer(self, code: int, content: object) -> None:
            self.send_response(code)
            self.end_headers()
            self.wfile.write(content.encode() if isinstance(content, str) else json.dumps(content).encode())

        def allowed(self) -> bool:
            given = self.headers.get("Authorization")
            state.tokens_seen.append(given)
            if state.token is None or given == f"Bearer {state.token}":
                return True
            self.answer(403 if given else 401, "Forbidden" if given else "Unauthorized: Missing authentication token")
            return False

        def do_GET(self) -> None:
            if self.allowed():
                name = self.path.removeprefix("/api/jobs/")
                found = [each for each in state.jobs if each["submission_id"] == name]
                self.answer(200, found[0] if name else state.jobs)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.allowed():
                return
            if state.starting:
                state.starting -= 1
                self.answer(500, "No available agent to submit job, please try again later.")
            else:
                state.jobs.append({**body, "status": "RUNNING"})
                self.answer(200, {"submission_id": body["submission_id"]})

        def log_message(self, *_: Any) -> None: ...

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    state.address = f"http://127.0.0.1:{httpd.server_port}"
    yield state
    httpd.shutdown()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "the value")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)


def made(server: Server, tmp_path: Path, **changed: Any) -> Any:
    return job("ray", tmp_path, address=server.address, **changed)


def test_a_job_is_sent_with_the_values_of_its_variables(server: Server, tmp_path: Path) -> None:
    sent = made(server, tmp_path)
    assert "sent as judge-r1-toy-1--1; follow it" in send(sent, tmp_path / "x.json")
    [got] = server.jobs
    assert got["runtime_env"]["env_vars"]["WANDB_API_KEY"] == "the value"
    assert sent.command in shlex.split(got["entrypoint"])[2]
    assert "entrypoint_num_gpus" not in got
    assert isinstance(sent.cluster, RayCluster)
    assert status(sent.cluster, "judge-r1-toy-1--1") == "RUNNING"


def test_a_variable_that_is_not_set(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WANDB_API_KEY")
    with pytest.raises(SubmitFailed, match="passes the variable WANDB_API_KEY, which is not set"):
        send(made(server, tmp_path), tmp_path / "x.json")
    assert server.jobs == []


def test_one_job_of_a_recipe_at_a_time(server: Server, tmp_path: Path) -> None:
    sent = made(server, tmp_path)
    submit(sent, sent.cluster)
    with pytest.raises(JudgeError, match="judge-r1-toy-1--1 is running"):
        submit(sent, sent.cluster)
    server.jobs[0]["status"] = "FAILED"
    assert submit(sent, sent.cluster) == "judge-r1-toy-1--2"


def test_a_token_is_sent_only_where_one_is_asked_for(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "mine")
    request_json(made(server, tmp_path).cluster, "GET", "/api/jobs/")
    assert server.tokens_seen == [None]
    server.token = "mine"
    request_json(made(server, tmp_path).cluster, "GET", "/api/jobs/")
    assert server.tokens_seen == [None, None, "Bearer mine"]


def test_where_a_token_is_found(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.token = "right"
    for name in ("named", "path"):
        (tmp_path / name).write_text("right\n")
    plain = made(server, tmp_path).cluster
    with pytest.raises(JudgeError, match=r"requires a token, and .*\.ray/auth_token cannot be read \(No such file"):
        request_json(plain, "GET", "/api/jobs/")
    request_json(made(server, tmp_path, token_file=str(tmp_path / "named")).cluster, "GET", "/api/jobs/")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "path"))
    request_json(plain, "GET", "/api/jobs/")
    server.token = "another"
    with pytest.raises(JudgeError, match="rejected the token"):
        request_json(plain, "GET", "/api/jobs/")


def test_a_cluster_that_is_still_starting(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_jobs.time, "sleep", lambda _: None)
    server.starting = 2
    sent = made(server, tmp_path)
    assert submit(sent, sent.cluster) == "judge-r1-toy-1--1"
    server.jobs.clear()
    monkeypatch.setattr(ray_jobs, "START_SECONDS", -1.0)
    server.starting = 2
    with pytest.raises(JudgeError, match="No available agent"):
        submit(sent, sent.cluster)


def test_nobody_there(server: Server, tmp_path: Path) -> None:
    cluster = made(server, tmp_path).cluster.model_copy(update={"address": "http://127.0.0.1:1"})
    with pytest.raises(JudgeError, match=r"at http://127.0.0.1:1 did not respond \(.*refused"):
        request_json(cluster, "GET", "/api/jobs/")
