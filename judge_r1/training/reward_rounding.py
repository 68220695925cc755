"""The reward as the engines are handed it."""

_GRID = 2**18


def round_reward(r: float) -> float:
    """`r` rounded to a multiple of 2^-18 (an error of 2e-6 at most).

    Both engines take the mean of a group in float32. There the mean of equal numbers is often not that number, and the
    difference over a deviation of nothing is an advantage: up to 0.1 for every episode of a group whose outcomes are
    all alike with verl's own epsilon of 1e-6, 0.001 with TRL's 1e-4. On this grid the sums of up to 64 rewards are
    exact, and such a group learns nothing.
    """
    return round(r * _GRID) / _GRID
