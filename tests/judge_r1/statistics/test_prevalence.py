"""The rate of a pool: right values by hand, by judgy 0.1.0's formula and by ppi-python 0.2.3's."""

import math

import numpy as np
import pytest

from judge_r1.statistics.intervals import wilson_ci
from judge_r1.statistics.prevalence import (
    Counts,
    NoInformation,
    Stratum,
    corrected,
    power_tuned,
    prediction_powered,
    stratified,
    variance_parts,
    weighted_by_verdict,
)

COUNTS = Counts(good=80, good_passed=70, bad=20, bad_failed=15)
POOL = [1.0] * 320 + [0.0] * 80
LABELS = [1.0] * 80 + [0.0] * 20
VERDICTS = [1.0] * 70 + [0.0] * 10 + [1.0] * 5 + [0.0] * 15


def test_the_corrected_rate_with_lang_and_reiczigels_interval() -> None:
    found = corrected(COUNTS, 320, 400)
    assert (found.value, found.error) == pytest.approx((0.88, 0.0680417), abs=1e-6)
    assert found.ci95 == pytest.approx((0.7523996, 1.0), abs=1e-6)


def test_a_balanced_set_of_labels_gives_the_same_rate() -> None:
    found = corrected(Counts(40, 35, 40, 30), 320, 400)
    assert found.value == pytest.approx(0.88)
    assert found.ci95 == pytest.approx((0.7414069, 1.0), abs=1e-6)
    # A random sample is assumed here: the interval leaves the right value out.
    labels, verdicts = [1.0] * 40 + [0.0] * 40, [1.0] * 35 + [0.0] * 5 + [1.0] * 10 + [0.0] * 30
    assert prediction_powered(labels, verdicts, POOL).ci95[1] < 0.88


def test_a_rate_outside_the_unit_interval_is_shown_as_it_is() -> None:
    assert corrected(COUNTS, 390, 400).raw == pytest.approx(1.16)


@pytest.mark.parametrize(
    ("weight", "value", "interval"),
    [(1, 0.85, (0.7651311, 0.9348689)), (0, 0.8, (0.7216014, 0.8783986))],
)
def test_a_given_weight_of_the_verdicts(weight: float, value: float, interval: tuple[float, float]) -> None:
    found = power_tuned(np.array(LABELS), np.array(VERDICTS), np.array(POOL), weight)
    assert found.value == pytest.approx(value)
    assert found.ci95 == pytest.approx(interval, abs=1e-6)


def test_prediction_powered_and_post_stratified_rates_of_a_random_sample() -> None:
    found = prediction_powered(LABELS, VERDICTS, POOL)
    assert found.value == pytest.approx(0.8243545, abs=1e-6)
    assert found.ci95 == pytest.approx((0.7574402, 0.8912687), abs=1e-6)
    by_verdict = stratified([Stratum(320, 75, 70), Stratum(80, 25, 10)], at_random=True)
    assert (by_verdict.value, by_verdict.error) == pytest.approx((0.8266667, 0.0320740), abs=1e-6)


def test_labels_that_were_drawn_by_verdict_are_weighted() -> None:
    passed, failed = Stratum(320, 40, 36), Stratum(80, 40, 10)
    found = stratified([passed, failed])
    assert (found.value, found.error) == pytest.approx((0.77, 0.0408562), abs=1e-6)
    assert weighted_by_verdict(passed, failed) == pytest.approx((0.9350649, 0.6521739, 0.87, 0.6153846), abs=1e-6)


def test_the_parts_of_the_variance_say_which_label_is_worth_more() -> None:
    parts = variance_parts(COUNTS, 320, 400)
    assert parts == pytest.approx((0.001024, 0.0027104, 0.0003456), abs=1e-7)
    assert math.sqrt(sum(parts)) == pytest.approx(0.0638749, abs=1e-6)
    assert parts.good / COUNTS.good > parts.bad / COUNTS.bad


@pytest.mark.parametrize("counts", [Counts(20, 10, 20, 10), Counts(20, 12, 20, 11), Counts(10, 9, 0, 0)])
def test_a_judge_without_information_gives_no_estimate(counts: Counts) -> None:
    with pytest.raises(NoInformation):
        corrected(counts, 300, 400)


def test_a_verdict_without_labels_gives_no_estimate() -> None:
    with pytest.raises(NoInformation, match="fewer than two labels"):
        stratified([Stratum(320, 40, 36), Stratum(80, 1, 1)])


def test_labels_that_are_all_equal_leave_an_interval() -> None:
    """ppi-python 0.2.3 and the formulas alone give [1, 1] for five good labels, and for two of each verdict."""
    wilson = wilson_ci(5, 5)
    assert prediction_powered([1.0] * 5, [1.0] * 5, POOL).ci95 == pytest.approx(wilson)
    assert prediction_powered([0.0] * 5, [1.0, 0, 0, 1, 0], POOL).ci95 == pytest.approx((0, 1 - wilson[0]))
    trusted = power_tuned(np.array([1.0, 1, 0]), np.array([1.0, 1, 0]), np.array([1.0, 1, 0, 1]), 1)
    assert trusted.ci95[0] == pytest.approx(
        max(0, 0.75 - math.hypot(1.96 * math.sqrt(0.1875 / 4), wilson_ci(0, 3)[1])), abs=1e-3
    )
    lowest = wilson_ci(2, 2)[0]
    found = stratified([Stratum(50, 2, 2), Stratum(50, 2, 2)])
    assert found.ci95 == pytest.approx((1 - math.sqrt(0.5) * (1 - lowest), 1))
    by_chance = stratified([Stratum(50, 2, 2), Stratum(50, 2, 0)], at_random=True)
    assert by_chance.ci95[0] < 0.2
    assert by_chance.ci95[1] > 0.8


def test_intervals_of_few_labels_hold_the_rate() -> None:
    """Against all samples of five labels."""
    for rate in (0.05, 0.3, 0.5, 0.8, 0.95):
        inside = 0.0
        for good in range(6):
            low, high = prediction_powered([1.0] * good + [0.0] * (5 - good), [1.0] * 5, [1.0] * 50).ci95
            inside += math.comb(5, good) * rate**good * (1 - rate) ** (5 - good) * (low <= rate <= high)
        assert inside > 0.92


@pytest.mark.parametrize(
    ("strata", "found"),
    [
        ([(10, 2, 0), (10, 2, 0)], (None, 0.5, 0.5, 0)),
        ([(10, 2, 2), (10, 2, 2)], (0.5, None, 0.5, 0)),
        ([(10, 2, 2), (0, 0, 0)], (1, None, 1, None)),
    ],
)
def test_labels_of_one_class_leave_rates_undefined(
    strata: list[tuple[int, int, int]], found: tuple[float, ...]
) -> None:
    assert weighted_by_verdict(*(Stratum(*one) for one in strata)) == found
