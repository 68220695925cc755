"""Cases that two servers share: known to both, gone from both, each owner's alone, and there for games under way."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving_fixture import PAIR, Held, service

from judge_r1.judges.base import Judge
from judge_r1.serving.app import create_app
from judge_r1.serving.middleware.api_keys import KeyFile, add_key
from judge_r1.serving.replicated_case_store import ActorCall, CaseStoreActor, CaseStoreUnavailable, ReplicatedCaseStore
from judge_r1.serving.service import Service

SCORE = {"prompt": "p", "candidates": ["one", "two"]}


def asking(keeper: CaseStoreActor) -> ActorCall:
    async def ask(method: str, *given: Any) -> Any:
        return await getattr(keeper, method)(*given)

    return ask


def shared(ask: ActorCall, judge: Judge | str = "longer", **more: Any) -> Service:
    made = service(judge, **more)
    made.case_store = ReplicatedCaseStore(made.local_cases, ask)
    return made


def talk(work: Callable[..., Awaitable[None]], *services: Service) -> None:
    async def talking() -> None:
        clients = [
            httpx.AsyncClient(transport=httpx.ASGITransport(create_app(each)), base_url="http://judge")
            for each in services
        ]
        await work(*clients)
        for client in clients:
            await client.aclose()

    asyncio.run(asyncio.wait_for(talking(), 30))


async def put(client: httpx.AsyncClient, text: str = "Ana paid.", **more: Any) -> str:
    answer = await client.put("/v1/cases", json={"context": text}, **more)
    assert answer.status_code == 200
    return str(answer.json()["case_id"])


async def judged(client: httpx.AsyncClient, case_id: str, **more: Any) -> int:
    return (await client.post("/v1/judge", json=PAIR | {"case_id": case_id}, **more)).status_code


def test_a_case_is_known_to_both_and_gone_from_both() -> None:
    asked: list[tuple[Any, ...]] = []
    ask = asking(CaseStoreActor())

    async def noting(*given: Any) -> Any:
        asked.append(given)
        return await ask(*given)

    first, second = shared(noting), shared(noting)

    async def work(one: httpx.AsyncClient, other: httpx.AsyncClient) -> None:
        case_id = await put(one)
        for client in (one, other):
            assert [await judged(client, case_id) for _ in range(2)] == [200, 200]
            assert (await client.get(f"/v1/cases/{case_id}")).json()["context"] == "Ana paid."
            assert (await client.get("/v1/cases")).json() == {"cases": [{"case_id": case_id, "bytes": 9}]}
        texts = [given[-1] for given in asked if given[0] == "find"]
        assert texts == [True, False, False, True, False, False]  # the text travels once to each
        assert (await other.delete(f"/v1/cases/{case_id}")).status_code == 204
        for client in (one, other):
            assert await judged(client, case_id) == 404
            assert (await client.get(f"/v1/cases/{case_id}")).status_code == 404
            assert (await client.delete(f"/v1/cases/{case_id}")).status_code == 404
        assert (len(first.local_cases), len(second.local_cases)) == (0, 0)
        assert await put(other) == case_id
        assert await judged(one, case_id) == 200

    talk(work, first, second)


def test_owners_are_strangers_at_every_server(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    ana, ben = ({"Authorization": f"Bearer {add_key(file, name, 600)}"} for name in ("ana", "ben"))
    ask, keys = asking(CaseStoreActor()), KeyFile(file)

    async def work(one: httpx.AsyncClient, other: httpx.AsyncClient) -> None:
        case_id = await put(one, headers=ana)
        assert await put(one, headers=ben) != case_id
        assert await judged(other, case_id, headers=ana) == 200  # a copy of it is there now
        for client in (one, other):
            assert await judged(client, case_id, headers=ben) == 404
            assert (await client.delete(f"/v1/cases/{case_id}", headers=ben)).status_code == 404
            assert case_id not in (await client.get("/v1/cases", headers=ben)).text
            assert await judged(client, case_id, headers=ana) == 200

    talk(work, shared(ask, keys=keys), shared(ask, keys=keys))


@pytest.mark.parametrize("deleted", [True, False])
def test_a_score_under_way_ends_with_its_case_but_not_where_others_need_room(deleted: bool) -> None:
    held, ask = Held(), asking(CaseStoreActor(max_bytes=40))

    async def work(one: httpx.AsyncClient, other: httpx.AsyncClient) -> None:
        case_id = await put(other)
        scoring = asyncio.create_task(one.post("/v1/score", json=SCORE | {"case_id": case_id}))
        while not held.began:
            await asyncio.sleep(0.005)
        if deleted:
            assert (await other.delete(f"/v1/cases/{case_id}")).status_code == 204
        else:
            await put(other, "x" * 40)
        assert await judged(other, case_id) == 404
        held.go.set()
        assert (await scoring).status_code == (404 if deleted else 200)
        assert held.began == (1 if deleted else 2)
        assert await judged(one, case_id) == 404

    talk(work, shared(ask, held, max_concurrency=1), shared(ask))


def test_a_case_that_is_sent_along_stays_here() -> None:
    keeper = CaseStoreActor()
    served = shared(asking(keeper))

    async def work(client: httpx.AsyncClient) -> None:
        case_id = await put(client)
        await client.delete(f"/v1/cases/{case_id}")
        assert (await client.post("/v1/judge", json=PAIR | {"context": "Ana paid."})).status_code == 200
        assert (await client.post("/v1/score", json=SCORE | {"context": "Ana paid."})).status_code == 200
        assert (await client.get("/v1/cases")).json() == {"cases": []}
        assert await judged(client, case_id) == 404

    talk(work, served)


def test_a_keeper_that_is_away_is_told_in_a_sentence() -> None:
    async def ask(method: str, *given: Any) -> Any:
        raise CaseStoreUnavailable("the keeper is away: try again")

    async def work(client: httpx.AsyncClient) -> None:
        for answer in (
            await client.put("/v1/cases", json={"context": "Ana paid."}),
            await client.get("/v1/cases"),
            await client.delete("/v1/cases/x"),
            await client.post("/v1/judge", json=PAIR | {"case_id": "x"}),
        ):
            assert (answer.status_code, answer.json()) == (503, {"error": "the keeper is away: try again"})
            assert int(answer.headers["retry-after"]) > 0
        assert (await client.post("/v1/judge", json=PAIR | {"context": "Ana paid."})).status_code == 200

    talk(work, shared(ask))
