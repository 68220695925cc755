"""Scores from pairwise comparisons: the formula and the route."""

import asyncio
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_judge import LengthScore
from serving_fixture import BlockedJudge, InvalidJudge, service

from judge_r1.judges.scoring import ScoringJudge
from judge_r1.rewards.group import Comparison
from judge_r1.serving.app import create_app
from judge_r1.serving.routes.score import mean_scores

PROBABILITY = st.none() | st.floats(0, 1)


def score(judge: Any, body: dict[str, Any]) -> dict[str, Any]:
    async def talk() -> dict[str, Any]:
        transport = httpx.ASGITransport(create_app(service(judge)))
        async with httpx.AsyncClient(transport=transport, base_url="http://judge") as client:
            answer = await asyncio.wait_for(client.post("/v1/score", json=body), 60)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    return asyncio.run(talk())


def by_hand(count: int, comparisons: Sequence[Comparison]) -> list[float | None]:
    """The mean over opponents of the mean over the comparisons with each."""
    scores: list[float | None] = []
    for i in range(count):
        by_opponent = []
        for j in range(count + 1):
            probabilities = [
                one.first_wins if one.first == i else 1 - one.first_wins
                for one in comparisons
                if {one.first, one.second} == {i, j} and one.first_wins is not None
            ]
            if probabilities:
                by_opponent.append(sum(probabilities) / len(probabilities))
        scores.append(sum(by_opponent) / len(by_opponent) if by_opponent else None)
    return scores


@given(st.integers(1, 5), st.booleans(), st.data())
def test_scores_equal_the_formula(count: int, reference: bool, data: st.DataObject) -> None:
    pairs = [(i, count) for i in range(count)] if reference else list(combinations(range(count), 2))
    orders = [pair for i, j in pairs for pair in ((i, j), (j, i))]
    comparisons = [Comparison(i, j, data.draw(PROBABILITY)) for i, j in orders]
    scores = mean_scores(count, comparisons)
    assert scores == [None if s is None else pytest.approx(s, abs=1e-12) for s in by_hand(count, comparisons)]
    assert all(s is None or 0 <= s <= 1 for s in scores)
    if count > 1 and not reference and all(one.first_wins is not None for one in comparisons):
        assert sum(s for s in scores if s is not None) / count == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("count", "reference", "expected"), [(1, True, 2), (3, True, 6), (2, False, 2), (4, False, 12)]
)
def test_every_pairing_is_judged_in_both_orders(count: int, reference: bool, expected: int) -> None:
    body: dict[str, Any] = {"prompt": "p", "candidates": [f"text {n}" for n in range(count)]}
    body |= {"reference": "text r"} if reference else {}
    found = score("always-a", body)
    assert (found["games"], found["scores"]) == (expected, [0.5] * count)


def test_candidates_against_each_other() -> None:
    found = score("longer", {"prompt": "p", "candidates": ["one two", "one", "one two three", "a b"]})
    assert found["scores"] == [pytest.approx(0.5), 0.0, 1.0, pytest.approx(0.5)]
    assert (found["games"], found["invalid"], found["judge"]) == (12, 0, "longer")


def test_candidates_against_a_reference() -> None:
    found = score("longer", {"prompt": "p", "candidates": ["one two", "one", "x y z"], "reference": "a b"})
    assert found["scores"] == [0.5, 0.0, 1.0]


def test_a_case_deleted_during_scoring_is_not_restored() -> None:
    blocked = BlockedJudge()
    served = service(blocked, max_concurrency=1)

    async def talk() -> int:
        transport = httpx.ASGITransport(create_app(served))
        async with httpx.AsyncClient(transport=transport, base_url="http://judge") as client:
            body = {"prompt": "p", "candidates": ["one", "two"], "context": "Ana paid."}
            scoring = asyncio.create_task(client.post("/v1/score", json=body))
            while not blocked.started:
                await asyncio.sleep(0.005)
            [case_id] = served.local_cases
            assert (await client.delete(f"/v1/cases/{case_id}")).status_code == 204
            blocked.release.set()
            return (await scoring).status_code

    assert asyncio.run(asyncio.wait_for(talk(), 20)) == 404
    assert (blocked.started, len(served.local_cases), served.local_cases.bytes) == (1, 0, 0)


def test_a_judge_that_prefers_a_position_gives_equal_scores() -> None:
    assert score("always-a", {"prompt": "p", "candidates": ["good", "bad"]})["scores"] == [0.5, 0.5]


def test_without_a_valid_comparison_there_is_no_score() -> None:
    found = score(InvalidJudge("turn_budget"), {"prompt": "p", "candidates": ["good", "bad"]})
    assert (found["scores"], found["invalid"]) == ([None, None], 2)


def test_a_judge_that_scores_alone_gives_its_own_scores_also_for_one_candidate() -> None:
    judge = ScoringJudge(LengthScore())
    given = score(judge, {"prompt": "p", "candidates": ["aaa", "a", "invalid"]})
    assert (given["scores"], given["games"], given["invalid"]) == ([3.0, 1.0, None], 0, 1)
    assert score(judge, {"prompt": "p", "candidates": ["aa"]})["scores"] == [2.0]
    against = score(judge, {"prompt": "p", "candidates": ["aaa", "aa", "a"], "reference": "bb"})
    assert (against["scores"], against["games"]) == ([1.0, 0.5, 0.0], 6)
