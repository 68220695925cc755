import numpy as np
import pytest
from rating_factories import table_of

from judge_r1.statistics.rating.curate import drop_hardest, informative
from judge_r1.statistics.rating.votes import vote_table


def test_the_filters_in_their_order() -> None:
    votes = [
        ("a", "1", 1.0), ("b", "1", 0.0), ("a", "2", 1.0), ("b", "2", 1.0), ("a", "3", 1.0), ("a", "4", 0.0),
        ("b", "4", 1.0), ("a", "5", 0.0), ("b", "5", 1.0),
    ]  # fmt: skip
    found = informative(vote_table(votes), refused={"5", "3"})
    assert found.dropped == {"2": "uninformative", "3": "incomplete", "5": "refused"}
    assert found.kept.items == ("1", "4")
    assert informative(vote_table(votes), complete=False).dropped["3"] == "uninformative"
    assert informative(vote_table(votes), expected=["a", "b", "c", "a"], complete=False).kept.items == ("1", "4", "5")


def test_nothing_left_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"no item is left to rate judges on \(1 uninformative\)"):
        informative(vote_table([("a", "1", 1.0), ("b", "1", 1.0)]))


@pytest.mark.parametrize(("items", "size"), [(1, 1), (10, 1), (30, 2), (50, 2), (686, 34), (703, 35)])
def test_the_cut_of_the_public_code(items: int, size: int) -> None:
    rows = np.random.default_rng(items).integers(0, 2, (5, items)).astype(float).tolist()
    dropped = drop_hardest(table_of(rows), compat=True, prior=1.0).dropped
    assert len(dropped) == size


def test_the_cut_keeps_a_block_whole() -> None:
    rows = [[1] * 38 + [0, 0], [0, 1] * 19 + [0, 0], [1, 0] * 19 + [1, 1], [0, 1] * 19 + [0, 0]]
    table = table_of(rows)  # of four judges, one solves P039 and P040, and two solve every second other item
    assert drop_hardest(table, share=0.05).dropped == {"P039": "hardest", "P040": "hardest"}
    assert drop_hardest(table, share=0.04).dropped == {}
    assert drop_hardest(table, share=0.04, compat=True).dropped == {"P039": "hardest", "P040": "hardest"}
    assert drop_hardest(table, share=0.02, compat=True).dropped == {"P039": "hardest"}
