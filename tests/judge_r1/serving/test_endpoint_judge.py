"""A served judge at an endpoint: one client for all its requests, and the limit of the server."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from fake_judge_endpoint import JudgeServer, chat_completion
from serving_fixture import PAIR, LiveServer, service

from judge_r1.core.case_store import CaseStore
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import served_judge
from judge_r1.serving.service import Service

ANSWER = '{"comparison": "A>B", "violated_principles": [2]}'
TAGGED = f"<answer>{ANSWER}"
SEARCH = "<search>who paid"
SCORED = '[{"checklist_id": 0, "evaluation_score": 1}]'
RATED = "1) Fluency Issues:\nFINAL Fluency Score: 4"


def endpoint_service(spec: str, concurrency: int) -> Service:
    cases = CaseStore()
    judge = served_judge(spec, JudgeBuild("", texts=cases, batch_size=concurrency))
    return service(judge, cases=cases, max_concurrency=concurrency)


def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    """Searches once, if the prompt offers it."""
    if "<search>" not in body["messages"][0]["content"]:
        return chat_completion(ANSWER)
    return chat_completion(TAGGED if len(body["messages"]) > 2 else SEARCH)


@pytest.mark.parametrize(("judge", "turns"), [("direct", 1), ("agentic:retriever=bm25", 2)])
def test_requests_share_connections_and_the_limit(judge: str, turns: int) -> None:
    with JudgeServer(answer, wait=lambda: time.sleep(0.1)) as endpoint:
        served = endpoint_service(f"{judge}@{endpoint.url}#toy", 4)
        with LiveServer(served) as server, ThreadPoolExecutor(12) as pool:

            def post(number: int) -> dict[str, Any]:
                pair = PAIR | {"context": f"Ana paid {number} crowns.", "decision": str(number)}
                found: dict[str, Any] = httpx.post(f"{server.url}/v1/judge", json=pair, timeout=60).json()
                return found

            found = list(pool.map(post, range(24)))
        assert [(one["winner"], one["searches"]) for one in found] == [("A", turns - 1)] * 24
        for number, one in enumerate(found):
            assert {passage["text"] for passage in one["evidence"]} <= {f"Ana paid {number} crowns."}
        assert len(endpoint.bodies) == turns * 24
        assert endpoint.accepted <= 5  # the question for the slots of the server may take one of its own
        assert endpoint.peak == 4


@pytest.mark.parametrize(
    ("judge", "reply"), [("checklist:rubric=RUBRIC", SCORED), ("memo:metrics=fluency,final=false", RATED)]
)
def test_requests_of_judges_without_a_batch_run_concurrently_too(judge: str, reply: str, tmp_path: Path) -> None:
    (tmp_path / "rubric.json").write_text('["Is it short?"]')
    judge = judge.replace("RUBRIC", str(tmp_path / "rubric.json"))
    with JudgeServer(lambda path, body: chat_completion(reply), wait=lambda: time.sleep(0.05)) as endpoint:
        served = endpoint_service(f"{judge}@{endpoint.url}#toy", 4)
        with LiveServer(served) as server, ThreadPoolExecutor(8) as pool:

            def post(number: int) -> Any:
                pair = PAIR | {"reasoning_a": f"Ana paid {number}.", "reasoning_b": f"Ben paid {number}."}
                return httpx.post(f"{server.url}/v1/judge", json=pair, timeout=60).json()

            assert {one["winner"] for one in pool.map(post, range(16))} == {"tie"}
        assert endpoint.accepted <= 5  # the question for the slots of the server may take one of its own
        assert endpoint.peak == 4
