import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rating_factories import simulated, table_of
from scipy.optimize import minimize

from judge_r1.statistics.rating.bradley_terry import anchored_rating, fit
from judge_r1.statistics.rating.errors import rating_errors
from judge_r1.statistics.rating.information import Information
from judge_r1.statistics.rating.separation import separate
from judge_r1.statistics.rating.votes import VoteTable, vote_table

ROWS = st.integers(2, 5).flatmap(
    lambda judges: st.integers(2, 7).flatmap(
        lambda items: st.lists(
            st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=items, max_size=items), min_size=judges, max_size=judges
        )
    )
)


def rated(table: VoteTable) -> VoteTable:
    try:
        found = separate(table).rated
    except ValueError:
        assume(False)
    assume(len(found.judges) > 1)
    return found


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_the_fit_maximizes_the_likelihood(rows: list[list[float]]) -> None:
    table = rated(table_of(rows))
    found = fit(table)
    assert found.converged
    judges = len(table.judges)

    def loss(beta: np.ndarray) -> float:
        margin = beta[:judges][table.judge] - beta[judges:][table.item]
        return float(table.count @ np.logaddexp(0, margin) - table.score @ margin)

    mine = np.concatenate([found.judges, found.items])
    best = minimize(loss, np.zeros(len(mine)), method="BFGS", options={"gtol": 1e-9}).x
    assert loss(mine) <= loss(best) + 1e-9
    np.testing.assert_allclose(mine - mine.mean(), best - best.mean(), atol=1e-3)


@given(ROWS, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_votes_and_names_changes_nothing(rows: list[list[float]], random: object) -> None:
    votes = [(f"j{j}", f"p{p}", points) for j, row in enumerate(rows) for p, points in enumerate(row)]
    table = rated(vote_table(votes))
    renamed = {name: f"x{number}" for number, name in enumerate(random.sample(["j0", "j1", "j2", "j3", "j4"], 5))}
    random.shuffle(votes)
    other = rated(vote_table((renamed[judge], item, points) for judge, item, points in votes))
    one = dict(zip((renamed[name] for name in table.judges), fit(table).elo()[0], strict=True))
    two = dict(zip(other.judges, fit(other).elo()[0], strict=True))
    if one.keys() == two.keys():  # of two components of one size, the order of the names decides
        assert one == pytest.approx(two, abs=1e-4)


@given(ROWS)
@settings(max_examples=40, deadline=None)
def test_errors_equal_the_dense_pseudo_inverse(rows: list[list[float]]) -> None:
    """A second derivation: I⁺ B I⁺ with matrices of all players."""
    table = rated(table_of(rows))
    found = fit(table)
    judges, size = len(table.judges), len(table.judges) + len(table.items)
    information, clusters = np.zeros((size, size)), np.zeros((size, len(table.items)))
    for judge, item, count, points, chance in zip(
        table.judge, table.item, table.count, table.score, found.chances, strict=True
    ):
        column = np.zeros(size)
        column[judge], column[judges + item] = 1, -1
        information += count * chance * (1 - chance) * np.outer(column, column)
        clusters[:, item] += (points - count * chance) * column
    inverse = np.linalg.pinv(information, rcond=1e-10, hermitian=True)
    sandwich = inverse @ clusters @ clusters.T @ inverse
    errors = rating_errors(found)
    scale = 400 / np.log(10)
    np.testing.assert_allclose(errors.judges, scale * np.sqrt(np.diag(sandwich)[:judges]), rtol=1e-4, atol=1e-3)
    model = scale * np.sqrt(np.diag(inverse))
    np.testing.assert_allclose(np.concatenate([errors.judges_model, errors.items_model]), model, rtol=1e-5)


def test_a_prior_makes_every_rating_finite() -> None:
    table = table_of([[1, 1, 1], [0, 1, 0], [0, 0, 0]])
    found = fit(table, prior=1)
    assert found.converged
    assert found.judges[0] > found.judges[1] > found.judges[2]
    assert np.isfinite(rating_errors(found).judges).all()


def test_anchors() -> None:
    found = fit(table_of([[1, 1, 1, 0, 1], [1, 0, 1, 0, 0], [0, 1, 0, 1, 0]]))
    assert found.elo("judges")[0].mean() == pytest.approx(1500)
    assert found.elo("J02")[0][1] == pytest.approx(1500)
    errors = rating_errors(found, "J02")
    assert errors.judges[1] == pytest.approx(0, abs=1e-6)
    with pytest.raises(ValueError, match="no rated judge is named 'J9'"):
        found.elo("J9")


def test_items_of_one_document_are_one_cluster() -> None:
    rows = [[1, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1], [1, 0, 1, 0, 1, 0]]
    votes = [(f"j{j}", f"p{p}", points) for j, row in enumerate(rows) for p, points in enumerate(row)]
    together = vote_table(votes, {"p0": "d", "p2": "d", "p5": "d"})
    assert int(together.cluster.max()) == 3
    assert not np.allclose(rating_errors(fit(together)).judges, rating_errors(fit(vote_table(votes))).judges)


def test_separate_groups_have_no_common_scale() -> None:
    rows = [("a", "p"), ("b", "q")]
    table = vote_table([(judge, item, 0.5) for judge, item in rows])
    assert not Information.of(table, np.zeros(2), np.zeros(2)).connected


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
