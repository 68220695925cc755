"""The judges of Table 4 in a simulation: intervals and correlations of the paper's size."""

import numpy as np
import pytest
from rating_factories import TABLE4, simulated

from judge_r1.statistics.correlation import spearman
from judge_r1.statistics.rating.bradley_terry import fit
from judge_r1.statistics.rating.eip import eip
from judge_r1.statistics.rating.errors import rating_errors
from judge_r1.statistics.rating.stability import stability


def test_intervals_are_of_the_papers_size() -> None:
    """Half-widths of the 95 % interval; the specification's run gave 83, 64, 51, 52, 46, …, 49."""
    widths = 1.96 * np.mean([rating_errors(fit(simulated(seed))).judges for seed in range(3)], axis=0)
    assert 70 < widths[0] < 110
    assert 55 < widths[1] < 85
    assert all(35 < width < 60 for width in widths[2:])


def test_order_and_eip() -> None:
    table = simulated(0)
    judges, _ = fit(table).elo()
    rho = spearman(judges.tolist(), list(TABLE4))
    assert rho is not None
    assert rho > 0.98
    agreement = spearman(judges.tolist(), eip(table).judges.tolist())
    assert agreement is not None
    assert agreement > 0.95


def test_errors_of_items_come_from_the_model() -> None:
    """The sandwich of an item would be a few Elo; the model says more than a hundred."""
    assert np.median(rating_errors(fit(simulated(1))).items_model) > 100


def test_parts_of_the_votes_rank_alike() -> None:
    found = stability(simulated(0), repeats=3)
    rhos = [part.spearman for part in found]
    assert [part.fraction for part in found] == [0.1, 0.2, 0.5, 0.8]
    assert all(rho is not None for rho in rhos)
    assert rhos[0] == pytest.approx(0.954, abs=0.04)
    assert rhos[3] == pytest.approx(0.996, abs=0.01)
    assert stability(simulated(0), repeats=3) == found
