"""SIGTERM to a real server process: accepted requests are answered, new ones rejected, and the exit status is 0."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from command_server import run
from paths import REPO, SUPPORT
from serving_fixture import PAIR, wait_for

from judge_r1.serving.middleware.api_keys import add_key
from judge_r1.training.network import free_port


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).status_code == 200
    except httpx.TransportError:
        return False


@contextmanager
def process(*command: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    path = os.pathsep.join([str(SUPPORT), str(REPO), os.environ.get("PYTHONPATH", "")])
    with log.open("wb") as out:
        running = subprocess.Popen(
            [sys.executable, *command], stdout=out, stderr=out, env={**os.environ, "PYTHONPATH": path}
        )
        try:
            yield running
        finally:
            running.kill()
            running.wait(20)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_running_and_waiting_requests_are_answered(number: signal.Signals, tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    key = add_key(tmp_path / "keys.json", "ana")
    url, headers = f"http://127.0.0.1:{port}", {"Authorization": f"Bearer {key}"}
    with process(str(SUPPORT / "serve_blocked_judge.py"), str(port), str(tmp_path / "keys.json"), log=log) as server:
        wait_for(lambda: answers(f"{url}/readyz"), 60)
        with ThreadPoolExecutor(6) as pool:
            responses = [
                pool.submit(httpx.post, f"{url}/v1/judge", json=PAIR, headers=headers, timeout=30) for _ in range(6)
            ]

            def all_accepted() -> bool:
                lines = httpx.get(f"{url}/metrics", headers=headers, timeout=5).text.splitlines()
                return {"judge_r1_games_running 2.0", "judge_r1_games_waiting 4.0"} <= set(lines)

            wait_for(all_accepted)
            server.send_signal(number)
            time.sleep(0.3)
            with suppress(httpx.ConnectError):  # the socket may be closed already
                assert httpx.post(f"{url}/v1/judge", json=PAIR, headers=headers, timeout=5).status_code == 503
            assert [response.result(30).status_code for response in responses] == [200] * 6
        assert server.wait(30) == 0
    logged = log.read_text()
    assert "POST /v1/judge" in logged  # requests are logged
    assert key not in logged
    assert "Traceback" not in logged


def test_the_command_serves_and_stops(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    url = f"http://127.0.0.1:{port}"
    with process("-m", "judge_r1.cli", "serve", "--judge", "longer", "--port", str(port), log=log) as server:
        wait_for(lambda: answers(f"{url}/readyz"), 60)
        assert httpx.post(f"{url}/v1/judge", json=PAIR, timeout=20).json()["winner"] == "A"
        for host, status in {f"localhost:{port}": 200, f"[::1]:{port}": 200, f"elsewhere.example:{port}": 400}.items():
            assert httpx.get(f"{url}/healthz", headers={"Host": host}, timeout=20).status_code == status
        server.terminate()
        assert server.wait(30) == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--host", "0.0.0.0"], "without --keys anyone may use it"),
        (["--keys", "/nowhere/keys.json"], "there is no file /nowhere/keys.json"),
        (["--case-mib", "300"], "--case-mib 300 exceeds --cases-mib 256"),
        (["--traces", "/dev/null/x"], "--traces /dev/null/x"),
    ],
)
def test_bad_options_are_rejected_with_one_sentence(options: list[str], says: str, tmp_path: Path) -> None:
    done = run("serve", "--judge", "longer", *options)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert says in line
