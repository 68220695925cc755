"""The judges of Table 4 in a simulation: intervals and correlations of the paper's size."""

import pytest
from rating_factories import simulated

from judge_r1.statistics.rating.separation import stability


def test_parts_of_the_votes_rank_alike() -> None:
    found = stability(simulated(0), repeats=3)
    rhos = [part.spearman for part in found]
    assert [part.fraction for part in found] == [0.1, 0.2, 0.5, 0.8]
    assert all(rho is not None for rho in rhos)
    assert rhos[0] == pytest.approx(0.954, abs=0.04)
    assert rhos[3] == pytest.approx(0.996, abs=0.01)
    assert stability(simulated(0), repeats=3) == found
