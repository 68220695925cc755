import numpy as np
import pytest
from rating_factories import table_of

from judge_r1.statistics.rating.bradley_terry import fit
from judge_r1.statistics.rating.separation import separate


def test_a_perfect_judge_has_no_finite_rating() -> None:
    found = separate(table_of([[1, 1, 1], [0, 1, 0], [1, 0, 0]]))
    assert found.judges == {"J01": "above"}
    assert found.items == {"P003": "above"}  # J01 alone solves it: above the other judges, but not above J01
    assert found.rated.judges == ("J02", "J03")


def test_a_judge_without_a_win_is_below() -> None:
    found = separate(table_of([[0, 0, 0], [0, 1, 0], [1, 0, 0]]))
    assert found.judges == {"J01": "below"}


def test_unanimous_items() -> None:
    found = separate(table_of([[1, 0, 1, 0], [1, 0, 0, 1]]))
    assert found.items == {"P001": "below", "P002": "above"}
    assert np.isfinite(fit(found.rated).judges).all()


def test_the_fit_refuses_unanimous_items_and_judges() -> None:
    table = table_of([[1, 0, 1, 0], [1, 0, 0, 1]])
    with pytest.raises(ValueError, match="item 'P001' has no finite rating"):
        fit(table)
    assert np.isfinite(fit(table, prior=1).items).all()
    with pytest.raises(ValueError, match=r"judge .* has no finite rating"):
        fit(table_of([[1, 1, 1], [1, 0, 0], [0, 1, 1]]))


def test_no_finite_rating_at_all() -> None:
    with pytest.raises(ValueError, match="no rating is finite"):
        separate(table_of([[1, 1], [0, 0]]))
