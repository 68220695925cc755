"""Vote tables for tests of ratings."""

from collections.abc import Sequence

import numpy as np

from judge_r1.statistics.rating.votes import VoteTable, vote_table

TABLE4 = (
    1959, 1867, 1724, 1713, 1706, 1695, 1671, 1637, 1631, 1571, 1510, 1505, 1444, 1422, 1373, 1342, 1307, 1184, 906,
    867, 762,
)  # fmt: skip
"""RankJudge, Table 4: the Elo of its 21 judges on all domains."""


def table_of(rows: Sequence[Sequence[float]]) -> VoteTable:
    """Judges J01, J02, … in the rows and items P001, P002, … in the columns."""
    return vote_table(
        (f"J{judge:02d}", f"P{item:03d}", points)
        for judge, row in enumerate(rows, 1)
        for item, points in enumerate(row, 1)
    )


def simulated(seed: int, items: int = 652) -> VoteTable:
    """The judges of Table 4 on items whose Elo is normal with mean 1130 and standard deviation 430."""
    random = np.random.default_rng(seed)
    difficulty = random.normal(1130, 430, items)
    chance = 1 / (1 + 10 ** ((difficulty[None] - np.array(TABLE4)[:, None]) / 400))
    right = random.random(chance.shape) < chance
    mixed = right.any(axis=0) & ~right.all(axis=0)
    return table_of(right[:, mixed].astype(float).tolist())
