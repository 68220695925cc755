"""Answers to both orders of a pair: consistency and position bias."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.statistics.position_bias import Answer, position

ANSWERS = st.sampled_from(["A", "B", "tie", None])


def test_every_pair_is_counted_in_one_category() -> None:
    found = position([("A", "B"), ("tie", "tie"), ("A", "A"), ("B", "B"), ("A", "tie"), ("B", None), (None, None)])
    assert (found.pairs, found.consistent, found.first, found.second) == (7, 2, 1, 1)
    assert (found.half_tied, found.invalid) == (1, 2)
    assert (found.consistency, found.inconsistency) == (2 / 7, 3 / 7)
    assert found.direction == pytest.approx(1 / 3)
    assert found.bias == 0.0


def test_a_judge_that_always_prefers_one_position_has_maximal_bias() -> None:
    always_a, always_b = position([("A", "A")] * 9), position([("B", "B")] * 9)
    assert (always_a.consistency, always_a.direction, always_a.bias) == (0.0, 1.0, 1.0)
    assert (always_b.consistency, always_b.direction, always_b.bias) == (0.0, 0.0, -1.0)


def test_shares_of_no_pairs_are_none() -> None:
    found = position([])
    assert (found.consistency, found.inconsistency, found.direction, found.bias) == (None,) * 4


def test_an_unknown_answer_is_refused() -> None:
    for answers in (("A", "b"), ("A>B", "B"), ("invalid", None)):
        with pytest.raises(ValueError, match="is not A, B or tie"):
            position([answers])  # type: ignore[list-item]


@given(st.lists(st.tuples(ANSWERS, ANSWERS), min_size=1, max_size=40))
def test_the_categories_add_up_and_the_order_of_the_two_runs_does_not_matter(
    answers: list[tuple[Answer, Answer]],
) -> None:
    found = position(answers)
    assert found.consistent + found.inconsistent + found.invalid == found.pairs == len(answers)
    assert position([(other, one) for one, other in answers]) == found
    # a plain second derivation, in terms of which text was preferred
    preferred = [({"A": "x", "B": "y"}.get(one, one), {"A": "y", "B": "x"}.get(two, two)) for one, two in answers]
    assert found.consistent == sum(a == b is not None for a, b in preferred)
    flipped: dict[Answer, Answer] = {"A": "B", "B": "A"}
    mirrored = position([(flipped.get(a, a), flipped.get(b, b)) for a, b in answers])
    assert mirrored.bias == -(found.bias or 0.0)
