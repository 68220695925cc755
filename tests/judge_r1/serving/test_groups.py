"""Groups whose members arrive as separate requests."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from failing_judge import FailsOn
from serving_fixture import LiveServer, run, service, wait_for

from judge_r1.serving.cohorts import Cohort
from judge_r1.serving.middleware.api_keys import KeyFile, add_key
from judge_r1.serving.middleware.body_limit import Limits
from judge_r1.serving.routes.score import charge
from judge_r1.serving.service import Service

GROUP = {"group": "g", "size": 4, "prompt": "p"}


def send(served: Service, bodies: list[dict[str, Any]], path: str = "/v1/groups/score") -> list[httpx.Response]:
    async def talk(client: httpx.AsyncClient) -> list[httpx.Response]:
        return list(await asyncio.gather(*(client.post(path, json=body) for body in bodies)))

    found: list[httpx.Response] = run(served, talk)
    return found


def members(*candidates: str, **more: Any) -> list[dict[str, Any]]:
    return [GROUP | {"candidate": candidate} | more for candidate in candidates]


def test_the_members_of_a_group_are_compared() -> None:
    served = service("longer")
    found = send(served, members("one", "one two", "one two three", ""))
    assert [answer.status_code for answer in found] == [200] * 4
    scores = [answer.json()["score"] for answer in found]
    assert scores[2] == max(scores)
    assert sum(scores) / 4 == pytest.approx(0.5)
    assert {key: found[0].json()[key] for key in ("judge", "members", "games", "invalid")} == {
        "judge": "longer", "members": 4, "games": 8, "invalid": 0,
    }  # fmt: skip
    assert served.cohorts.waiting == 0


def test_other_prompts_cases_and_references_are_other_groups() -> None:
    bodies = [
        *members("a", "a b", size=2), *members("a", "a b c", size=2, prompt="q"),
        *members("a", "a b", size=2, context="A case."), *members("x", size=1, schedule="anchor", reference="x y"),
    ]  # fmt: skip
    found = [answer.json() for answer in send(service("longer"), bodies)]
    assert [one["members"] for one in found] == [2] * 6 + [1]
    assert found[0]["score"] == found[2]["score"] == found[4]["score"] < 0.5 < found[1]["score"]
    assert found[6]["score"] == 0.0


def test_a_failed_judgment_is_an_error_and_never_a_score() -> None:
    served = service(FailsOn("broken"))
    found = send(served, members("one", "broken", "one two", "one two three", schedule="all_pairs"))
    assert [answer.status_code for answer in found] == [200, 502, 200, 200]
    assert found[1].json() == {"error": "infrastructure_no_answer"}
    assert found[0].json()["invalid"] == 6
    counted = [served.metrics.group_scores.labels(outcome)._value.get() for outcome in ("scored", "failed")]
    assert counted == [3, 1]
    assert b"judge_r1_group_members 0.0" in served.metrics.text()


def test_the_deadline_judges_those_that_have_arrived() -> None:
    found = send(service("longer"), members("one", "one two", deadline=0.2))
    assert [answer.json()["members"] for answer in found] == [2, 2]
    [alone] = send(service("longer"), members("one", deadline=0.05))
    assert (alone.status_code, alone.json()) == (502, {"error": "there is no other rollout to compare it with"})


@pytest.mark.parametrize(
    ("more", "status", "says"),
    [
        ({"size": 65}, 413, "the limit is 64"),
        ({"deadline": 10_000}, 422, "the limit is 120 s"),
        ({"size": 1}, 422, "send a reference, or a larger size"),
        ({"reference": "r"}, 422, "only the schedule anchor"),
        ({"schedule": "round robin"}, 422, "schedule"),
        ({"case_id": "nowhere", "deadline": 0.01}, 502, "there is no"),
    ],
)
def test_requests_that_cannot_be_judged(more: dict[str, Any], status: int, says: str) -> None:
    [answer] = send(service("longer"), members("one", **more))
    assert (answer.status_code, says in answer.json()["error"]) == (status, True), answer.text


def test_waiting_members_are_bounded() -> None:
    served = service("longer", limits=Limits(group_members=2, group_s=0.3))
    found = send(served, members("a", "b", "c"))
    assert sorted(answer.status_code for answer in found) == [200, 200, 503]
    [refused] = [answer for answer in found if answer.status_code == 503]
    assert refused.headers["retry-after"]


def test_tenants_do_not_share_groups(tmp_path: Path) -> None:
    keys = {name: add_key(tmp_path / "keys.json", name, 5) for name in ("ana", "ben")}
    served = service("longer", keys=KeyFile(tmp_path / "keys.json"))

    async def talk(client: httpx.AsyncClient) -> list[httpx.Response]:
        def post(name: str, body: dict[str, Any]) -> Awaitable[httpx.Response]:
            return client.post("/v1/groups/score", json=body, headers={"Authorization": f"Bearer {keys[name]}"})

        shared = members("a", "a b", size=2, deadline=0.3)
        found = list(await asyncio.gather(*(post(name, body) for body in shared for name in keys)))
        return [*found, *await asyncio.gather(*(post("ana", body) for body in [*shared, *shared]))]

    found = run(served, talk)
    assert [answer.status_code for answer in found[:4]] == [200] * 4
    assert [answer.json()["members"] for answer in found[:4]] == [2] * 4
    assert [answer.json()["score"] > 0.5 for answer in found[:4]] == [False, False, True, True]  # "a" meets "a b"
    assert 429 in [answer.status_code for answer in found[4:]]  # a member costs its share of the comparisons


def test_openrlhf_and_slime() -> None:
    samples = [("2+2? ", "four"), ("2+2? ", "it is four"), ("3+3? ", "six"), ("3+3? ", "it is six")]
    bodies = [{"query": [prompt + text], "prompts": [prompt], "labels": ["4"]} for prompt, text in samples]
    found = [answer.json() for answer in send(service("longer"), bodies, "/get_reward?size=2")]
    assert found[0]["rewards"] == found[0]["scores"] == found[2]["rewards"]
    assert found[1]["rewards"] == found[3]["rewards"] == [pytest.approx(1 - found[0]["rewards"][0])]
    assert found[0]["extra_logs"] == {"judge_failure_rate": [0.0]}
    together = {"query": ["p a", "p a b"], "prompts": ["p ", "p "], "labels": [None, None]}
    [both] = send(service("longer"), [together], "/get_reward?size=2&schedule=all_pairs")
    assert both.json()["rewards"] == [found[0]["rewards"][0], found[1]["rewards"][0]]
    chat = [{"role": "user", "content": "2+2?"}]
    slime = [{"prompt": chat, "response": text, "label": "a b"} for text in ("a", "a b c")]
    answers = send(service("longer"), slime, "/v1/rewards/slime?size=1&schedule=anchor")
    assert [answer.json() for answer in answers] == [0.0, 1.0]
    marked = {"query": ["<|im_start|>user\np<|im_end|>\n<|im_start|>assistant\na b<|im_end|>"], "labels": ["c d"]}
    marked["prompts"] = [marked["query"][0].removesuffix("a b<|im_end|>")]
    [tie] = send(service("longer"), [marked], "/get_reward?size=1&schedule=anchor")
    assert tie.json()["rewards"] == [0.5]  # two words against two: no mark counts
    [other] = send(service("longer"), [marked | {"prompts": ["another prompt"]}], "/get_reward?size=2")
    assert (other.status_code, "does not begin with its prompt" in other.text) == (422, True)
    [failed] = send(service(FailsOn("a")), slime[:1], "/v1/rewards/slime?size=1&schedule=anchor")
    assert failed.status_code == 502
    [wrong] = send(service("longer"), slime[:1], "/v1/rewards/slime?size=1")
    assert wrong.status_code == 422


def test_a_shutdown_answers_waiting_members_with_an_error() -> None:
    served = service("longer")
    server = LiveServer(served)
    with server, httpx.Client(base_url=server.url, timeout=30) as client:
        import threading

        answers: list[httpx.Response] = []
        body = members("one")[0]
        thread = threading.Thread(target=lambda: answers.append(client.post("/v1/groups/score", json=body)))
        thread.start()
        wait_for(lambda: served.cohorts.waiting == 1)
        server._server.should_exit = True
        thread.join(20)
    [answer] = answers
    assert (answer.status_code, answer.json()["error"]) == (503, "the server is shutting down: send the group again")


@pytest.mark.parametrize(
    ("size", "more", "share"),
    [
        (4, {"schedule": "circular"}, 2),
        (3, {"schedule": "anchor"}, 2),  # four comparisons of three members
        (3, {"schedule": "anchor", "orders": 1}, 1),
        (3, {"schedule": "anchor", "reference": "x"}, 2),
        (4, {"schedule": "all_pairs"}, 3),
    ],
)
def test_a_member_is_charged_its_share_rounded_up(size: int, more: dict[str, Any], share: int) -> None:
    charged: list[int] = []
    request: Any = SimpleNamespace(state=SimpleNamespace(bucket=SimpleNamespace(take=charged.append)))
    charge(request, Cohort("", "g", "p", size, **more))
    assert charged == [share]
