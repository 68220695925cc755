"""Evidence hits and searches in the reward. tests/promises/test_formulas.py tests the formulas."""

import pytest
import torch
from factories import evidence, make_case, make_pair
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.records import Flaw, Origin, ReasoningPair, Span, Trajectory, Turn
from judge_r1.core.verdicts import Evidence, Judgment
from judge_r1.episode.reward import evidence_hit, round_reward, with_reward

CASE = make_case("ana paid 34. ben left rome. carl owed 21.")


def pair_with(*spans: tuple[int, int]) -> ReasoningPair:
    flaw = Flaw(
        principle=2,
        operator="toy",
        span=Span(start=3, end=14),
        context_spans=tuple(Span(start=a, end=b) for a, b in spans),
    )
    origin = Origin(teacher="toy", seed=0, flaws=(flaw,))
    return ReasoningPair.of(CASE, "1. ana paid 35, so this counts.", variant=1, origin=origin, seed=0)


def trajectory(*shown: tuple[int, int], judgment: Judgment | None = None) -> Trajectory:
    passages = tuple(Evidence(case_id=CASE.case_id, start=a, end=b, text=CASE.context[a:b], score=1) for a, b in shown)
    turns = tuple(Turn(text="", query="q", passages=(passage,)) for passage in passages)
    return Trajectory(
        prompt_ids=(), token_ids=(), loss_mask=(), logprobs=(), turns=turns, judgment=judgment, ended="answer"
    )


@pytest.mark.parametrize(
    ("spans", "shown", "hit"),
    [
        ([(0, 11)], [(0, 12)], 1.0),
        ([(0, 11)], [(13, 27)], 0.0),
        ([(0, 11)], [(13, 27), (0, 12)], 1.0),
        ([(0, 11)], [(10, 20)], 1.0),
        ([(0, 11)], [(11, 20)], 0.0),
        ([(13, 20)], [(0, 13)], 0.0),
        ([(0, 11), (30, 34)], [(28, 41)], 1.0),
        ([(0, 11)], [], 0.0),
        ([], [(0, 12)], None),
    ],
)
def test_evidence_hit_is_an_overlap_with_a_contradicted_span(
    spans: list[tuple[int, int]], shown: list[tuple[int, int]], hit: float | None
) -> None:
    pair = pair_with(*spans)
    assert evidence_hit(trajectory(*shown), pair) == hit
    breakdown = with_reward(trajectory(*shown), pair).reward
    assert breakdown is not None
    assert breakdown.get("evidence_hit") == hit
    assert breakdown["searches"] == len(shown)


def test_the_reward_is_flat_and_keeps_the_trajectory() -> None:
    pair = pair_with((0, 11))
    before = trajectory((0, 12), judgment=pair.gold)
    after = with_reward(before, pair)
    assert before.reward is None
    assert after.model_copy(update={"reward": None}) == before
    assert after.reward == {
        "r": 1.0, "R1": 2.0, "R2": 1.0, "F1": 1.0, "precision": 1.0, "recall": 1.0, "valid": 1.0, "searches": 1.0,
        "evidence_hit": 1.0,
    }  # fmt: skip


def test_claimed_evidence_and_confidence_earn_nothing() -> None:
    pair = make_pair(CASE)
    claiming = pair.gold.model_copy(
        update={"confidence": 1.0, "explanation": "r = 1", "evidence": tuple(evidence("x"))}
    )
    wrong = claiming.model_copy(update={"verdict": claiming.swapped().verdict})
    parts = with_reward(trajectory(judgment=wrong), pair).reward
    assert parts is not None
    assert parts["R1"] == -2
    assert parts["evidence_hit"] == 0


F1 = sorted({2 * both / (gold + named) for gold in range(1, 7) for named in range(1, 7) for both in range(1, 7)})
REWARDS = sorted({(side + 2 * (f1 - 0.5) + 3) / 6 for side in (2, -2) for f1 in [0.0, *F1] if f1 <= 1})
"""Every possible reward (Eq. 1 to 3)."""


@given(st.sampled_from(REWARDS), st.integers(2, 64))
def test_the_mean_of_equal_rounded_rewards_is_the_reward(reward: float, size: int) -> None:
    group = torch.full((1, size), round_reward(reward))
    assert torch.equal(torch.nanmean(group, dim=1), group[:, 0])
    assert torch.equal(torch.mean(group, dim=1), group[:, 0])
    assert round_reward(reward) == pytest.approx(reward, abs=2e-6)


def test_the_mean_of_equal_unrounded_rewards_may_differ() -> None:
    group = torch.full((5,), 17 / 18)
    assert float(group.mean()) != float(group[0])
