import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rating_factories import simulated

from judge_r1.statistics.rating.bradley_terry import anchored_rating, fit


@given(st.lists(st.tuples(st.floats(500, 2500), st.sampled_from([0.0, 0.5, 1.0])), min_size=2, max_size=30))
def test_expected_points_equal_the_points(votes: list[tuple[float, float]]) -> None:
    difficulty, points = (np.array(column) for column in zip(*votes, strict=True))
    found = anchored_rating(difficulty, points)
    if points.sum() in (0, len(points)):
        assert math.isinf(found.elo)
        assert found.se is None
    else:
        expected = 1 / (1 + 10 ** ((difficulty - found.elo) / 400))
        assert expected.sum() == pytest.approx(points.sum(), abs=1e-6)
        assert found.se is not None


def test_a_judge_of_the_panel_keeps_its_rating() -> None:
    table = simulated(0, items=200)
    judges, items = fit(table).elo()
    points, votes = table.matrix()
    for index in range(0, len(table.judges), 5):
        assert anchored_rating(items, points[index]).elo == pytest.approx(judges[index], abs=1e-3)
    assert votes.min() == 1


def test_clusters_change_the_error_alone() -> None:
    difficulty, points = np.array([1400.0, 1500, 1600, 1500]), np.array([1.0, 1, 0, 0])
    one, other = anchored_rating(difficulty, points), anchored_rating(difficulty, points, np.array([0, 0, 1, 1]))
    assert one.elo == other.elo
    assert one.se != other.se


def test_no_votes() -> None:
    with pytest.raises(ValueError, match="no vote on an item of the scale"):
        anchored_rating(np.array([]), np.array([]))
