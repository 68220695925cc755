"""The app on Ray Serve: the shipped configuration, two replicas on a real Ray, a killed replica, and shared cases."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from paths import REPO
from serving_fixture import PAIR, wait_for
from two_nodes import free_port

from judge_r1.client import Client, ServerRefuses
from judge_r1.core.errors import JudgeError
from judge_r1.core.wire import ErrorMessage, JudgeResponse

pytest.importorskip("ray.serve", reason="Ray Serve is in the extra ray-serve")


def test_the_shipped_configuration_is_valid() -> None:
    from ray.serve.schema import ServeDeploySchema

    from judge_r1.serving.ray_serve import ServeArgs

    found = ServeDeploySchema.model_validate(yaml.safe_load((REPO / "clusters" / "ray-serve.yaml").read_text()))
    [application] = found.applications
    assert application.import_path == "judge_r1.serving.ray_serve:build"
    served = ServeArgs.model_validate(application.args)
    assert found.http_options.request_timeout_s > served.timeout
    assert [deployment.name for deployment in application.deployments] == ["Judge"]


def test_bad_args_are_one_sentence() -> None:
    from judge_r1.serving.ray_serve import build

    with pytest.raises(JudgeError, match=r"^args of the Ray Serve application: field judge: Field required$"):
        build({})
    with pytest.raises(JudgeError, match="unknown field 'max_concurency'; did you mean 'max_concurrency'"):
        build({"judge": "longer", "max_concurency": 1})
    application = build({"judge": "longer", "max_concurrency": 3, "queue_size": 5})
    assert application._bound_deployment.max_ongoing_requests > 8


@dataclass(frozen=True)
class Serving:
    """A private Ray Serve in its own session; `ray` is the folder of Ray's logs and sockets."""

    address: str
    process: subprocess.Popen[str]
    ray: Path

    def processes(self) -> dict[int, str]:
        """The command lines of the live processes by pid."""
        listed = subprocess.run(
            ["ps", "-s", str(self.process.pid), "-o", "pid=,stat=,args="], capture_output=True, text=True, timeout=30
        )
        rows = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
        return {int(pid): args for pid, state, args in rows if not state.startswith("Z")}

    def case_store_process(self) -> int:
        """The pid of the replica that holds the cases."""
        [pid] = [pid for pid, args in self.processes().items() if args.startswith("ray::ServeReplica:judge:Cases")]
        return pid


@contextmanager
def started(command: list[str], folder: Path, port: int, **options: Any) -> Iterator[Serving]:
    paths = f"{REPO / 'tests'}{os.pathsep}{REPO}"
    environment = os.environ | {"PYTHONPATH": paths, "RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": str(folder)}
    process = subprocess.Popen(
        command, cwd=REPO, env=environment, stderr=subprocess.DEVNULL, start_new_session=True, text=True, **options
    )
    try:
        yield Serving(f"http://127.0.0.1:{port}", process, folder)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder with a short name: the paths of Ray's sockets in it are limited."""
    path = Path(tempfile.mkdtemp(prefix="jr", dir="/tmp"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def serving(folder: Path) -> Iterator[Serving]:
    port = free_port()
    command = [sys.executable, "-m", "ray_serve_run", str(port), str(folder)]
    with started(command, folder, port, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as found:
        assert found.process.stdin
        assert found.process.stdout
        assert any(line == "ready\n" for line in found.process.stdout)
        yield found
        found.process.stdin.close()
        found.process.wait(90)


def replicas(address: str, **case: str) -> Counter[int]:
    """The number of requests, of 24, that each process answered."""
    with Client(address) as judge:
        found = judge.many([PAIR | case] * 24)
    assert all(isinstance(answer, JudgeResponse) and answer.winner == "A" for answer in found)
    return Counter(int(answer.judge.removeprefix("slow-")) for answer in found if isinstance(answer, JudgeResponse))


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_requests_are_balanced_and_a_killed_replica_is_replaced(serving: Serving) -> None:
    """Each of 50 requests that run while a replica is killed is answered or fails with an error; with the client's
    retries, all are answered."""
    address = serving.address
    before = replicas(address)
    assert len(before) == 2
    assert min(before.values()) >= 6
    victim = next(iter(before))

    async def fifty() -> list[httpx.Response]:
        async with httpx.AsyncClient(timeout=60) as client:
            tasks = [asyncio.create_task(client.post(f"{address}/v1/judge", json=PAIR)) for _ in range(50)]
            until = asyncio.get_running_loop().time() + 30
            while not any(task.done() and task.result().json()["judge"] == f"slow-{victim}" for task in tasks):
                assert asyncio.get_running_loop().time() < until
                await asyncio.sleep(0.01)
            assert sum(not task.done() for task in tasks) > 10  # the kill happens while they run
            os.kill(victim, signal.SIGKILL)
            return await asyncio.gather(*tasks)

    answers = asyncio.run(fifty())
    statuses = Counter(answer.status_code for answer in answers)
    assert set(statuses) <= {200, 500, 503}
    assert statuses[200] > 0  # those of the other replica at least
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


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_every_replica_knows_a_case(serving: Serving) -> None:
    with Client(serving.address) as judge, httpx.Client(base_url=serving.address, timeout=60) as client:
        case_id = judge.put_case("Ana paid 34 crowns.").case_id
        wait_for(lambda: len(replicas(serving.address, case_id=case_id)) == 2, 120)
        for _ in range(12):
            assert client.get("/v1/cases").json() == {"cases": [{"case_id": case_id, "bytes": 19}]}
        assert client.delete(f"/v1/cases/{case_id}").status_code == 204
        gone = judge.many([PAIR | {"case_id": case_id}] * 24)
        assert all(isinstance(found, ErrorMessage) and f"there is no case {case_id}" in found.error for found in gone)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_case_store_that_hangs_and_one_that_died(serving: Serving) -> None:
    with Client(serving.address) as judge, httpx.Client(base_url=serving.address, timeout=60) as client:
        case_id = judge.put_case("Ana paid 34 crowns.").case_id

        def by_id() -> httpx.Response:
            return client.post("/v1/judge", json=PAIR | {"case_id": case_id})

        assert by_id().status_code == 200
        store = serving.case_store_process()
        os.kill(store, signal.SIGSTOP)
        try:
            timed_out = by_id()
            assert replicas(serving.address, context="Ben paid nothing.")  # requests with their own context do not wait
        finally:
            os.kill(store, signal.SIGCONT)
        assert timed_out.status_code == 503
        assert timed_out.json() == {"error": "the case store gave no answer within 10 s: try again"}
        assert int(timed_out.headers["retry-after"]) > 0
        wait_for(lambda: by_id().status_code == 200, 60)

        os.kill(store, signal.SIGKILL)
        found = []

        def replaced() -> bool:
            found.append(by_id().status_code)
            return found[-1] == 404

        wait_for(replaced, 120)
        assert set(found) <= {503, 404}
        assert serving.case_store_process() != store
        assert judge.put_case("Ana paid 34 crowns.").case_id == case_id
        wait_for(lambda: len(replicas(serving.address, case_id=case_id)) == 2, 120)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_serve_run_of_the_shipped_configuration(folder: Path) -> None:
    """The shipped file, with another port and a judge that needs no weights."""
    port, here = free_port(), folder / "run"
    here.mkdir()
    shipped = yaml.safe_load((REPO / "clusters" / "ray-serve.yaml").read_text())
    shipped["http_options"]["port"] = port
    shipped["applications"][0]["args"]["judge"] = "longer"
    (here / "ray-serve.yaml").write_text(yaml.safe_dump(shipped))
    command = [str(Path(sys.executable).with_name("serve")), "run", str(here / "ray-serve.yaml")]

    with started(command, here, port, stdout=subprocess.DEVNULL) as serving:
        wait_for(lambda: is_ready(serving), 180)
        with Client(serving.address) as judge:
            case_id = judge.put_case("Ana paid 34 crowns.").case_id
            by_id = PAIR | {"case_id": case_id}
            found = judge.many([by_id] * 20)
            assert [answer.winner for answer in found if isinstance(answer, JudgeResponse)] == ["A"] * 20
            logs = (here / "ray" / "session_latest" / "logs" / "serve").glob("replica_judge_Judge_*.log")
            assert sorted("POST /v1/judge 200" in log.read_text() for log in logs) == [True, True]
            assert httpx.delete(f"{serving.address}/v1/cases/{case_id}", timeout=60).status_code == 204
            for _ in range(20):
                with pytest.raises(ServerRefuses, match="there is no case") as refused:
                    judge.judge(**by_id)
                assert refused.value.status == 404
        serving.process.send_signal(signal.SIGINT)
        assert serving.process.wait(90) == 0
        wait_for(lambda: not serving.processes(), 60)


def is_ready(serving: Serving) -> bool:
    assert serving.process.poll() is None, "`serve run` has ended"
    try:
        return httpx.get(f"{serving.address}/readyz", timeout=30).status_code == 200
    except httpx.ConnectError:
        return False
