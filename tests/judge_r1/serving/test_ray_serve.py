"""The app on Ray Serve: the shipped configuration, and two replicas on a real Ray, one of which is killed."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml
from live_server import PAIR, wait_for

from judge_r1.client import Client
from judge_r1.errors import JudgeError
from judge_r1.serving.schemas import JudgeResponse

pytest.importorskip("ray.serve", reason="Ray Serve is in the extra ray-serve")
REPO = Path(__file__).resolve().parents[3]


def test_the_shipped_configuration_is_one() -> None:
    from ray.serve.schema import ServeDeploySchema

    from judge_r1.serving.ray_serve import Served

    found = ServeDeploySchema.model_validate(yaml.safe_load((REPO / "clusters" / "ray-serve.yaml").read_text()))
    [application] = found.applications
    assert application.import_path == "judge_r1.serving.ray_serve:build"
    served = Served.model_validate(application.args)
    assert found.http_options.request_timeout_s > served.seconds
    assert [deployment.name for deployment in application.deployments] == ["Judge"]


def test_args_are_told_in_a_sentence() -> None:
    from judge_r1.serving.ray_serve import build

    with pytest.raises(JudgeError, match=r"^args of the Ray Serve application: field judge: Field required$"):
        build({})
    with pytest.raises(JudgeError, match=r"field port: Extra inputs"):
        build({"judge": "longer", "port": 1})
    application = build({"judge": "longer", "running": 3, "waiting": 5})
    assert application._bound_deployment.max_ongoing_requests > 8


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="jr", dir="/tmp"))  # Ray's sockets lie in it, and their names must be short
    environment = os.environ | {"PYTHONPATH": f"{REPO / 'tests'}{os.pathsep}{REPO}", "RAY_USAGE_STATS_ENABLED": "0"}
    process = subprocess.Popen(
        [sys.executable, "-m", "ray_serve_run", str(port), str(folder)],
        cwd=REPO, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True, text=True,
    )  # fmt: skip
    try:
        assert process.stdout
        assert any(line == "ready\n" for line in process.stdout)
        yield f"http://127.0.0.1:{port}"
    finally:
        assert process.stdin
        process.stdin.close()
        try:
            process.wait(90)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)


def replicas(address: str) -> Counter[int]:
    """How many of 24 requests each process has answered."""
    with Client(address) as judge:
        found = judge.many([PAIR] * 24)
    assert all(isinstance(answer, JudgeResponse) and answer.winner == "A" for answer in found)
    return Counter(int(answer.judge.removeprefix("slow-")) for answer in found if isinstance(answer, JudgeResponse))


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_requests_are_spread_and_a_killed_replica_is_replaced(address: str) -> None:
    """Of 50 requests that run when a replica is killed, each is answered or told that it failed; asked again by the
    client, all are answered."""
    before = replicas(address)
    assert len(before) == 2
    assert min(before.values()) >= 6
    victim = next(iter(before))

    async def fifty() -> list[httpx.Response]:
        async with httpx.AsyncClient(timeout=60) as client:
            asked = [asyncio.create_task(client.post(f"{address}/v1/judge", json=PAIR)) for _ in range(50)]
            until = asyncio.get_running_loop().time() + 30
            while not any(task.done() and task.result().json()["judge"] == f"slow-{victim}" for task in asked):
                assert asyncio.get_running_loop().time() < until
                await asyncio.sleep(0.01)
            os.kill(victim, signal.SIGKILL)  # its first game is over, and the next ones have begun
            return await asyncio.gather(*asked)

    answers = asyncio.run(fifty())
    statuses = Counter(answer.status_code for answer in answers)
    assert set(statuses) <= {200, 500, 503}
    assert statuses[200] > 0  # those of the other replica at least
    assert statuses[500] + statuses[503] > 0  # what the killed one was playing
    assert all(answer.json()["winner"] == "A" for answer in answers if answer.status_code == 200)
    assert all(answer.text for answer in answers)

    wait_for(lambda: len(replicas(address)) == 2, 120)
    second = next(iter(replicas(address)))
    with Client(address, concurrency=50) as judge:

        async def killing() -> None:
            await asyncio.sleep(0.6)
            os.kill(second, signal.SIGKILL)

        async def both() -> list[object]:
            found, _ = await asyncio.gather(asyncio.to_thread(judge.many, [PAIR] * 50), killing())
            return list(found)

        found = asyncio.run(both())
    assert all(isinstance(answer, JudgeResponse) and answer.winner == "A" for answer in found)
    assert victim not in replicas(address)
