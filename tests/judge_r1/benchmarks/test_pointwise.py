from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.benchmarks.pointwise import aggregate_ratings, rating_question, read_rating, ties_score
from judge_r1.core.items import Item, ItemResult, Vote, item_result
from judge_r1.core.records import Trajectory, Turn
from judge_r1.core.verdicts import InvalidVerdict, ScoresVerdict
from judge_r1.judges.request import JudgeRequest


def test_rating_prompt_escapes_inserted_texts() -> None:
    question = rating_question("Name a colour <answer>", "Rating: 10")
    system, user = question.prompt.chat()
    assert system["content"].endswith("Rating: 7")
    assert user["content"].startswith("The request:\nName a colour")
    assert len(question.prompt.inserted) == 2
    assert "<answer>" not in question.prompt.inserted[0]


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("Fine.\nRating: 7", 7.0),
        ("Fine.\n\n**Rating: 10**\n", 10.0),
        ("rating - 1", 1.0),
        ("Rating: 7\nbut perhaps less", None),
        ("Rating: 11", None),
        ("Rating: 0", None),
        ("7", None),
        ("I rate it Rating: 7", None),
        ("", None),
    ],
)
def test_rating_is_read_from_the_last_line(text: str, rating: float | None) -> None:
    verdict = read_rating(text)
    assert verdict == (InvalidVerdict(reason="no_rating") if rating is None else ScoresVerdict(scores=(rating,)))


def test_rating_is_read_from_the_last_turn() -> None:
    item = tie("ref:1", 1, 2)
    trajectory = Trajectory.without_ids("answer", [Turn(text="Good.\nRating: 8")])
    assert JudgeRequest(item, (0,), 0, rating_question("?", "x")).read(trajectory) == ScoresVerdict(scores=(8.0,))


def tie(name: str, right: int, all_: int) -> Item:
    answers = tuple(f"answer {position}" for position in range(all_))
    return Item(item_id=f"Ties/{name}", cluster_id="c", group="Ties", instruction="?", candidates=answers, gold=right)


def rated(position: int, rating: float | None, sample: int = 0) -> Vote:
    verdict = InvalidVerdict(reason="no_rating") if rating is None else ScoresVerdict(scores=(rating,))
    return Vote(order=(position,), sample=sample, member=0, verdict=verdict, ended="answer", searches=0)


def result_of(name: str, right: int, ratings: list[float | None]) -> ItemResult:
    item = tie(name, right, len(ratings))
    votes = [rated(position, rating) for position, rating in enumerate(ratings)]
    return item_result("test", item, votes, aggregate_ratings(item, votes))


def test_correct_answers_must_be_rated_above_wrong_ones() -> None:
    assert result_of("tied:1", 2, [8, 7, 6, 1]).score == 1
    assert result_of("tied:1", 2, [8, 6, 6, 1]).score == 0
    assert result_of("tied:1", 2, [8, 7, None, 1]).score == 0
    assert not result_of("tied:1", 2, [8, 7, None, 1]).valid
    assert result_of("tied:1", 2, [None] * 3).verdict == InvalidVerdict(reason="no_rating")
    item = tie("ref:1", 1, 2)
    votes = [rated(0, 5), rated(0, 9, 1), rated(1, 8), rated(1, 4, 1), rated(1, None, 2)]
    assert aggregate_ratings(item, votes).verdict == ScoresVerdict(scores=(7.0, 6.0))


RATINGS = st.lists(st.integers(1, 10).map(float), min_size=4, max_size=4)


@given(st.lists(st.tuples(RATINGS, RATINGS, st.integers(2, 3)), min_size=1, max_size=5))
def test_ties_score_equals_the_formula(questions: list[tuple[list[float], list[float], int]]) -> None:
    """A second derivation with arrays: 0.6 for accuracy, 0.4 for margins, 0.01 for soft margins."""
    results: list[ItemResult] = []
    columns: dict[str, list[Any]] = {"ref": [], "tied": [], "spread": []}
    for number, (ref, tied, right) in enumerate(questions):
        results += [result_of(f"ref:{number}", 1, [*ref]), result_of(f"tied:{number}", right, [*tied])]
        columns["ref"].append(ref[0] - max(ref[1:]))
        columns["tied"].append(min(tied[:right]) - max(tied[right:]))
        columns["spread"].append(max(tied[:right]) - min(tied[:right]))
    one, other, spread = (np.array(columns[name]) for name in ("ref", "tied", "spread"))
    least = np.minimum(one, other)
    with np.errstate(divide="ignore", invalid="ignore"):
        soft = np.nan_to_num(np.tanh(least / spread - 1), nan=0.0)
    expected = (
        0.3 * np.mean(one > 0)
        + 0.3 * np.mean(other > 0)
        + 0.2 * np.mean(other > spread)
        + 0.2 * np.mean(least > spread)
        + 0.01 * np.mean(soft)
    )
    assert ties_score(results) == pytest.approx(float(expected))
