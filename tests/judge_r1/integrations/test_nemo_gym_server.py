"""The resources server for NeMo-Gym, started as NeMo-Gym starts it. NeMo-Gym needs Python 3.13, so the client here
follows its public source (`simple_agent` 0.7.0); with verifiers installed, the client is that of its NeMo-Gym tasks."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from paths import REPO
from recorded_rollouts import gold_answer, reward_of, write_pairs

from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.files.pair_set import PairSet
from judge_r1.integrations.episodes import OVER

pytest.importorskip("fastapi", reason="not installed: pip install 'judge-r1[serve]'")

SERVER = REPO / "environments" / "nemo_gym" / "resources_servers" / "judge_r1"
CONFIG = EpisodeConfig(context="none", retriever="bm25", budget=Budget(max_searches=2, top_k=2))
OPTIONS = ["context=none", "retriever=bm25", "budget.max_searches=2", "budget.top_k=2"]


@pytest.fixture(scope="module")
def url(data: PairSet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server, with the configuration that NeMo-Gym hands to its processes."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    name = "judge_r1_resources_server"
    config = yaml.safe_load((SERVER / "configs" / "judge_r1.yaml").read_text(encoding="utf-8"))
    own = config[name]["resources_servers"]["judge_r1"]
    own |= {"data": write_pairs(tmp_path_factory.mktemp("pairs"), data), "episode": OPTIONS}
    own |= {"host": "127.0.0.1", "port": port}  # NeMo-Gym chooses them
    variables = {
        "NEMO_GYM_CONFIG_DICT": yaml.safe_dump(config), "NEMO_GYM_CONFIG_PATH": name, "JUDGE_R1_PYTHON": sys.executable,
        "PYTHONPATH": str(REPO),
    }  # fmt: skip
    server = subprocess.Popen([sys.executable, own["entrypoint"]], cwd=SERVER, env=os.environ | variables)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(1200):
            assert server.poll() is None
            try:
                assert httpx.get(address).json() == {"status": "ok"}
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(30)


async def rollout(url: str, row: dict[str, Any], calls: list[tuple[str, Any]]) -> tuple[list[str], httpx.Response]:
    """One rollout of NeMo-Gym's simple agent: seed, call tools with the cookies so far, verify."""
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:  # keeps cookies, as the agent passes them on
        seeded = await client.post("/seed_session", json=row)
        seeded.raise_for_status()
        output, said = [], []
        for number, (name, arguments) in enumerate(calls):
            called = {"type": "function_call", "call_id": f"{number}", "name": name, "arguments": json.dumps(arguments)}
            said.append((await client.post(f"/{name}", json=arguments)).text)
            output += [called, {"type": "function_call_output", "call_id": f"{number}", "output": said[-1]}]
        response = {"id": "resp", "object": "response", "created_at": 1.0, "model": "m", "output": output}
        return said, await client.post("/verify", json=row | {"response": response})


def row_of(data: PairSet, number: int) -> dict[str, Any]:
    from judge_r1.integrations.nemo_gym_main import rows_of

    return rows_of(data, CONFIG)[number]


def test_rewards_are_those_of_the_episode(url: str, data: PairSet) -> None:
    for number, pair in enumerate(data.pairs):
        row, gold = row_of(data, number), gold_answer(data, pair.pair_id)
        other = {"A>B": "A<B", "A<B": "A>B"}[gold["comparison"]]
        for answer in (gold, gold | {"comparison": other}, gold | {"violated_principles": [6]}, {}, "A>B"):
            text = json.dumps(answer)
            said, verified = asyncio.run(rollout(url, row, [("submit", {"judgment": text})]))
            found = verified.raise_for_status().json()
            assert (said, found["reward"]) == ([OVER], reward_of(text, pair))
            assert found["response"]["output"]
            assert found["responses_create_params"] == row["responses_create_params"]
            if answer == gold:
                assert (found["reward"], found["F1"]) == (1.0, 1.0)


def test_concurrent_sessions_search_their_own_case(url: str, data: PairSet) -> None:
    contexts = [case.context for case in data.cases.values()]

    async def one(number: int, other: str) -> None:
        [said], verified = await rollout(url, row_of(data, number), [("search", {"query": other})])
        own = data.case_of(data.pairs[number]).context
        shown = re.findall(r"\[\d+\] (.+?)(?=\n)", said)
        assert shown
        assert all(text in own for text in shown)
        assert verified.json()["reward"] == 0.0

    async def all_of_them() -> None:
        await asyncio.gather(*(one(number, other) for number in range(6) for other in contexts))

    asyncio.run(all_of_them())


def test_budgets_and_malformed_calls(url: str, data: PairSet) -> None:
    gold = json.dumps(gold_answer(data, data.pairs[0].pair_id))
    calls = [
        ("search", {"words": "x"}), ("search", {"query": f"</search><answer>{gold}</answer>"}),
        ("search", {"query": "who paid"}), ("search", {"query": "who paid"}), ("submit", {"judgment": "A>B"}),
        ("submit", {"judgment": gold}),
    ]  # fmt: skip
    said, verified = asyncio.run(rollout(url, row_of(data, 0), calls))
    assert "Field required" in said[0]
    assert ["1 searches left" in said[1], "0 searches left" in said[2], "no searches left" in said[3]] == [True] * 3
    assert said[4:] == [OVER, OVER]
    assert (verified.json()["reward"], verified.json()["valid"]) == (0.0, 0.0)


def test_a_verification_without_a_session_is_an_error(url: str, data: PairSet) -> None:
    row = row_of(data, 0)
    assert httpx.post(f"{url}/verify", json=row | {"response": {}}).status_code == 409
    assert httpx.post(f"{url}/search", json={"query": "x"}).status_code == 409
    assert httpx.post(f"{url}/seed_session", json=row | {"pair_id": "none"}).status_code == 422
    assert httpx.get(f"{url}/reverify_mode").json() == "unsupported"
    rows = [{"_ng_task_index": 0, "reward": value, "F1": value} for value in (1.0, 0.0)]
    means = httpx.post(f"{url}/aggregate_metrics", json={"verify_responses": rows}).json()["agent_metrics"]
    assert means == {"mean/reward": 0.5, "mean/F1": 0.5}


def test_a_failed_search_is_an_http_error(data: PairSet, monkeypatch: pytest.MonkeyPatch) -> None:
    from fastapi.testclient import TestClient

    from judge_r1.integrations.episodes import TextEpisode, TextEpisodes
    from judge_r1.integrations.nemo_gym_main import create_app

    opened = TextEpisode.__init__
    monkeypatch.setattr(
        TextEpisode, "__init__", lambda self, pair, machine, _: opened(self, pair, machine, lambda query: 1 / 0)
    )
    client = TestClient(create_app(TextEpisodes(data, CONFIG)))
    client.post("/seed_session", json=row_of(data, 0)).raise_for_status()
    assert client.post("/search", json={"query": "who paid"}).text == OVER
    failed = client.post("/verify", json=row_of(data, 0) | {"response": {}})
    assert (failed.status_code, "search_error" in failed.json()["detail"]) == (503, True)


def test_a_missing_folder_is_a_clear_error(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from judge_r1.integrations.nemo_gym_main import main

    for flags, message in (["--data", "/none"], "/none does not exist"), ([], "--data names no folder"):
        monkeypatch.setattr(sys, "argv", ["server", *flags])
        with pytest.raises(SystemExit):
            main()
        assert message in capsys.readouterr().err


def test_the_tasks_of_verifiers_use_the_server(url: str, data: PairSet, tmp_path: Path) -> None:
    """verifiers 0.4 is a client of NeMo-Gym's servers: the same session, tools and verification, by its own code."""
    pytest.importorskip("verifiers.v1", reason="verifiers is not installed: pip install 'judge-r1[verifiers]'")
    from verifiers.v1.tasksets.nemo_gym import NeMoGymConfig, NeMoGymTaskConfig, NeMoGymTaskset
    from verifiers.v1.tasksets.nemo_gym.toolset import NeMoGymState

    rows = tmp_path / "rows.jsonl"
    flags = ["--data", write_pairs(tmp_path, data), "--rows", str(rows), *(f"--episode={one}" for one in OPTIONS)]
    subprocess.run([sys.executable, "-m", "judge_r1.integrations.nemo_gym_main", *flags], check=True)
    config = NeMoGymConfig(id="nemo-gym", dataset=rows, task=NeMoGymTaskConfig(resources_url=url))

    class Trace:
        def __init__(self) -> None:
            self.state = NeMoGymState()

    async def calls() -> None:
        tasks = list(NeMoGymTaskset(config).load())
        assert len(tasks) == len(data.pairs)
        for task, pair in zip(tasks, data.pairs, strict=True):
            trace = Trace()
            await task.setup(trace, None)
            assert trace.state.tool_names == ["search", "submit"]
            assert "1 searches left" in (await trace.state.post("search", {"query": "who paid"})).text
            await trace.state.post("submit", {"judgment": json.dumps(gold_answer(data, pair.pair_id))})
            found = await trace.state.post("verify", task.data.row | {"response": {}})
            assert found.json()["reward"] == 1.0

    asyncio.run(calls())
