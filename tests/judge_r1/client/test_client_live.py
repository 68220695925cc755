"""The client against a live server: typed responses, concurrency, events, keys and errors."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from serving_fixture import PAIR, BlockedJudge, LiveServer, service, wait_for

from judge_r1.client import AsyncClient, BadRequest, Client, RetriesExhausted, SearchStarted, ServerError, ServerRefuses
from judge_r1.core import progress
from judge_r1.core.case_store import CaseStore
from judge_r1.core.wire import ErrorMessage, JudgeResponse, TurnResponse
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_judge
from judge_r1.serving.middleware.api_keys import KeyFile, add_key

SWAPPED = {"reasoning_a": PAIR["reasoning_b"], "reasoning_b": PAIR["reasoning_a"]}


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_async_client(backend: str) -> None:
    if backend == "trio":
        pytest.importorskip("trio", reason="trio is not installed; asyncio is tested")

    async def talk(url: str) -> None:
        async with AsyncClient(url) as judge:
            found = await judge.judge(**PAIR, trace=True)
            assert isinstance(found, JudgeResponse)
            assert (found.winner, found.judge, found.turns) == ("A", "longer", [])
            case = await judge.put_case("Ana paid 34.")
            assert (await judge.judge(**SWAPPED, case_id=case.case_id)).winner == "B"
            assert (await judge.score("p", ["a b c", "a"])).scores == [1.0, 0.0]
            [verdict] = [event async for event in judge.stream(**PAIR)]
            assert isinstance(verdict, JudgeResponse)

    with LiveServer(service("longer")) as server:
        anyio.run(talk, f"{server.url}/v1/", backend=backend)


def test_the_sync_client() -> None:
    with LiveServer(service("longer")) as server, Client(server.url) as judge:
        assert judge.judge(**PAIR, context="Ana paid.").winner == "A"
        assert judge.score("p", ["long answer", "short"], reference="a b c").games == 4
        assert judge.judge(**PAIR, case_id=judge.put_case("é").case_id).valid


def test_many_is_ordered_and_bounded_in_concurrency() -> None:
    blocked = BlockedJudge()
    with LiveServer(service(blocked, max_concurrency=64)) as server, Client(server.url, concurrency=5) as judge:
        found: list[Any] = []
        pairs: list[dict[str, Any]] = [PAIR, SWAPPED, PAIR | {"case_id": "nowhere"}] * 10
        thread = threading.Thread(target=lambda: found.extend(judge.many(pairs)))
        thread.start()
        wait_for(lambda: blocked.running >= 4)
        assert blocked.running <= 5
        blocked.release.set()
        thread.join(30)
    assert [getattr(answer, "winner", None) for answer in found] == ["A", "B", None] * 10
    assert all(isinstance(answer, ErrorMessage) and "no case nowhere" in answer.error for answer in found[2::3])


@pytest.mark.parametrize("shown", [True, False])
def test_many_shows_its_progress(
    shown: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "AFTER_S", 0.1)
    blocked = BlockedJudge()
    with LiveServer(service(blocked)) as server, Client(server.url) as judge:
        threading.Timer(0.5, blocked.release.set).start()
        assert len(judge.many([PAIR] * 3, progress=shown)) == 3
    assert ("judging: 0 of 3 after 0:00:00\n" in capfd.readouterr().err) == shown


def test_the_sync_client_works_inside_a_running_event_loop() -> None:
    """Notebooks run such a loop."""

    async def cell(url: str) -> str | None:
        with Client(url) as judge:
            return judge.judge(**PAIR).winner

    with LiveServer(service("longer")) as server:
        assert asyncio.run(cell(server.url)) == "A"


def test_a_stream_yields_searches_turns_and_the_verdict() -> None:
    from fake_judge import searching
    from fake_judge_endpoint import JudgeServer

    cases, options = CaseStore(), "context=none,prompt=compact,retriever=bm25,budget.top_k=1,budget.passage_words=3"
    with JudgeServer(searching) as endpoint:
        judge = make_judge(f"agentic:{options}@{endpoint.url}#toy", JudgeBuild("", texts=cases))
        with LiveServer(service(judge, cases=cases)) as server, Client(server.url) as client:
            events = list(client.stream(**PAIR, context="ana paid 34. ben paid nothing.", trace=True))
    *before, verdict = events
    assert isinstance(verdict, JudgeResponse)
    assert [event for event in before if isinstance(event, TurnResponse)] == verdict.turns
    [search] = [event for event in before if isinstance(event, SearchStarted)]
    assert verdict.turns
    assert search.query == verdict.turns[0].query


def test_leaving_a_stream_cancels_the_judgment() -> None:
    blocked = BlockedJudge()
    with LiveServer(service(blocked)) as server:

        async def leave() -> None:
            async with AsyncClient(server.url) as client:
                with anyio.move_on_after(0.3):
                    async for _ in client.stream(**PAIR):
                        pass

        anyio.run(leave)
        wait_for(lambda: blocked.cancelled == 1 and blocked.running == 0)


def test_a_late_error_of_a_stream_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    from judge_r1.serving import sse

    monkeypatch.setattr(sse, "HEARTBEAT_S", 0.05)
    with LiveServer(service(BlockedJudge(), timeout=0.3)) as server, Client(server.url) as judge:
        events_seen = judge.stream(**PAIR)
        with pytest.raises(RetriesExhausted, match=r"no judgment within 0.3 s"):
            next(events_seen)


def test_a_key_is_sent_from_the_argument_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = tmp_path / "keys.json"
    secret = add_key(keys, "ana")
    monkeypatch.delenv("JUDGE_R1_KEY", raising=False)
    with LiveServer(service("longer", keys=KeyFile(keys))) as server:
        with Client(server.url, key=secret) as judge:
            assert judge.judge(**PAIR).winner == "A"
        with Client(server.url) as judge, pytest.raises(ServerError, match="JUDGE_R1_KEY"):
            judge.judge(**PAIR)
        with Client(server.url, key="jr1-wrong") as judge, pytest.raises(ServerError) as error:
            judge.many([PAIR] * 3)
        assert "jr1-wrong" not in str(error.value)
        monkeypatch.setenv("JUDGE_R1_KEY", secret)
        with Client(server.url) as judge:
            assert judge.judge(**PAIR).winner == "A"
            assert secret not in repr(vars(judge)) + repr(vars(judge._client))


def test_errors_are_one_sentence() -> None:
    with LiveServer(service("longer")) as server, Client(server.url) as judge:
        with pytest.raises(BadRequest, match=r"invalid JudgeRequest.*reasoning_b"):
            judge.judge(reasoning_a="x")
        with pytest.raises(BadRequest, match=r"pair 1: invalid JudgeRequest.*colour"):
            judge.many([PAIR, PAIR | {"colour": "red"}])
        with pytest.raises(ServerRefuses, match="there is no case nowhere") as raised:
            judge.judge(**PAIR, case_id="nowhere")
        assert (raised.value.status, raised.value.reason[:5]) == (404, "there")
        with pytest.raises(ServerRefuses, match="no case nowhere"):
            list(judge.stream(**PAIR, case_id="nowhere"))
    for address in ("localhost:8000", "ftp://host", "http://user:word@host"):
        with pytest.raises(ServerError, match="URL"):
            Client(address)
