"""Ray's job server: tokens, errors, one running job per recipe. The fake server answers like Ray 2.60;
`test_verl_two_nodes` submits a job to a real one."""

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
from judge_r1.training.launch.ray_jobs import request_json, submit
from judge_r1.training.launch.submit import SubmitFailed, send


@dataclass
class Server:
    """State of the fake server. `token` is required if set; the next `starting` submissions fail as during a start."""

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
            header = self.headers.get("Authorization")
            state.tokens_seen.append(header)
            if state.token is None or header == f"Bearer {state.token}":
                return True
            self.answer(403 if header else 401, "Forbidden" if header else "Unauthorized: Missing authentication token")
            return False

        def do_GET(self) -> None:
            if self.allowed():
                name = self.path.removeprefix("/api/jobs/")
                matches = [each for each in state.jobs if each["submission_id"] == name]
                self.answer(200, matches[0] if name else state.jobs)

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


def ray_job(server: Server, tmp_path: Path, **changed: Any) -> Any:
    return job("ray", tmp_path, address=server.address, **changed)


def test_a_job_has_the_values_of_its_variables(server: Server, tmp_path: Path) -> None:
    new = ray_job(server, tmp_path)
    assert "sent as judge-r1-toy-1-82ac60c1--1; follow it" in send(new, tmp_path / "x.json")
    [body] = server.jobs
    assert body["runtime_env"]["env_vars"]["WANDB_API_KEY"] == "the value"
    assert new.command in shlex.split(body["entrypoint"])[2]
    assert "entrypoint_num_gpus" not in body


def test_an_unset_variable_is_refused(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WANDB_API_KEY")
    with pytest.raises(SubmitFailed, match="passes the variable WANDB_API_KEY, which is not set"):
        send(ray_job(server, tmp_path), tmp_path / "x.json")
    assert server.jobs == []


def test_a_recipe_has_one_running_job(server: Server, tmp_path: Path) -> None:
    new = ray_job(server, tmp_path)
    submit(new, new.cluster)
    with pytest.raises(JudgeError, match="judge-r1-toy-1-82ac60c1--1 is running"):
        submit(new, new.cluster)
    server.jobs[0]["status"] = "FAILED"
    assert submit(new, new.cluster) == "judge-r1-toy-1-82ac60c1--2"
    server.jobs[1]["status"] = "STOPPED"
    del server.jobs[0]  # `ray job delete`
    assert submit(new, new.cluster) == "judge-r1-toy-1-82ac60c1--3"


def test_a_running_job_of_an_older_version_is_found_by_its_recipe(server: Server, tmp_path: Path) -> None:
    """Its name has no hash. Jobs that nobody launched with judge-r1 have no recipe."""
    server.jobs += [
        {"submission_id": "judge-r1-toy-1--1", "status": "RUNNING", "metadata": {"judge_r1_recipe": "Toy/1"}},
        {"submission_id": "other", "status": "RUNNING", "metadata": None},
    ]
    new = ray_job(server, tmp_path)
    with pytest.raises(JudgeError, match="judge-r1-toy-1--1 is running"):
        submit(new, new.cluster)
    server.jobs[0]["metadata"] = {"judge_r1_recipe": "toy-1"}
    assert submit(new, new.cluster) == "judge-r1-toy-1-82ac60c1--1"


def test_a_secret_that_ray_would_change_is_refused(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "a$HOME")
    new = ray_job(server, tmp_path)
    with pytest.raises(JudgeError, match="the value of WANDB_API_KEY holds a \\$ with a name after it"):
        submit(new, new.cluster)
    assert server.jobs == []


def test_a_token_is_sent_only_after_the_server_requires_one(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "mine")
    request_json(ray_job(server, tmp_path).cluster, "GET", "/api/jobs/")
    assert server.tokens_seen == [None]
    server.token = "mine"
    request_json(ray_job(server, tmp_path).cluster, "GET", "/api/jobs/")
    assert server.tokens_seen == [None, None, "Bearer mine"]


def test_sources_of_the_token(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.token = "right"
    for name in ("named", "path"):
        (tmp_path / name).write_text("right\n")
    plain = ray_job(server, tmp_path).cluster
    with pytest.raises(JudgeError, match=r"requires a token, and .*\.ray/auth_token cannot be read \(No such file"):
        request_json(plain, "GET", "/api/jobs/")
    request_json(ray_job(server, tmp_path, token_file=str(tmp_path / "named")).cluster, "GET", "/api/jobs/")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "path"))
    request_json(plain, "GET", "/api/jobs/")
    server.token = "another"
    with pytest.raises(JudgeError, match="rejected the token"):
        request_json(plain, "GET", "/api/jobs/")


def test_submission_waits_for_a_starting_cluster(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_jobs.time, "sleep", lambda _: None)
    server.starting = 2
    new = ray_job(server, tmp_path)
    assert submit(new, new.cluster) == "judge-r1-toy-1-82ac60c1--1"
    server.jobs.clear()
    monkeypatch.setattr(ray_jobs, "START_SECONDS", -1.0)
    server.starting = 2
    with pytest.raises(JudgeError, match="No available agent"):
        submit(new, new.cluster)


def test_an_unreachable_server_is_a_one_line_error(server: Server, tmp_path: Path) -> None:
    cluster = ray_job(server, tmp_path).cluster.model_copy(update={"address": "http://127.0.0.1:1"})
    with pytest.raises(JudgeError, match=r"at http://127.0.0.1:1 did not respond \(.*refused"):
        request_json(cluster, "GET", "/api/jobs/")
