"""Judges that compute in the server process do not block the event loop (real models, real socket)."""

import json
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from serving_fixture import PAIR, LiveServer, service, wait_for

from judge_r1.core.case_store import CaseStore
from judge_r1.evaluation.calibrate import ConfidenceRow, calibrate
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import served_judge
from judge_r1.judges.runners import TokenJudge
from judge_r1.judges.selective import ABSTAINED, SelectiveJudge
from judge_r1.serving.service import Service

LONG = PAIR | {"context": "ana paid 34 crowns . " * 1000}
"""One forward pass of this pair takes the test model half a second."""
Make = Callable[[Path], Service]


@pytest.fixture(scope="module")
def folder(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The random-weights model with a longer context, and a calibration file."""
    folder = shutil.copytree(model_folder, tmp_path_factory.mktemp("long") / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 40_000}))
    rows = [ConfidenceRow(schema=1, confidence=0.9, correct=n % 50 > 0, cluster=str(n)) for n in range(400)]
    calibration = calibrate(rows, (0.1, 0.1)).model_dump_json(by_alias=True)
    (folder.parent / "calibration.json").write_text(calibration)
    return folder


def selective(folder: Path, *, prompt_tokens: int = 800) -> Service:
    """Episodes of random weights last until their budget."""
    options = f"search=false,context=none,prompt=compact,prompt_tokens={prompt_tokens},budget.response_tokens=300"
    return local_service(f"selective:calibration={folder.parent / 'calibration.json'}(agentic:{options}@{folder})")


def likelihood(folder: Path, *, prompt_tokens: int = 39_000) -> Service:
    return local_service(f"likelihood:prompt_tokens={prompt_tokens},budget.response_tokens=40@{folder}")


def local_service(spec: str) -> Service:
    cases = CaseStore()
    return service(served_judge(spec, JudgeBuild("", texts=cases, batch_size=4)), cases=cases, max_concurrency=4)


def post_judge(server: LiveServer, number: int = 0) -> httpx.Response:
    return httpx.post(f"{server.url}/v1/judge", json=LONG | {"decision": str(number)}, timeout=120)


@pytest.mark.parametrize("make", [selective, likelihood])
def test_the_server_responds_while_judges_compute(make: Make, folder: Path) -> None:
    waits, served = [], make(folder)
    with LiveServer(served) as server, ThreadPoolExecutor(4) as clients, httpx.Client(timeout=60) as watcher:
        watcher.get(f"{server.url}/healthz")
        started = time.monotonic()
        responses = [clients.submit(post_judge, server, number) for number in range(4)]
        while not all(response.done() for response in responses):
            sent = time.monotonic()
            assert watcher.get(f"{server.url}/healthz").status_code == 200
            waits.append(time.monotonic() - sent)
            time.sleep(0.01)
        duration = time.monotonic() - started
    assert {response.result().status_code for response in responses} == {200}
    assert len(waits) > 20
    assert max(waits) < duration / 4


@pytest.mark.parametrize("make", [selective, likelihood])
def test_a_deadline_holds_and_the_next_request_succeeds(make: Make, folder: Path) -> None:
    served = make(folder)
    with LiveServer(served) as server:
        started = time.monotonic()
        assert post_judge(server).status_code == 200
        duration = time.monotonic() - started
        served.queue.timeout, started = duration / 10, time.monotonic()
        assert post_judge(server).status_code == 504
        assert time.monotonic() - started < duration * 0.6
        served.queue.timeout = 60
        assert post_judge(server).status_code == 200


def test_requests_of_a_selective_judge_share_one_batch_that_stops_with_the_server(folder: Path) -> None:
    served = selective(folder)
    judge = served.judge
    assert isinstance(judge, SelectiveJudge)
    assert isinstance(judge._judge, TokenJudge)
    engine = judge._judge._model.model
    with LiveServer(served) as server, ThreadPoolExecutor(4) as clients:
        responses = [clients.submit(post_judge, server, number) for number in range(4)]
        wait_for(lambda: sum(map(bool, engine.batch.rows)) == 4)
        assert {response.result().json()["ended"] for response in responses} == {ABSTAINED}
    wait_for(lambda: not engine._thread.is_alive())
