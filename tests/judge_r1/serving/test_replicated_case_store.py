"""Cases shared by two servers: visible to both, deleted in both, private to a tenant, pinned while in use."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving_fixture import PAIR, BlockedJudge, service

from judge_r1.judges.base import Judge
from judge_r1.serving.app import create_app
from judge_r1.serving.middleware.api_keys import KeyFile, add_key
from judge_r1.serving.replicated_case_store import ActorCall, CaseStoreActor, CaseStoreUnavailable, ReplicatedCaseStore
from judge_r1.serving.service import Service

SCORE = {"prompt": "p", "candidates": ["one", "two"]}


def caller(actor: CaseStoreActor) -> ActorCall:
    async def call(method: str, *arguments: Any) -> Any:
        return await getattr(actor, method)(*arguments)

    return call


def shared(call: ActorCall, judge: Judge | str = "longer", **more: Any) -> Service:
    served = service(judge, **more)
    served.case_store = ReplicatedCaseStore(served.local_cases, call)
    return served


def talk(work: Callable[..., Awaitable[None]], *services: Service) -> None:
    async def within() -> None:
        clients = [
            httpx.AsyncClient(transport=httpx.ASGITransport(create_app(each)), base_url="http://judge")
            for each in services
        ]
        await work(*clients)
        for client in clients:
            await client.aclose()

    asyncio.run(asyncio.wait_for(within(), 30))


async def put(client: httpx.AsyncClient, text: str = "Ana paid.", **more: Any) -> str:
    answer = await client.put("/v1/cases", json={"context": text}, **more)
    assert answer.status_code == 200
    return str(answer.json()["case_id"])


async def judge_status(client: httpx.AsyncClient, case_id: str, **more: Any) -> int:
    return (await client.post("/v1/judge", json=PAIR | {"case_id": case_id}, **more)).status_code


def test_a_case_is_visible_to_both_and_deleted_in_both() -> None:
    calls: list[tuple[Any, ...]] = []
    call = caller(CaseStoreActor())

    async def recorded(*arguments: Any) -> Any:
        calls.append(arguments)
        return await call(*arguments)

    first, second = shared(recorded), shared(recorded)

    async def work(one: httpx.AsyncClient, other: httpx.AsyncClient) -> None:
        case_id = await put(one)
        for client in (one, other):
            assert [await judge_status(client, case_id) for _ in range(2)] == [200, 200]
            assert (await client.get(f"/v1/cases/{case_id}")).json()["context"] == "Ana paid."
            assert (await client.get("/v1/cases")).json() == {"cases": [{"case_id": case_id, "bytes": 9}]}
        with_text = [arguments[-1] for arguments in calls if arguments[0] == "find"]
        assert with_text == [True, False, False, True, False, False]  # each server fetches the text once
        assert (await other.delete(f"/v1/cases/{case_id}")).status_code == 204
        for client in (one, other):
            assert await judge_status(client, case_id) == 404
            assert (await client.get(f"/v1/cases/{case_id}")).status_code == 404
            assert (await client.delete(f"/v1/cases/{case_id}")).status_code == 404
        assert (len(first.local_cases), len(second.local_cases)) == (0, 0)
        assert await put(other) == case_id
        assert await judge_status(one, case_id) == 200

    talk(work, first, second)


def test_tenants_are_isolated_at_every_server(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    ana, ben = ({"Authorization": f"Bearer {add_key(file, name, 600)}"} for name in ("ana", "ben"))
    call, keys = caller(CaseStoreActor()), KeyFile(file)

    async def work(one: httpx.AsyncClient, other: httpx.AsyncClient) -> None:
        case_id = await put(one, headers=ana)
        assert await put(one, headers=ben) != case_id
        assert await judge_status(other, case_id, headers=ana) == 200  # this server has a copy now
        for client in (one, other):
            assert await judge_status(client, case_id, headers=ben) == 404
            assert (await client.delete(f"/v1/cases/{case_id}", headers=ben)).status_code == 404
            assert case_id not in (await client.get("/v1/cases", headers=ben)).text
            assert await judge_status(client, case_id, headers=ana) == 200

    talk(work, shared(call, keys=keys), shared(call, keys=keys))


@pytest.mark.parametrize("deleted", [True, False])
def test_a_running_score_fails_if_its_case_is_deleted_but_not_if_it_is_evicted(deleted: bool) -> None:
    blocked, call = BlockedJudge(), caller(CaseStoreActor(max_bytes=40))

    async def work(one: httpx.AsyncClient, other: httpx.AsyncClient) -> None:
        case_id = await put(other)
        scoring = asyncio.create_task(one.post("/v1/score", json=SCORE | {"case_id": case_id}))
        while not blocked.started:
            await asyncio.sleep(0.005)
        if deleted:
            assert (await other.delete(f"/v1/cases/{case_id}")).status_code == 204
        else:
            await put(other, "x" * 40)
        assert await judge_status(other, case_id) == 404
        blocked.release.set()
        assert (await scoring).status_code == (404 if deleted else 200)
        assert blocked.started == (1 if deleted else 2)
        assert await judge_status(one, case_id) == 404

    talk(work, shared(call, blocked, max_concurrency=1), shared(call))


def test_a_context_in_a_request_is_not_replicated() -> None:
    served = shared(caller(CaseStoreActor()))

    async def work(client: httpx.AsyncClient) -> None:
        case_id = await put(client)
        await client.delete(f"/v1/cases/{case_id}")
        assert (await client.post("/v1/judge", json=PAIR | {"context": "Ana paid."})).status_code == 200
        assert (await client.post("/v1/score", json=SCORE | {"context": "Ana paid."})).status_code == 200
        assert (await client.get("/v1/cases")).json() == {"cases": []}
        assert await judge_status(client, case_id) == 404

    talk(work, served)


def test_an_unavailable_case_store_is_an_error_of_one_sentence() -> None:
    async def call(method: str, *arguments: Any) -> Any:
        raise CaseStoreUnavailable("the case store is down: try again")

    async def work(client: httpx.AsyncClient) -> None:
        for answer in (
            await client.put("/v1/cases", json={"context": "Ana paid."}),
            await client.get("/v1/cases"),
            await client.delete("/v1/cases/x"),
            await client.post("/v1/judge", json=PAIR | {"case_id": "x"}),
        ):
            assert (answer.status_code, answer.json()) == (503, {"error": "the case store is down: try again"})
            assert int(answer.headers["retry-after"]) > 0
        assert (await client.post("/v1/judge", json=PAIR | {"context": "Ana paid."})).status_code == 200

    talk(work, shared(call))
