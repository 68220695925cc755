"""The worked examples of RankJudge's ratings, to the printed digits."""

import numpy as np
import pytest
from rating_factories import table_of

from judge_r1.statistics.rating.bradley_terry import eip, fit
from judge_r1.statistics.rating.errors import rating_errors

FIXTURE = [[1, 1, 1, 0, 1], [1, 0, 1, 0, 0], [0, 1, 0, 1, 0]]
HALVES = [[1, 0.5, 1, 0], [0.5, 0, 1, 0.5], [0, 1, 0.5, 0.5]]


@pytest.mark.parametrize(("polish", "theta", "points"), [(True, 6e-7, 6e-4), (False, 4e-6, 8e-4)])
def test_ratings(polish: bool, theta: float, points: float) -> None:
    """To all printed digits; the sweeps of the public code alone stop a few units of the last digit away."""
    found = fit(table_of(FIXTURE), polish=polish)
    np.testing.assert_allclose(np.exp(found.judges), [2.982687, 0.369184, 0.369184], rtol=0, atol=theta)
    np.testing.assert_allclose(np.exp(found.items), [0.306282] * 3 + [1.680050] * 2, rtol=0, atol=theta)
    judges, items = found.elo()
    np.testing.assert_allclose(judges, [1689.843, 1326.897, 1326.897], rtol=0, atol=points)
    np.testing.assert_allclose(items, [1294.448] * 3 + [1590.129] * 2, rtol=0, atol=points)


def test_half_points() -> None:
    judges, items = fit(table_of(HALVES)).elo()
    np.testing.assert_allclose(judges, [1559.837, 1457.704, 1457.704], rtol=0, atol=6e-4)
    np.testing.assert_allclose(items, [1491.53, 1491.53, 1207.806, 1614.238], rtol=0, atol=6e-4)


def test_standard_errors() -> None:
    errors = rating_errors(fit(table_of(FIXTURE)))
    np.testing.assert_allclose(errors.judges, [195.248, 146.019, 217.293], rtol=0, atol=6e-4)
    np.testing.assert_allclose(errors.judges_model, [190.542, 155.124, 155.124], rtol=0, atol=6e-4)


def test_eip_tells_judges_apart_that_bradley_terry_cannot() -> None:
    scores = eip(table_of(FIXTURE))
    np.testing.assert_allclose(scores.judges, [81.938, 0, 100], rtol=0, atol=6e-4)
    np.testing.assert_allclose(scores.items, [21.795, 0, 21.795, 100, 37.270], rtol=0, atol=6e-4)
    assert scores.iterations == 19


def test_a_judge_without_a_win_ends_at_the_floor() -> None:
    found = fit(table_of([[1, 0, 1], [0, 1, 0], [0, 0, 0]]), polish=False)
    assert found.elo()[0][2] == pytest.approx(-2500, abs=1e-6)
