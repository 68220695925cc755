"""Calibration measures and maps, against scikit-learn, SciPy and plain sums."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.optimize import minimize_scalar
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

from judge_r1.statistics.calibration import (
    HIGHEST,
    LOWEST,
    Fit,
    Isotonic,
    Temperature,
    Uncalibratable,
    brier,
    cross_fitted,
    expected_calibration_error,
    fit_isotonic,
    fit_temperature,
    reliability,
    squared_errors,
)

CONFIDENCES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.2, 0.5, 0.6, 0.8, 1.0]))
ROWS = st.lists(st.tuples(CONFIDENCES, st.booleans()), min_size=1, max_size=60)
Rows = list[tuple[float, bool]]


def columns(rows: Rows) -> tuple[list[float], list[bool]]:
    return [c for c, _ in rows], [right for _, right in rows]


@given(ROWS)
def test_brier_matches_scikit_learn(rows: Rows) -> None:
    confidences, right = columns(rows)
    assert brier(confidences, right) == pytest.approx(
        brier_score_loss(right, confidences, labels=[False, True]), abs=1e-12
    )
    assert sum(squared_errors(confidences, right)) / len(rows) == pytest.approx(brier(confidences, right))


@given(ROWS, st.integers(1, 15))
def test_bins_of_equal_width_match_scikit_learn(rows: Rows, bins: int) -> None:
    confidences, right = columns(rows)
    table = reliability(confidences, right, "width", bins)
    accuracy, confidence = calibration_curve(right, confidences, n_bins=bins, strategy="uniform", pos_label=True)
    assert [b.accuracy for b in table] == pytest.approx(accuracy.tolist())
    assert [b.confidence for b in table] == pytest.approx(confidence.tolist())
    assert sum(b.n for b in table) == len(rows)


@given(ROWS, st.integers(1, 15), st.randoms(use_true_random=False))
def test_bins_of_equal_mass_keep_ties_together_and_ignore_the_order(rows: Rows, bins: int, rng: object) -> None:
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


@given(ROWS, st.sampled_from(["mass", "width"]))
def test_ece_is_the_weighted_gap_and_at_least_the_mean_gap(rows: Rows, binning: str) -> None:
    confidences, right = columns(rows)
    table = reliability(confidences, right, binning)  # type: ignore[arg-type]
    found = expected_calibration_error(confidences, right, binning)  # type: ignore[arg-type]
    assert found == pytest.approx(sum(b.n / len(rows) * abs(b.accuracy - b.confidence) for b in table), abs=1e-12)
    assert found >= abs(sum(confidences) - sum(right)) / len(rows) - 1e-9  # one bin gives the lowest value
    assert expected_calibration_error(confidences, right, bins=1) == pytest.approx(
        abs(sum(confidences) - sum(right)) / len(rows)
    )


def test_invalid_confidences_are_refused() -> None:
    for confidences, message in (
        ([1.2], "1.2 is not a confidence"),
        ([math.nan], "nan is not a confidence"),
        ([], "0 conf"),
    ):
        for measure in (brier, expected_calibration_error):
            with pytest.raises(ValueError, match=message):
                measure(confidences, [True] * len(confidences))


INNER_CONFIDENCES = st.one_of(st.floats(0.01, 0.99), st.sampled_from([0.0, 0.5, 0.8, 1.0]))
INNER_ROWS = st.lists(st.tuples(INNER_CONFIDENCES, st.booleans()), min_size=1, max_size=40)


def overconfident(n: int, temperature: float, seed: int = 0) -> tuple[list[float], list[bool]]:
    """Answers whose true probability is σ(logit(c) / T)."""
    generator = np.random.default_rng(seed)
    confidences = generator.uniform(0.5, 0.999, n)
    true = 1 / (1 + ((1 - confidences) / confidences) ** (1 / temperature))
    return confidences.tolist(), (generator.random(n) < true).tolist()


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_the_fit_recovers_the_true_temperature(temperature: float) -> None:
    found = fit_temperature(*overconfident(20_000, temperature))
    assert found.temperature == pytest.approx(temperature, rel=0.1)
    assert not found.at_bound
    assert found.n == 20_000


@given(INNER_ROWS)
def test_no_other_temperature_has_a_lower_log_loss(rows: Rows) -> None:
    confidences, right = np.array([c for c, _ in rows]), np.array([r for _, r in rows])
    z = np.log(np.clip(confidences, 1e-6, 1 - 1e-6) / (1 - np.clip(confidences, 1e-6, 1 - 1e-6)))

    def loss(log_temperature: float) -> float:
        return float(np.logaddexp(0, np.where(right, -z, z) / np.exp(log_temperature)).sum())

    if not z.any():
        with pytest.raises(Uncalibratable, match="one half"):
            fit_temperature(confidences.tolist(), right.tolist())
        return
    found = fit_temperature(confidences.tolist(), right.tolist())
    expected = minimize_scalar(loss, bounds=(np.log(LOWEST), np.log(HIGHEST)), method="bounded")
    assert loss(np.log(found.temperature)) <= expected.fun + 1e-9 * (1 + expected.fun)
    assert found.clipped == sum(c in (0.0, 1.0) for c in confidences)


def test_a_temperature_at_the_end_of_the_range_is_marked() -> None:
    assert fit_temperature([0.8, 0.9], [True, True]) == Temperature(temperature=LOWEST, at_bound=True, clipped=0, n=2)
    assert fit_temperature([0.8, 0.9], [False, False]).temperature == HIGHEST
    assert fit_temperature([1.0, 0.9], [False, False]).clipped == 1


@given(INNER_ROWS, st.lists(st.floats(0, 1), max_size=10))
def test_the_isotonic_map_matches_scikit_learn(rows: Rows, others: list[float]) -> None:
    confidences, right = [c for c, _ in rows], [r for _, r in rows]
    ours = fit_isotonic(confidences, right)
    expected = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(confidences, np.array(right, dtype=float))
    queried = [*confidences, *others]
    assert [ours(c) for c in queried] == pytest.approx(expected.predict(queried).tolist(), abs=1e-6)
    assert ours.n == len(rows)


@pytest.mark.parametrize("fit", [fit_temperature, fit_isotonic])
def test_a_map_survives_a_json_round_trip(fit: Fit) -> None:
    fitted = fit(*overconfident(300, 2.0))
    assert type(fitted).model_validate_json(fitted.model_dump_json(by_alias=True)) == fitted


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (Isotonic, '{"kind": "temperature", "x": [0.1], "y": [0.4], "n": 1}', "'isotonic'"),
        (Temperature, '{"temperature": 0, "at_bound": false, "clipped": 0, "n": 1}', "greater than 0"),
        (Temperature, '{"temperature": NaN, "at_bound": false, "clipped": 0, "n": 1}', "finite number"),
        (Isotonic, '{"x": [0.1, 0.2], "y": [0.3], "n": 2}', "x has 2 points and y 1"),
        (Isotonic, '{"x": [0.2, 0.2], "y": [0.3, 0.4], "n": 2}', "x must increase"),
        (Isotonic, '{"x": [0.1, 0.2], "y": [0.4, 0.3], "n": 2}', "y must not decrease"),
        (Isotonic, '{"schema": 2, "x": [0.1], "y": [0.4], "n": 2}', "schema"),
    ],
)
def test_a_broken_map_is_refused(kind: type[Isotonic | Temperature], text: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        kind.model_validate_json(text)


def test_a_map_outside_zero_to_one_is_refused() -> None:
    with pytest.raises(ValidationError, match="less than or equal to 1"):
        Isotonic(x=(0.5,), y=(1.5,), n=1)


@pytest.mark.parametrize("fit", [fit_temperature, fit_isotonic])
def test_maps_improve_an_overconfident_judge_on_unseen_cases(fit: object) -> None:
    confidences, right = overconfident(1500, 3.0)
    clusters = [str(i // 3) for i in range(1500)]
    mapped = cross_fitted(fit, confidences, right, clusters)  # type: ignore[arg-type]
    assert brier(mapped, right) < brier(confidences, right) - 0.01
    assert expected_calibration_error(mapped, right) < expected_calibration_error(confidences, right) / 2


def test_cross_fitting_maps_no_answer_with_a_map_fitted_on_its_case() -> None:
    clusters = [str(i % 11) for i in range(44)]
    confidences = [0.5 + i / 100 for i in range(44)]
    seen: list[set[float]] = []

    def fit(confidences: list[float], correct: list[bool]) -> Isotonic:
        seen.append(set(confidences))
        return Isotonic(x=(0.5,), y=(len(seen) / 10,), n=1)

    mapped = cross_fitted(fit, confidences, [True] * 44, clusters)  # type: ignore[arg-type]
    assert len(seen) == 5
    for c, cluster, fold in zip(confidences, clusters, mapped, strict=True):
        mates = {other for other, name in zip(confidences, clusters, strict=True) if name == cluster}
        assert c in mates
        assert not mates & seen[round(fold * 10) - 1]


def test_one_cluster_cannot_be_cross_fitted() -> None:
    with pytest.raises(Uncalibratable, match="one cluster"):
        cross_fitted(fit_isotonic, [0.5, 0.6], [True, False], ["a", "a"])
