"""What an episode of training is asked besides a pair, and its reward, on hand-computed cases."""

from collections.abc import Sequence
from typing import Literal

import pytest
from factories import make_case, make_pair, mini_pairs, mini_variants

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Trajectory, Turn
from judge_r1.core.verdicts import Judgment, ScoresVerdict
from judge_r1.episode.parsing import Rejected, parse_best, parse_score
from judge_r1.episode.prompts import pairwise_prompt
from judge_r1.episode.questions import (
    PARTNER_FAILED,
    ListQuestion,
    ScoreQuestion,
    question,
    question_keys,
    rewarded,
    score_rewards,
    task_of,
    with_score_rewards,
    with_tool_credit,
)
from judge_r1.episode.task import PairwiseTask

DATA = mini_variants(4, 3)
PAIR = make_pair(make_case(), violated=(2,))


def ended(judgment: Judgment | None, ended: str = "answer") -> Trajectory:
    return Trajectory(
        prompt_ids=(1,), token_ids=(2,), loss_mask=(1,), logprobs=(-1.0,), turns=(), judgment=judgment, ended=ended
    )


def scored(score: float | None, named: Sequence[int] = ()) -> Trajectory:
    if score is None:
        return ended(None, "rejected_bad_score")
    return ended(Judgment(verdict=ScoresVerdict(scores=(score,)), violated_principles=tuple(named)))


LOST = ended(None, "infrastructure_generation_error")


def won(trajectories: Sequence[Trajectory]) -> list[float]:
    """c of R1 = 4 c - 2."""
    return [(t.reward["R1"] + 2) / 4 for t in trajectories if t.reward]


@pytest.mark.parametrize(("pairs", "expected"), [("matched", [1, 0, 1]), ("all", [1, 1 / 3, 2 / 3])])
def test_scores_are_compared_as_by_hand(pairs: Literal["matched", "all"], expected: list[float]) -> None:
    reference, flawed = [scored(s) for s in (8, 6, 7)], [scored(s) for s in (5, 7, 6)]
    for side in score_rewards(PAIR, reference, flawed, pairs=pairs):
        assert won(side) == pytest.approx(expected)


def test_a_tie_and_a_missing_score_win_nothing() -> None:
    for first, second in ((7, 7), (None, 3), (8, None), (None, None)):
        sides = score_rewards(PAIR, [scored(first)], [scored(second)], pairs="matched")
        assert [won(side) for side in sides] == [[0], [0]]
    assert sides[0][0].reward is not None
    assert (sides[0][0].reward["r"], sides[0][0].reward["valid"]) == (0, 0)


def test_the_reference_gains_by_naming_nothing_and_the_flawed_one_by_its_principles() -> None:
    def reward(reference: Sequence[int], flawed: Sequence[int]) -> list[tuple[float, float]]:
        sides = score_rewards(PAIR, [scored(8, reference)], [scored(5, flawed)], pairs="matched")
        return [(t.reward["r"], t.reward["F1"]) for [t] in sides if t.reward]

    assert reward((), (2,)) == [(1, 1), (1, 1)]
    assert reward((2,), ()) == [pytest.approx((2 / 3, 0)), pytest.approx((2 / 3, 0))]
    assert reward((), (2, 4)) == [(1, 1), pytest.approx(((2 + 2 * (2 / 3 - 0.5) + 3) / 6, 2 / 3))]


def test_an_episode_whose_partners_failed_has_no_reward() -> None:
    reference, flawed = score_rewards(PAIR, [scored(8), scored(8)], [LOST, scored(5)], pairs="matched")
    assert [t.ended for t in reference] == [PARTNER_FAILED, "answer"]
    assert [t.infrastructure_failed for t in flawed] == [True, False]
    reference, _ = score_rewards(PAIR, [scored(8), scored(4)], [LOST, scored(5)], pairs="all")
    assert won(reference) == [1, 0]


@pytest.mark.parametrize(
    ("r", "notices", "expected"),
    [
        (1, [None, None], 1),
        (1, [None, "empty query"], 0.1),
        (1, [None] * 4, 0.1),
        (0, [None], 0),
        (1, [], 1),
        (5 / 6, ["empty query"], 0.0833),
        (5 / 6, [None], 0.8333),
    ],
)
def test_a_failed_search_costs_nine_tenths_of_the_reward(
    r: float, notices: Sequence[str | None], expected: float
) -> None:
    turns = tuple(Turn(text="", query="q", notice=notice) for notice in notices)
    judged = Trajectory.without_ids("answer", turns).model_copy(update={"reward": {"r": r, "R1": 2.0}})
    parts = with_tool_credit(judged).reward
    assert parts is not None
    assert parts["r"] == pytest.approx(expected, abs=1e-4)
    assert parts["R1"] == 2


def test_groups_that_are_not_one_pair_are_an_error() -> None:
    first, second = (ScoreQuestion(pair, "reference") for pair in mini_pairs(2).pairs)
    with pytest.raises(RuntimeError, match="not the two reasonings of one pair"):
        with_score_rewards([(first, scored(8)), (second, scored(5))], 1)


def test_the_better_half_sees_the_pair_swapped() -> None:
    pair, by_id = DATA.pairs[0], DATA.by_id()
    shown = [question(pair.pair_id, by_id, session, 4, orders=2) for session in range(4)]
    assert shown[:2] == [pair, pair]
    for one in shown[2:]:
        assert one.pair_id == pair.pair_id
        assert task_of(one, DATA).candidates == task_of(pair, DATA).candidates[::-1]
    assert {question(pair.pair_id, by_id, session, 4) for session in range(4)} == {pair}


def test_a_list_has_each_reasoning_once_and_is_rotated() -> None:
    by_id = DATA.by_id()
    for key in question_keys(DATA, "listwise"):
        first = question(key, by_id, seed=1)
        assert isinstance(first, ListQuestion)
        assert sorted(first.order) == list(range(len(first.pairs) + 1))
        case = DATA.cases[first.case_id]
        assert set(first.shown) == {case.reference, *(pair.flawed for pair in first.pairs)}
        assert len({pair.case_id for pair in first.pairs}) == 1
        turned = [question(key, by_id, session, 8, orders=2, seed=1) for session in range(8)]
        assert len({one.order for one in turned if isinstance(one, ListQuestion)}) == len(first.order)
        assert task_of(first, DATA).candidates == first.shown
        assert question(key, by_id, 3, 8, seed=1) == first
    assert len({question(key, by_id).order[0] for key in question_keys(DATA, "listwise")}) > 1  # type: ignore[union-attr]


def test_only_the_reference_is_the_best_of_a_list() -> None:
    asked = question(question_keys(DATA, "listwise")[0], DATA.by_id())
    assert isinstance(asked, ListQuestion)
    count = len(asked.order)
    rewards = []
    for number in range(1, count + 1):
        judgment = parse_best(f'{{"best": {number}}}', count)
        assert isinstance(judgment, Judgment)
        parts = rewarded(ended(judgment), asked).reward
        assert parts is not None
        assert parts["r"] == (parts["R1"] + parts["R2"] + 3) / 6
        rewards.append(parts["r"])
    assert rewards == [float(number == 0) for number in asked.order]
    assert rewarded(ended(asked.gold), asked).reward == rewarded(ended(asked.gold), asked).reward
    lost = rewarded(ended(None, "no_answer"), asked).reward
    assert lost is not None
    assert (lost["r"], lost["valid"]) == (0, 0)


def test_cases_with_one_flawed_reasoning_make_no_list() -> None:
    with pytest.raises(JudgeError, match="no case has two"):
        question_keys(mini_pairs(4), "listwise")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"score": 11, "violated_principles": []}', "bad_score"),
        ('{"score": 0, "violated_principles": []}', "bad_score"),
        ('{"score": 7.0, "violated_principles": []}', "bad_score"),
        ('{"score": true, "violated_principles": []}', "bad_score"),
        ('{"score": 7}', "missing_key"),
        ('{"score": 7, "violated_principles": [], "comparison": "A>B"}', "unknown_key"),
        ('{"score": 7, "score": 1, "violated_principles": []}', "repeated_key"),
        ('{"score": 7, "violated_principles": [2, 2]}', "bad_principles"),
        ("7", "not_an_object"),
    ],
)
def test_a_score_in_another_form_is_rejected(text: str, reason: str) -> None:
    found = parse_score(text)
    assert isinstance(found, Rejected)
    assert found.reason == reason


def test_the_best_is_a_number_of_the_list() -> None:
    for text in ('{"best": 0}', '{"best": 4}', '{"best": "1"}', '{"best": 1.0}'):
        found = parse_best(text, 3)
        assert isinstance(found, Rejected)
        assert found.reason == "bad_best"


@pytest.mark.parametrize("style", ["standard", "compact"])
def test_prompts_show_the_candidates_and_nothing_of_the_others(style: str) -> None:
    pair = DATA.pairs[0]
    alone = pairwise_prompt(task_of(ScoreQuestion(pair, "flawed"), DATA), context="full", searches=2, style=style)
    text = "".join(message["content"] for message in alone.chat())
    assert pair.flawed in text
    assert pair.reference not in text
    assert ('"score"' in text) == (style == "standard")
    asked = question(question_keys(DATA, "listwise")[0], DATA.by_id())
    assert isinstance(asked, ListQuestion)
    prompt = pairwise_prompt(task_of(asked, DATA), context="full", searches=0, style=style)
    text = "".join(message["content"] for message in prompt.chat())
    places = [text.index(f"{number}:\n{shown}") for number, shown in enumerate(asked.shown, 1)]
    assert places == sorted(places)
    with pytest.raises(JudgeError, match="compares two candidates"):
        pairwise_prompt(PairwiseTask("mini", "d", "r", "", form="score"), context="none", searches=0, style="table6")
