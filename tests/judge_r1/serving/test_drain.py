"""SIGTERM to a real server process: accepted requests are answered, new ones rejected, and the exit status is 0."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from command_server import Command, run, start
from serving_fixture import PAIR, wait_for
from two_nodes import free_port


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=60).status_code == 200
    except httpx.TransportError:
        return False


@contextmanager
def process(*arguments: str | Path, log: Path, code: str = "") -> Iterator[Command]:
    running = start(*arguments, log=log, code=code)
    try:
        yield running
    finally:
        running.kill()


def test_the_command_serves_and_stops(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    url = f"http://127.0.0.1:{port}"
    with process("serve", "--judge", "longer", "--port", str(port), log=log) as server:
        wait_for(lambda: answers(f"{url}/readyz"))
        assert httpx.post(f"{url}/v1/judge", json=PAIR, timeout=60).json()["winner"] == "A"
        for host, status in {f"localhost:{port}": 200, f"[::1]:{port}": 200, f"elsewhere.example:{port}": 400}.items():
            assert httpx.get(f"{url}/healthz", headers={"Host": host}, timeout=60).status_code == status
        server.send_signal(signal.SIGTERM)
        assert server.wait(120) == 0


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
