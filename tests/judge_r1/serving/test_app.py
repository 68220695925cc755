"""The HTTP API over ASGI: responses and errors."""

import asyncio
import json
import re
import resource
from pathlib import Path
from typing import Any

import httpx
import pytest
from fake_judge_endpoint import JudgeServer, chat_completion
from serving_fixture import PAIR, BlockedJudge, InvalidJudge, run, service
from trace_judge import ALWAYS_A

from judge_r1.core.case_store import CaseStore
from judge_r1.judges.base import JudgeBuild, run_all
from judge_r1.judges.panel import make_judge, served_judge
from judge_r1.judges.result import request_of
from judge_r1.serving.app import create_app
from judge_r1.serving.middleware.body_limit import BodyLimitMiddleware, Limits
from judge_r1.serving.middleware.shutdown import Shutdown
from judge_r1.serving.request_traces import TraceLog
from judge_r1.serving.service import Service


def post(served: Service, path: str, body: Any) -> httpx.Response:
    async def talk(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post(path, json=body)

    return run(served, talk)


def test_a_batch_is_answered_in_order_with_its_errors() -> None:
    swapped = {"reasoning_a": PAIR["reasoning_b"], "reasoning_b": PAIR["reasoning_a"]}
    body = {"requests": [PAIR, swapped, PAIR | {"case_id": "nowhere"}, PAIR] * 8}
    results = post(service("longer", max_concurrency=2, queue_size=2), "/v1/judge/batch", body).json()["results"]
    assert [entry.get("winner") for entry in results] == ["A", "B", None, "A"] * 8
    assert (results[2]["error"], results[2]["status"]) == (
        "there is no case nowhere: upload it with PUT /v1/cases first",
        404,
    )


def test_batches_and_scores_wait_for_a_full_queue() -> None:
    blocked = BlockedJudge()
    served = service(blocked, max_concurrency=2, queue_size=2)

    async def talk(client: httpx.AsyncClient) -> tuple[list[Any], Any]:
        filling = [asyncio.create_task(client.post("/v1/judge", json=PAIR)) for _ in range(4)]
        while served.queue.waiting < 2:
            await asyncio.sleep(0.005)
        assert (await client.post("/v1/judge", json=PAIR)).status_code == 429
        batch = asyncio.create_task(client.post("/v1/judge/batch", json={"requests": [PAIR] * 6}))
        score = asyncio.create_task(client.post("/v1/score", json={"prompt": "p", "candidates": ["one", "two"]}))
        await asyncio.sleep(0.1)
        assert not batch.done()
        blocked.release.set()
        assert [answer.status_code for answer in await asyncio.gather(*filling)] == [200] * 4
        return (await batch).json()["results"], (await score).json()

    results, scores = run(served, talk)
    assert [entry.get("winner") for entry in results] == ["A"] * 6
    assert (scores["games"], scores["invalid"]) == (2, 0)


def test_a_failed_request_does_not_affect_the_rest_of_its_batch() -> None:
    class Fails(BlockedJudge):
        async def judge(self, requests: Any) -> Any:
            if requests[0].task.decision == "fail":
                raise RuntimeError("secret")
            async for output in super().judge(requests):
                yield output

    judge = Fails()
    judge.release.set()
    answer = post(
        service(judge, max_concurrency=2), "/v1/judge/batch", {"requests": [PAIR, PAIR | {"decision": "fail"}, PAIR]}
    )
    assert [entry.get("winner") for entry in answer.json()["results"]] == ["A", None, "A"]
    failed = answer.json()["results"][1]
    assert (failed["error"], failed["status"]) == ("the server failed", 500)


def test_a_case_is_uploaded_judged_listed_and_deleted() -> None:
    async def talk(client: httpx.AsyncClient) -> None:
        put = (await client.put("/v1/cases", json={"context": "café"})).json()
        assert put["bytes"] == 5
        case_id = put["case_id"]
        assert (await client.put("/v1/cases", json={"context": "café"})).json() == put
        assert (await client.get("/v1/cases")).json() == {"cases": [put]}
        assert (await client.get(f"/v1/cases/{case_id}")).json()["context"] == "café"
        assert (await client.post("/v1/judge", json=PAIR | {"case_id": case_id})).json()["winner"] == "A"
        assert (await client.delete(f"/v1/cases/{case_id}")).status_code == 204
        for gone in (client.get(f"/v1/cases/{case_id}"), client.delete(f"/v1/cases/{case_id}")):
            assert (await gone).status_code == 404
        assert (await client.post("/v1/judge", json=PAIR | {"case_id": case_id})).status_code == 404

    run(service("longer"), talk)


def test_a_request_that_is_not_valid_fails_alone_in_a_batch() -> None:
    """With the status and the sentence that it has as a request of its own."""
    odd: list[Any] = [PAIR | {"contxt": "c"}, {"reasoning_a": "x"}, PAIR | {"reasoning_b": " "}, PAIR | {"case_id": 7}]
    entries = [PAIR, *odd, 7, None, PAIR]
    app = service("longer")
    answer = post(app, "/v1/judge/batch", {"requests": entries})
    assert answer.status_code == 200
    first, *failed, last = answer.json()["results"]
    assert first["winner"] == last["winner"] == "A"
    assert [entry["status"] for entry in failed] == [422] * 6
    assert [entry["error"] for entry in failed[:4]] == [post(app, "/v1/judge", one).json()["error"] for one in odd]
    assert "should be a valid dictionary" in failed[4]["error"]


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/v1/judge", {"reasoning_a": "x"}, 422, "reasoning_b: Field required"),
        ("/v1/judge", PAIR | {"reasoning_a": " "}, 422, "reasoning_a: must not be blank"),
        ("/v1/judge", PAIR | {"reasoning_a": ""}, 422, "reasoning_a: must not be blank"),
        ("/v1/judge/", PAIR, 404, "Not Found"),
        ("/v1/judge", PAIR | {"reasoning": "x"}, 422, "the body: unknown field 'reasoning'; did you mean 'reasoning_"),
        ("/v1/judge", PAIR | {"x" * 999: 1}, 422, f"unknown field '{'x' * 80}'; available: allow_unread, case_id, "),
        ("/v1/judge/batch", {"requests": PAIR}, 422, "requests: Input should be a valid list"),
        ("/v1/score", {"promt": "p", "candidates": []}, 422, "unknown field 'promt'; did you mean 'prompt'?"),
        (
            "/get_reward?sizes=2",
            {"query": ["p"], "prompts": ["p"], "labels": [""]},
            422,
            "unknown field 'sizes'; did you mean 'size'?",
        ),
        ("/v1/judge", PAIR | {"context": "a", "case_id": "b"}, 422, "exclude each other"),
        ("/v1/judge", PAIR | {"domain": "Legal\n"}, 422, "domain"),
        ("/v1/judge", PAIR | {"context": "é" * 60}, 413, "the case has 120 bytes: the limit is 100"),
        ("/v1/judge", PAIR | {"context": "x" * 4000}, 413, "the body exceeds the limit of 2000 bytes"),
        ("/v1/judge/batch", {"requests": [PAIR] * 4}, 413, "4 requests in a batch: the limit is 3"),
        ("/v1/judge/batch", {"requests": []}, 422, "requests"),
        ("/v1/score", {"prompt": "p", "candidates": ["a"]}, 422, "one candidate cannot be compared"),
        ("/v1/score", {"prompt": "p", "candidates": ["a"] * 4}, 413, "4 candidates: the limit of one request is 3"),
        ("/v1/nothing", {}, 404, "Not Found"),
    ],
)
def test_a_bad_request_is_rejected_with_one_sentence(path: str, body: Any, status: int, says: str) -> None:
    limits = Limits(body=2000, case=100, batch=3, candidates=3)
    answer = post(service("longer", limits=limits), path, body)
    assert answer.status_code == status
    assert says in answer.json()["error"]


def test_the_api_docs_load_nothing_from_other_hosts() -> None:
    async def talk(client: httpx.AsyncClient) -> None:
        page = (await client.get("/docs")).text
        loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
        assert len(loaded) >= 2
        for address in loaded:
            assert (await client.get(address)).status_code == 200, address
        assert "http" not in re.sub(r"http://\S*judge", "", page)

    run(service("longer"), talk)


@pytest.mark.parametrize(
    ("ended", "status"), [("infrastructure_no_answer", 502), ("prompt_too_long", 200), ("no_answer", 200)]
)
def test_the_reason_of_a_missing_verdict(ended: str, status: int) -> None:
    """An infrastructure failure is an HTTP error; an invalid answer is a response that names its reason."""
    answer = post(service(InvalidJudge(ended)), "/v1/judge", PAIR)
    assert answer.status_code == status
    if status == 200:
        assert (answer.json()["valid"], answer.json()["winner"], answer.json()["ended"]) == (False, None, ended)


def test_a_full_queue_and_a_deadline() -> None:
    blocked = BlockedJudge()

    async def talk(client: httpx.AsyncClient) -> list[httpx.Response]:
        return await asyncio.gather(*(client.post("/v1/judge", json=PAIR) for _ in range(4)))

    served = service(blocked, max_concurrency=1, queue_size=2, timeout=0.3)
    answers = run(served, talk)
    assert sorted(answer.status_code for answer in answers) == [429, 504, 504, 504]
    [rejected] = [answer for answer in answers if answer.status_code == 429]
    assert int(rejected.headers["retry-after"]) >= 1
    assert served.queue.running == served.queue.waiting == blocked.running == 0


def test_cases_in_use_are_not_evicted() -> None:
    blocked = BlockedJudge()
    served = service(blocked, cases=CaseStore(max_bytes=100), max_concurrency=1)

    async def talk(client: httpx.AsyncClient) -> None:
        tasks = [asyncio.create_task(client.post("/v1/judge", json=PAIR | {"context": c * 40})) for c in "ab"]
        while served.queue.waiting < 1:
            await asyncio.sleep(0.005)
        in_use = set(served.local_cases)
        refused = await client.put("/v1/cases", json={"context": "c" * 40})
        assert (refused.status_code, "no space" in refused.json()["error"]) == (503, True)
        assert int(refused.headers["retry-after"]) > 0
        blocked.release.set()
        assert [(await task).status_code for task in tasks] == [200, 200]
        assert set(served.local_cases) == in_use
        assert (await client.put("/v1/cases", json={"context": "c" * 40})).status_code == 200

    run(served, talk)


def test_a_prompt_that_is_too_long_is_rejected_with_its_length(model_folder: Path) -> None:
    options = "context=full,prompt=compact,retriever=bm25,prompt_tokens=300,budget.response_tokens=8"
    options += ",budget.observation_tokens=200"
    cases = CaseStore()
    judge = served_judge(f"agentic:{options}@{model_folder}", JudgeBuild("", texts=cases, batch_size=2))
    answer = post(service(judge, cases=cases), "/v1/judge", PAIR | {"context": "ana paid 34. " * 300})
    assert answer.status_code == 422
    problem = answer.json()
    assert problem["limit"] == 300 < problem["tokens"]
    assert str(problem["tokens"]) in problem["error"]


def test_the_trace_log_holds_every_judgment(tmp_path: Path) -> None:
    body = PAIR | {"context": "Ana paid."}
    answer = post(service("longer", trace_log=TraceLog(tmp_path / "traces")), "/v1/judge", body).json()
    file = tmp_path / "traces" / "traces.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
    [line] = file.read_text().splitlines()
    row = json.loads(line)
    assert (row["id"], row["verdict"]["winner"], row["owner"]) == (answer["id"], "A", "")
    assert row["item"]["candidates"] == list(PAIR.values())


def test_a_full_disk_loses_a_trace_but_no_judgment(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "traces.jsonl").symlink_to("/dev/full")

    async def talk(client: httpx.AsyncClient) -> str:
        for _ in range(2):
            assert (await client.post("/v1/judge", json=PAIR)).json()["winner"] == "A"
        return (await client.get("/metrics")).text

    assert "judge_r1_traces_lost_total 2.0" in run(service("longer", trace_log=TraceLog(tmp_path)), talk).splitlines()
    assert caplog.text.count("No space left on device") == 1


def test_a_torn_trace_line_does_not_damage_the_next(tmp_path: Path) -> None:
    [output] = run_all(make_judge("longer", JudgeBuild("")), [request_of("one", CaseStore(), **PAIR)])
    traces, file = TraceLog(tmp_path), tmp_path / "traces.jsonl"
    assert traces.write(output, "ana")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 9, hard))
    try:
        assert not traces.write(output, "ben")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert traces.write(output, "eva")
    traces.close()
    assert [json.loads(line)["owner"] for line in file.read_text().splitlines()] == ["ana", "eva"]
    file.write_bytes(file.read_bytes()[:-9])  # as a kill leaves it
    traces = TraceLog(tmp_path)
    assert traces.write(output, "fay")
    traces.close()
    assert [json.loads(line)["owner"] for line in file.read_text().splitlines()] == ["ana", "fay"]


def examples(document: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """(method, path, body) of each example of a request in an OpenAPI document."""
    found = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content is None:
                continue
            schema = content["schema"]
            if "$ref" in schema:
                schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
            found += [(method, path, body) for body in schema["examples"]]
    return found


def test_the_examples_of_the_openapi_document_are_accepted() -> None:
    with JudgeServer(lambda path, body: chat_completion(ALWAYS_A)) as model:
        _accepted(service(make_judge(f"direct@{model.url}#m", JudgeBuild(""))))


def _accepted(served: Service) -> None:
    document = create_app(served).openapi()
    found = examples(document)
    assert {path for _, path, _ in found} == {
        "/v1/judge", "/v1/judge/batch", "/v1/judge/stream", "/v1/score", "/v1/cases", "/v1/chat/completions",
        "/v1/groups/score", "/get_reward", "/v1/rewards/slime",
    }  # fmt: skip
    sizes = {"/v1/groups/score": 8, "/get_reward": 2, "/v1/rewards/slime": 2}

    async def talk(client: httpx.AsyncClient) -> list[int]:
        works = [
            client.request(method, path, json=body, params={"size": sizes[path]} if path in sizes else None)
            for method, path, body in found
            for _ in range(sizes.get(path, 1))
        ]
        return [answer.status_code for answer in await asyncio.gather(*works)]

    assert set(run(served, talk)) == {200}


def test_metrics_count_judgments_requests_and_cases() -> None:
    served = service("longer")

    async def talk(client: httpx.AsyncClient) -> str:
        for body in (PAIR, PAIR | {"context": "1234567"}, {}):
            await client.post("/v1/judge", json=body)
        assert (await client.get("/readyz")).json() == {"ready": True}
        return (await client.get("/metrics")).text

    lines = run(served, talk).splitlines()
    for line in (
        'judge_r1_judgments_total{outcome="A"} 2.0',
        'judge_r1_requests_total{route="/v1/judge",status="200"} 2.0',
        'judge_r1_requests_total{route="/v1/judge",status="422"} 1.0',
        "judge_r1_wait_seconds_count 2.0",
        "judge_r1_judgment_seconds_count 2.0",
        "judge_r1_cases 1.0",
        "judge_r1_case_bytes 7.0",
        "judge_r1_judgments_running 0.0",
        "judge_r1_judgments_waiting 0.0",
    ):
        assert line in lines
    assert not served.ready  # the lifespan is over


def test_tokens_are_counted(model_folder: Path) -> None:
    options = "context=none,search=false,prompt=compact,retriever=bm25,budget.response_tokens=8"
    judge = served_judge(f"agentic:{options}@{model_folder}", JudgeBuild("", texts=CaseStore(), batch_size=2))
    served = service(judge)

    async def talk(client: httpx.AsyncClient) -> tuple[Any, str]:
        call = {"model": "judge-r1", "messages": [{"role": "user", "content": "judge"}], "judge": PAIR}
        usage = (await client.post("/v1/chat/completions", json=call)).json()["usage"]
        return usage, (await client.get("/metrics")).text

    usage, counted = run(served, talk)
    assert 0 < usage["completion_tokens"] <= 8
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 60
    assert f'judge_r1_tokens_total{{kind="output"}} {float(usage["completion_tokens"])}' in counted
    assert f'judge_r1_tokens_total{{kind="input"}} {float(usage["prompt_tokens"])}' in counted


@pytest.mark.parametrize("path", ["/v1/judge", "/v1/chat/completions"])
def test_an_unexpected_error_has_the_usual_form(path: str) -> None:
    class Broken(InvalidJudge):
        def judge(self, requests: Any) -> Any:
            raise ZeroDivisionError("secret")

    async def talk() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(service(Broken(""))), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://judge") as client:
            chat = {"model": "judge-r1", "messages": [{"role": "user", "content": "judge"}], "judge": PAIR}
            return await client.post(path, json=PAIR if path == "/v1/judge" else chat)

    answer = asyncio.run(talk())
    error = answer.json()["error"]
    assert answer.status_code == 500
    assert (error if path == "/v1/judge" else error["message"]) == "the server failed"


def test_a_cancelled_request_releases_its_body_bytes() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None: ...

    async def talk() -> int:
        bodies, pieces = BodyLimitMiddleware(app, Limits(), Shutdown()), iter([b"x" * 100])

        async def receive() -> dict[str, Any]:
            for piece in pieces:
                return {"type": "http.request", "body": piece, "more_body": True}
            await asyncio.sleep(60)
            raise AssertionError

        async def send(message: Any) -> None: ...

        task = asyncio.ensure_future(bodies({"type": "http", "path": "/v1/judge", "headers": []}, receive, send))
        while not bodies.bytes_used:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return bodies.bytes_used

    assert asyncio.run(asyncio.wait_for(talk(), 20)) == 0
