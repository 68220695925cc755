"""Temperature and isotonic maps against scipy and scikit-learn, written and read, and on cases they have not seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.optimize import minimize_scalar
from sklearn.isotonic import IsotonicRegression

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
)

TOLD = st.one_of(st.floats(0.01, 0.99), st.sampled_from([0.0, 0.5, 0.8, 1.0]))
ROWS = st.lists(st.tuples(TOLD, st.booleans()), min_size=1, max_size=40)
Rows = list[tuple[float, bool]]


def overconfident(n: int, temperature: float, seed: int = 0) -> tuple[list[float], list[bool]]:
    """Answers whose true probability is σ(logit(c) / T)."""
    generator = np.random.default_rng(seed)
    told = generator.uniform(0.5, 0.999, n)
    true = 1 / (1 + ((1 - told) / told) ** (1 / temperature))
    return told.tolist(), (generator.random(n) < true).tolist()


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_the_temperature_that_made_the_answers_is_found(temperature: float) -> None:
    found = fit_temperature(*overconfident(20_000, temperature))
    assert found.temperature == pytest.approx(temperature, rel=0.1)
    assert not found.at_bound
    assert found.n == 20_000


@given(ROWS)
def test_no_other_temperature_has_a_lower_log_loss(rows: Rows) -> None:
    told, right = np.array([c for c, _ in rows]), np.array([r for _, r in rows])
    z = np.log(np.clip(told, 1e-6, 1 - 1e-6) / (1 - np.clip(told, 1e-6, 1 - 1e-6)))

    def loss(log_temperature: float) -> float:
        return float(np.logaddexp(0, np.where(right, -z, z) / np.exp(log_temperature)).sum())

    if not z.any():
        with pytest.raises(Uncalibratable, match="one half"):
            fit_temperature(told.tolist(), right.tolist())
        return
    found = fit_temperature(told.tolist(), right.tolist())
    theirs = minimize_scalar(loss, bounds=(np.log(LOWEST), np.log(HIGHEST)), method="bounded")
    assert loss(np.log(found.temperature)) <= theirs.fun + 1e-9 * (1 + theirs.fun)
    assert found.clipped == sum(c in (0.0, 1.0) for c in told)


def test_a_temperature_keeps_order_and_one_changes_nothing() -> None:
    one = Temperature(temperature=1.0, at_bound=False, clipped=0, n=1)
    assert [one(c) for c in (0.1, 0.5, 0.9)] == pytest.approx([0.1, 0.5, 0.9])
    soft = Temperature(temperature=3.0, at_bound=False, clipped=0, n=1)
    mapped = [soft(c) for c in (0.0, 0.1, 0.5, 0.9, 1.0)]
    assert mapped == sorted(mapped)
    assert soft(0.5) == 0.5
    assert 0.5 < soft(0.9) < 0.9


def test_the_ends_of_the_range_are_named() -> None:
    assert fit_temperature([0.8, 0.9], [True, True]) == Temperature(temperature=LOWEST, at_bound=True, clipped=0, n=2)
    assert fit_temperature([0.8, 0.9], [False, False]).temperature == HIGHEST
    assert fit_temperature([1.0, 0.9], [False, False]).clipped == 1


@given(ROWS, st.lists(st.floats(0, 1), max_size=10))
def test_the_isotonic_map_is_scikit_learns(rows: Rows, others: list[float]) -> None:
    told, right = [c for c, _ in rows], [r for _, r in rows]
    ours = fit_isotonic(told, right)
    theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(told, np.array(right, dtype=float))
    asked = [*told, *others]
    assert [ours(c) for c in asked] == pytest.approx(theirs.predict(asked).tolist(), abs=1e-6)
    assert ours.n == len(rows)


def test_pooling_by_hand() -> None:
    found = fit_isotonic([0.5, 0.6, 0.6, 0.7, 0.8, 0.9], [False, True, False, False, True, True])
    assert (found.x, found.y) == ((0.5, 0.6, 0.7, 0.8, 0.9), (0.0, 1 / 3, 1 / 3, 1.0, 1.0))
    assert found(0.75) == pytest.approx(2 / 3)
    assert (found(0.0), found(1.0)) == (0.0, 1.0)


@pytest.mark.parametrize("fit", [fit_temperature, fit_isotonic])
def test_a_map_comes_back_as_it_was_written(fit: Fit) -> None:
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


def test_maps_cannot_be_made_wrong() -> None:
    with pytest.raises(ValidationError, match="less than or equal to 1"):
        Isotonic(x=(0.5,), y=(1.5,), n=1)


@pytest.mark.parametrize("fit", [fit_temperature, fit_isotonic])
def test_on_unseen_cases_an_overconfident_judge_gets_better(fit: object) -> None:
    told, right = overconfident(1500, 3.0)
    clusters = [str(i // 3) for i in range(1500)]
    mapped = cross_fitted(fit, told, right, clusters)  # type: ignore[arg-type]
    assert brier(mapped, right) < brier(told, right) - 0.01
    assert expected_calibration_error(mapped, right) < expected_calibration_error(told, right) / 2


def test_no_answer_is_mapped_by_a_map_that_saw_its_case() -> None:
    clusters = [str(i % 11) for i in range(44)]
    told = [0.5 + i / 100 for i in range(44)]
    seen: list[set[float]] = []

    def fit(confidences: list[float], correct: list[bool]) -> Isotonic:
        seen.append(set(confidences))
        return Isotonic(x=(0.5,), y=(len(seen) / 10,), n=1)

    mapped = cross_fitted(fit, told, [True] * 44, clusters)  # type: ignore[arg-type]
    assert len(seen) == 5
    for c, cluster, fold in zip(told, clusters, mapped, strict=True):
        mates = {other for other, name in zip(told, clusters, strict=True) if name == cluster}
        assert c in mates
        assert not mates & seen[round(fold * 10) - 1]


def test_isotonic_fitted_and_scored_on_the_same_answers_flatters_itself() -> None:
    """Confidences that say nothing: what cross-fitting is for."""
    generator = np.random.default_rng(0)
    told, right = generator.uniform(0.5, 1, 200).tolist(), (generator.random(200) < 0.7).tolist()
    inside = fit_isotonic(told, right)
    flattered = brier([inside(c) for c in told], right)
    honest = brier(cross_fitted(fit_isotonic, told, right, [str(i) for i in range(200)]), right)
    constant = brier([sum(right) / 200] * 200, right)  # the best that a map without information can do
    assert flattered < constant < honest


def test_one_cluster_cannot_be_cross_fitted() -> None:
    with pytest.raises(Uncalibratable, match="one cluster"):
        cross_fitted(fit_isotonic, [0.5, 0.6], [True, False], ["a", "a"])
