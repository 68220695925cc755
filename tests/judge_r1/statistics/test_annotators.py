"""Agreement of people and of a judge with them, on cases computed with krippendorff 0.9.0, statsmodels 0.15.0, irrCAC
0.4.4 and the published code of the alt-test."""

import numpy as np
import pytest
from label_factories import HUMAN, JUDGE, PEOPLE, VERDICTS, inverted
from numpy.typing import NDArray

from judge_r1.statistics.agreement import agreement_of_people
from judge_r1.statistics.annotators import (
    alpha,
    alt_test,
    ceiling,
    coincidences,
    equal_pairs,
    fleiss_kappa,
    gwet_ac1,
    interval_alpha,
    interval_parts,
    mean_lower,
)

GAPS = ("1 0 1 1 0 1 1 - 0 1 1 0", "1 0 1 0 0 1 1 1 - 1 1 0", "1 1 1 1 0 - 0 1 0 1 - 0")
CLUSTERS = [str(number) for number in range(40)]
SCALE = [1, 2, 3, 4, 5]


def with_gaps() -> NDArray[np.float64]:
    return np.array([[np.nan if one == "-" else float(one) for one in row.split()] for row in GAPS]).T


def test_three_people_with_gaps() -> None:
    ratings = with_gaps()
    assert float(alpha(coincidences(ratings, 2).sum(0), "nominal")) == pytest.approx(0.6125)
    assert gwet_ac1(ratings, 2) == pytest.approx(0.69054, abs=1e-5)
    assert fleiss_kappa(ratings, 2) is None
    complete = ratings[~np.isnan(ratings).any(1)]
    assert fleiss_kappa(complete, 2) == pytest.approx(0.4857143, abs=1e-6)
    assert float(alpha(coincidences(complete, 2).sum(0), "nominal")) == pytest.approx(0.5071429, abs=1e-6)


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.6242775), ("ordinal", 0.8086694)])
def test_alpha_of_each_level(level: str, value: float) -> None:
    ratings = np.array([HUMAN, JUDGE], dtype=float).T - 1
    found = alpha(coincidences(ratings, 5).sum(0), level)  # type: ignore[arg-type]
    assert float(found) == pytest.approx(value, abs=1e-6)


def test_alpha_of_numbers() -> None:
    ratings = np.array([HUMAN, JUDGE], dtype=float).T
    assert float(interval_alpha(interval_parts(ratings).sum(0))) == pytest.approx(0.8219178, abs=1e-6)
    alone = np.vstack([ratings, [9, np.nan]])
    assert float(interval_alpha(interval_parts(alone).sum(0))) == pytest.approx(0.8219178, abs=1e-6)
    assert np.isnan(interval_alpha(interval_parts(np.ones((5, 2))).sum(0)))


def test_alpha_without_variation_is_undefined() -> None:
    same = np.zeros((5, 3))
    assert np.isnan(alpha(coincidences(same, 2).sum(0), "nominal"))
    assert fleiss_kappa(same, 2) is None


def test_the_ceiling_leaves_each_person_out() -> None:
    found = ceiling(PEOPLE, VERDICTS, CLUSTERS)
    assert found is not None
    assert found.people == pytest.approx((0.8875, 0.825, 0.8375))
    assert found.judge == pytest.approx((0.8375, 0.875, 0.8875))
    assert found.means == pytest.approx((0.85, 0.8666667))
    assert found.difference == pytest.approx(0.0166667, abs=1e-6)
    assert found.lower == pytest.approx(-0.0556992, abs=1e-6)
    assert ceiling(PEOPLE[:, :1], VERDICTS, CLUSTERS) is None


def test_the_ceiling_of_a_scale_goes_by_distance_and_a_missing_answer_is_furthest() -> None:
    people = np.array([[0.0, 1], [4, 4]])
    near = ceiling(people, np.array([1.0, 4]), ["a", "b"], SCALE)
    none = ceiling(people, np.array([np.nan, 4]), ["a", "b"], SCALE)
    assert near is not None
    assert none is not None
    assert near.people == pytest.approx((-0.5, -0.5))
    assert near.judge == pytest.approx((0.0, -0.5))
    assert none.judge == pytest.approx((-2.0, -2.0))


def test_the_alt_test_steps_up_through_the_ranks() -> None:
    strict = alt_test(PEOPLE, VERDICTS, epsilon=0.1)
    assert strict is not None
    assert strict.p == pytest.approx((0.0799555, 0.0096886, 0.0096886), abs=1e-6)
    assert strict.winning_rate == pytest.approx(2 / 3)  # rank 1 misses its own threshold, and rank 2 meets its own
    usual = alt_test(PEOPLE, VERDICTS)
    assert usual is not None
    assert usual.p == pytest.approx((0.0033387, 0.0011831, 0.0011831), abs=1e-6)
    assert (usual.winning_rate, usual.passed) == (1, True)
    assert usual.advantage == pytest.approx(0.95)


def test_the_alt_test_without_spread_decides_by_the_mean() -> None:
    equal = alt_test(np.stack([inverted()] * 3, axis=1), inverted())
    assert equal is not None
    assert (equal.p, equal.winning_rate) == ((0.5**40,) * 3, 1)
    opposite = alt_test(np.stack([inverted()] * 3, axis=1), 1 - inverted())
    assert opposite is not None
    assert (opposite.p, opposite.winning_rate) == ((1.0, 1.0, 1.0), 0)
    assert alt_test(PEOPLE[:, :1], VERDICTS) is None


def test_few_items_without_spread_show_little() -> None:
    """SciPy 1.17.1, wilcoxon([-.15] * 3, alternative="less"): 1/8, which is the count of the signs."""
    people, judge = np.array([[0.0] * 3, [1.0] * 3, [0.0] * 3]), np.array([0.0, 1.0, 0.0])
    found = alt_test(people, judge)
    assert found is not None
    assert (found.p, found.passed) == ((0.125,) * 3, False)
    among = ceiling(people, judge, ["a", "b", "c"])
    assert among is not None
    assert (among.difference, among.lower) == (0, pytest.approx(-(1 - 0.05 ** (1 / 3))))
    assert mean_lower(np.array([0.5] * 6), list("aabbcc")) == pytest.approx(0.5 * 0.05 ** (1 / 3))
    assert mean_lower(np.array([0.0, 0.0, 1.0]), list("abc")) == 0, "Student's t alone gives -.64"


def test_each_two_people_with_gaps() -> None:
    people = {str(n): {at: one for at, one in enumerate(row.split()) if one != "-"} for n, row in enumerate(GAPS)}
    found = agreement_of_people({name: {at: float(one) for at, one in own.items()} for name, own in people.items()})
    assert [pair["n"] for pair in found.values()] == [10, 9, 9]
    assert [pair["equal"] for pair in found.values()] == pytest.approx([0.9, 0.7777778, 0.6666667])
    assert [pair["kappa"] for pair in found.values()] == pytest.approx([0.7826087, 0.55, 0.3076923])


def test_repeats() -> None:
    answers = ["PPPPP", "PPPPF", "PPPFF", "FFFFF", "PPPPP", "FFFFP", "PPPPP", "PFPFP"]
    ratings = np.array([[float(one == "P") for one in own] for own in answers])
    assert fleiss_kappa(ratings, 2) == pytest.approx(0.4505495, abs=1e-6)
    assert equal_pairs([list(one) for one in answers]) == pytest.approx(0.75)
    assert equal_pairs([["P"]]) is None
