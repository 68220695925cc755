"""Rounds rewards so that equal rewards in a group give an advantage of exactly 0."""

_GRID = 2**18


def round_reward(r: float) -> float:
    """Returns `r` rounded to a multiple of 2^-18 (error at most 2e-6).

    Both engines compute group means in float32, where the mean of equal numbers often differs from them. Divided by a
    standard deviation of 0 plus epsilon, the difference becomes an advantage: up to 0.1 with verl's default epsilon of
    1e-6 and 0.001 with TRL's 1e-4. Multiples of 2^-18 have exact sums for up to 64 rewards.
    """
    return round(r * _GRID) / _GRID
