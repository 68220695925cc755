"""The bounded least squares fit of checklist weights."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_r1.statistics.checklist_weights import fit_weights

GRID = [list(row) for row in product((0.0, 0.5, 1.0), repeat=3)]
"""27 rows that identify three weights."""


@given(st.lists(st.floats(0.5, 5), min_size=3, max_size=3))
@settings(max_examples=30)
def test_weights_inside_the_bound_are_recovered(raw: list[float]) -> None:
    found = fit_weights(GRID, [sum(w * x for w, x in zip(raw, row, strict=True)) for row in GRID])
    assert found.raw == pytest.approx(raw, abs=1e-9)
    assert found.weights == pytest.approx([100 * w / sum(raw) for w in raw], abs=1e-7)
    assert (found.identified, found.n) == (True, 27)


def test_equal_columns_are_named_as_rank_deficient() -> None:
    found = fit_weights([[a, a] for a in (0.0, 0.5, 1.0)], [0, 4, 8])
    assert (found.rank, found.identified) == (1, False)
    assert found.warnings[0].startswith("rank 1 of 2")
    assert found.warnings[1] == "3 rows for 2 weights, fewer than 10 for each"


def test_weights_without_a_spread_have_no_intervals() -> None:
    """A resample of one cluster is the same fit, and of a fit without full rank an arbitrary one."""
    equal = [[a, a] for a in (0.0, 0.5, 1.0)]
    undetermined = fit_weights(equal, [0, 4, 8], resamples=20)
    assert (undetermined.low, undetermined.high) == (None, None)
    assert fit_weights(equal, [0, 4, 8], resamples=20, ridge=0.1).low is not None  # the ridge determines them
    y = [a + b + c for a, b, c in GRID]
    one = fit_weights(GRID, y, ["same"] * len(GRID), resamples=20)
    assert (one.low, one.warnings[-1]) == (None, "one instruction, so no intervals")
    assert fit_weights(GRID, y, resamples=20).low is not None


def test_r2_can_be_negative_and_is_none_for_equal_scores() -> None:
    low = fit_weights([[0.0], [1.0]], [10, 0])
    assert low.r2 is not None
    assert low.r2 < 0
    assert fit_weights([[1.0], [0.5]], [5, 5]).r2 is None


def test_intervals_cover_the_weights_and_draw_clusters() -> None:
    rng = np.random.default_rng(1)
    x = rng.choice([0, 0.25, 0.5, 0.75, 1], size=(120, 3))
    y = x @ [5, 3, 2] + rng.normal(0, 0.5, 120)
    alone = fit_weights(x.tolist(), y.tolist(), resamples=200)
    assert alone.low is not None
    assert alone.high is not None
    assert all(a <= w <= b for a, w, b in zip(alone.low, alone.weights, alone.high, strict=True))
    draws = np.random.default_rng(0)
    drawn = []
    for rows in (draws.integers(120, size=120) for _ in range(200)):
        raw = np.linalg.lstsq(x[rows], y[rows], rcond=None)[0]  # the bound is far
        drawn.append(100 * raw / raw.sum())
    assert (alone.low, alone.high) == tuple(pytest.approx(end) for end in np.percentile(drawn, [2.5, 97.5], axis=0))
    copied = fit_weights(
        [*x.tolist(), *x.tolist()], [*y.tolist(), *y.tolist()], [str(n) for n in [*range(120), *range(120)]],
        resamples=200,
    )  # fmt: skip
    assert copied.clusters == 120
    assert copied.low == pytest.approx(alone.low)  # copies of a row in its cluster add no evidence


@pytest.mark.parametrize("shape", [([], []), ([[1.0]], [1, 2])])
def test_shapes_that_do_not_fit_raise(shape: tuple[list[list[float]], list[float]]) -> None:
    with pytest.raises(ValueError, match="do not form a fit"):
        fit_weights(*shape)
