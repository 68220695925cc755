import json
from itertools import product

import pytest

from judge_r1.benchmarks.rankjudge.reward import joint_reward, reward
from judge_r1.core.located_verdicts import Shaping
from judge_r1.core.verdicts import LocatedVerdict
from judge_r1.episode.located_answer import located_answer

GOLD = LocatedVerdict(winner="B", round=2, failure="evasion")


@pytest.mark.parametrize(("side", "round_", "failure"), list(product((True, False), repeat=3)))
def test_nested_reward(side: bool, round_: bool, failure: bool) -> None:
    text = json.dumps(
        {"verdict": "B" if side else "A", "worst_round": 2 if round_ else 3, "problem_type": "B" if failure else "A"}
    )
    assert reward(text, GOLD) == float(side and round_ and failure)
    expected = 0.2 * side + 0.3 * (side and round_) + 0.5 * (side and round_ and failure)
    assert reward(text, GOLD, Shaping(0.2, 0.3, 0.5)) == pytest.approx(expected)


def test_invalid_answers_get_nothing() -> None:
    assert reward("no answer", GOLD, Shaping(1, 0, 0)) == 0


@pytest.mark.parametrize("shaping", [Shaping(0.5, 0.2, 0.2), Shaping(-1, 1, 1)])
def test_bad_weights(shaping: Shaping) -> None:
    with pytest.raises(ValueError, match="add up to 1"):
        reward("", GOLD, shaping)


def test_as_a_reward_function_of_trl() -> None:
    right = located_answer(GOLD)
    chat = [{"role": "assistant", "content": right}]
    found = joint_reward(
        [right, chat, "x"], winner=["B"] * 3, round=[2] * 3, failure=["evasion"] * 3, pair_id=["1"] * 3
    )
    assert found == [1, 1, 0]
