"""Calibration measures against scikit-learn and plain sums."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from judge_r1.statistics.calibration import brier, expected_calibration_error, reliability, squared_errors

TOLD = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.2, 0.5, 0.6, 0.8, 1.0]))
ROWS = st.lists(st.tuples(TOLD, st.booleans()), min_size=1, max_size=60)
Rows = list[tuple[float, bool]]


def columns(rows: Rows) -> tuple[list[float], list[bool]]:
    return [c for c, _ in rows], [right for _, right in rows]


@given(ROWS)
def test_brier_is_scikit_learns(rows: Rows) -> None:
    told, right = columns(rows)
    assert brier(told, right) == pytest.approx(brier_score_loss(right, told, labels=[False, True]), abs=1e-12)
    assert sum(squared_errors(told, right)) / len(rows) == pytest.approx(brier(told, right))


@given(ROWS, st.integers(1, 15))
def test_bins_of_equal_width_are_scikit_learns(rows: Rows, bins: int) -> None:
    told, right = columns(rows)
    table = reliability(told, right, "width", bins)
    accuracy, confidence = calibration_curve(right, told, n_bins=bins, strategy="uniform", pos_label=True)
    assert [b.accuracy for b in table] == pytest.approx(accuracy.tolist())
    assert [b.confidence for b in table] == pytest.approx(confidence.tolist())
    assert sum(b.n for b in table) == len(rows)


@given(ROWS, st.integers(1, 15), st.randoms(use_true_random=False))
def test_bins_of_equal_mass_split_no_ties_and_know_no_order(rows: Rows, bins: int, rng: object) -> None:
    table = reliability(*columns(rows), bins=bins)
    assert 1 <= len(table) <= bins
    members = [
        [(c, r) for c, r in rows if (b.low < c <= b.high) or (number == 0 and c == b.low)]
        for number, b in enumerate(table)
    ]
    assert sum(map(len, members)) == len(rows)
    for b, inside in zip(table, members, strict=True):
        assert b.n == len(inside)
        assert b.accuracy == pytest.approx(sum(r for _, r in inside) / b.n)
        assert b.confidence == pytest.approx(sum(c for c, _ in inside) / b.n)
    rng.shuffle(rows)  # type: ignore[attr-defined]
    again = reliability(*columns(rows), bins=bins)
    assert [(b.low, b.high, b.n) for b in again] == [(b.low, b.high, b.n) for b in table]
    assert [b.confidence for b in again] == pytest.approx([b.confidence for b in table])
    assert [b.accuracy for b in again] == pytest.approx([b.accuracy for b in table])


def test_distinct_confidences_fill_bins_of_one_size() -> None:
    told = [i / 100 for i in range(100)]
    assert [b.n for b in reliability(told, [True] * 100)] == [10] * 10
    assert {b.n for b in reliability(told[:96], [True] * 96)} == {9, 10}


@given(ROWS, st.sampled_from(["mass", "width"]))
def test_ece_is_the_weighted_gap_and_at_most_the_mean_gap(rows: Rows, binning: str) -> None:
    told, right = columns(rows)
    table = reliability(told, right, binning)  # type: ignore[arg-type]
    found = expected_calibration_error(told, right, binning)  # type: ignore[arg-type]
    assert found == pytest.approx(sum(b.n / len(rows) * abs(b.accuracy - b.confidence) for b in table), abs=1e-12)
    assert found >= abs(sum(told) - sum(right)) / len(rows) - 1e-9  # one bin is the least that bins can show
    assert expected_calibration_error(told, right, bins=1) == pytest.approx(abs(sum(told) - sum(right)) / len(rows))


def test_equal_width_hides_what_equal_mass_shows() -> None:
    """Sure of everything: right at .92, half wrong at .99. One bin by width, whose mean is nearly right."""
    told = [0.92] * 50 + [0.99] * 50
    right = [True] * 50 + [True] * 41 + [False] * 9
    assert expected_calibration_error(told, right, "width") == pytest.approx(0.045)
    assert expected_calibration_error(told, right) == pytest.approx((0.08 + 0.17) / 2)


def test_a_calibrated_judge_has_the_ece_that_chance_gives() -> None:
    generator = np.random.default_rng(0)
    found = []
    for _ in range(50):
        told = generator.uniform(0.5, 1, 500)
        found.append(expected_calibration_error(told.tolist(), (generator.random(500) < told).tolist()))
    expected = math.sqrt(2 / math.pi) * math.sqrt(10 * float(np.mean(0.75 * 0.25 - 1 / 48)) / 500)
    assert np.mean(found) == pytest.approx(expected, rel=0.1)


def test_what_is_no_confidence_is_an_error() -> None:
    for told, message in (([1.2], "1.2 is not a confidence"), ([math.nan], "nan is not a confidence"), ([], "0 conf")):
        for measure in (brier, expected_calibration_error):
            with pytest.raises(ValueError, match=message):
                measure(told, [True] * len(told))
