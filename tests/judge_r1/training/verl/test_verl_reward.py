"""verl receives the reward of the episode driver, or an error."""

import pytest

from judge_r1.core.records import Trajectory
from judge_r1.training.verl.reward import FIELD, NoBreakdown, compute_score, flat_breakdown

PARTS = {"r": 0.5, "R1": 2.0, "R2": -1.0, "F1": 0.0, "precision": 0.0, "recall": 0.0, "valid": 1.0, "searches": 2.0}


def trajectory(ended: str = "answer", **more: float) -> Trajectory:
    return Trajectory(
        prompt_ids=(), token_ids=(), loss_mask=(), logprobs=(), turns=(), judgment=None, ended=ended,
        reward={**PARTS, **more},
    )  # fmt: skip


def test_every_sample_has_the_same_keys() -> None:
    plain, hit, failed = map(
        flat_breakdown, [trajectory(), trajectory(evidence_hit=1.0), trajectory("infrastructure_search_timeout")]
    )
    assert plain.keys() == hit.keys() == failed.keys()
    assert (plain["evidence_hit"], plain["evidence_hit_defined"]) == (0.0, 0.0)
    assert (hit["evidence_hit"], hit["evidence_hit_defined"]) == (1.0, 1.0)
    assert (plain["infrastructure_failure"], failed["infrastructure_failure"]) == (0.0, 1.0)


def test_the_reward_ignores_the_decoded_text() -> None:
    breakdown = flat_breakdown(trajectory())
    scores = [
        compute_score("s", text, '{"comparison": "A>B"}', {FIELD: breakdown})
        for text in ("", '<answer>{"comparison": "A>B", "violated_principles": [2]}</answer>')
    ]
    assert scores[0] == scores[1] == {"score": 0.5, "acc": 1.0, **breakdown}


@pytest.mark.parametrize("extra", [None, {}, {"index": 3}])
def test_a_sample_without_breakdown_is_an_error(extra: dict[str, int] | None) -> None:
    with pytest.raises(NoBreakdown, match="judge_r1's agent loop did not sample it"):
        compute_score("judge_r1/mini", "text", "gold", extra)
