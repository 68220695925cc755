"""Served judges that compute in this process, real models behind a real socket: the server goes on while they play."""

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
from judge_r1.judges.runners.continuous import EngineJudge
from judge_r1.judges.selective import ABSTAINED, SelectiveJudge
from judge_r1.serving.service import Service

LONG = PAIR | {"context": "ana paid 34 crowns . " * 2000}
"""A pair whose one forward pass takes the model below a second or two."""
Make = Callable[[Path], Service]


@pytest.fixture(scope="module")
def folder(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model of random weights, which may read long prompts."""
    folder = shutil.copytree(model_folder, tmp_path_factory.mktemp("long") / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 40_000}))
    told = [ConfidenceRow(schema=1, confidence=0.9, correct=n % 50 > 0, cluster=str(n)) for n in range(400)]
    found = calibrate(told, (0.1, 0.1)).model_dump_json(by_alias=True)
    (folder.parent / "calibration.json").write_text(found)
    return folder


def selective(folder: Path, *, prompt_tokens: int = 800) -> Service:
    """An episode of random weights lasts until its budget, a second or more."""
    options = f"search=false,context=none,prompt=compact,prompt_tokens={prompt_tokens},budget.response_tokens=600"
    return computing(f"selective:calibration={folder.parent / 'calibration.json'}@agentic:{options}@{folder}")


def likelihood(folder: Path, *, prompt_tokens: int = 39_000) -> Service:
    return computing(f"likelihood:prompt_tokens={prompt_tokens},budget.response_tokens=40@{folder}")


def computing(spec: str) -> Service:
    cases = CaseStore()
    return service(served_judge(spec, JudgeBuild("", texts=cases, batch_size=4)), cases=cases, max_concurrency=4)


def ask(server: LiveServer, number: int = 0) -> httpx.Response:
    return httpx.post(f"{server.url}/v1/judge", json=LONG | {"decision": str(number)}, timeout=120)


@pytest.mark.parametrize("make", [selective, likelihood])
def test_the_server_answers_while_games_are_played(make: Make, folder: Path) -> None:
    waits, served = [], make(folder)
    with LiveServer(served) as server, ThreadPoolExecutor(4) as clients, httpx.Client(timeout=60) as watcher:
        watcher.get(f"{server.url}/healthz")
        began = time.monotonic()
        games = [clients.submit(ask, server, number) for number in range(4)]
        while not all(game.done() for game in games):
            asked = time.monotonic()
            assert watcher.get(f"{server.url}/healthz").status_code == 200
            waits.append(time.monotonic() - asked)
            time.sleep(0.01)
        lasted = time.monotonic() - began
    assert {game.result().status_code for game in games} == {200}
    assert len(waits) > 20
    assert max(waits) < lasted / 4


@pytest.mark.parametrize("make", [selective, likelihood])
def test_a_deadline_holds_and_the_next_game_is_played(make: Make, folder: Path) -> None:
    served = make(folder)
    with LiveServer(served) as server:
        began = time.monotonic()
        assert ask(server).status_code == 200
        lasted = time.monotonic() - began
        served.queue.timeout, began = lasted / 10, time.monotonic()
        assert ask(server).status_code == 504
        assert time.monotonic() - began < lasted * 0.6
        served.queue.timeout = 60
        assert ask(server).status_code == 200


@pytest.mark.parametrize("make", [selective, likelihood])
def test_a_prompt_that_is_too_long_is_told_with_the_numbers(make: Callable[..., Service], folder: Path) -> None:
    with LiveServer(make(folder, prompt_tokens=60)) as server:
        answer = ask(server)
    assert answer.status_code == 422
    assert answer.json()["tokens"] > answer.json()["limit"] == 60


def test_games_of_a_selective_judge_share_one_batch_which_ends_with_the_server(folder: Path) -> None:
    served = selective(folder)
    judge = served.judge
    assert isinstance(judge, SelectiveJudge)
    assert isinstance(judge._judge, EngineJudge)
    engine = judge._judge._engine
    with LiveServer(served) as server, ThreadPoolExecutor(4) as clients:
        games = [clients.submit(ask, server, number) for number in range(4)]
        wait_for(lambda: sum(map(bool, engine.batch.rows)) == 4)
        assert {game.result().json()["ended"] for game in games} == {ABSTAINED}
    wait_for(lambda: not engine._thread.is_alive())
