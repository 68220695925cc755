"""Position bias of a pairwise judge, from the answers to both presentation orders of each pair."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Answer = Literal["A", "B", "tie"] | None
"""The letter that the judge wrote, by the order in which it saw the candidates; None is an invalid answer."""
SWAPPED: dict[Answer, Answer] = {"A": "B", "B": "A", "tie": "tie"}


@dataclass(frozen=True)
class Position:
    """Counts of `pairs` judged in both orders: `consistent` (the answers agree on the candidate), `first` (A both
    times), `second` (B both times), `half_tied` (a tie in one order only) and `invalid` (no valid answer in at least
    one order)."""

    pairs: int
    consistent: int
    first: int
    second: int
    half_tied: int
    invalid: int

    @property
    def inconsistent(self) -> int:
        """Pairs with two valid answers that contradict each other: `first`, `second` or `half_tied`."""
        return self.first + self.second + self.half_tied

    @property
    def consistency(self) -> float | None:
        """consistent / pairs: an invalid answer is not consistent. None without pairs."""
        return self.consistent / self.pairs if self.pairs else None

    @property
    def inconsistency(self) -> float | None:
        """inconsistent / pairs (LongJudgeBench, Table 4); None without pairs. `consistency`, this rate and the rate of
        `invalid` add up to one."""
        return self.inconsistent / self.pairs if self.pairs else None

    @property
    def direction(self) -> float | None:
        """first / inconsistent: the share of the inconsistent pairs in which the first position won twice. One half
        means noise, 1 or 0 a bias. None if no pair is inconsistent."""
        return self.first / self.inconsistent if self.inconsistent else None

    @property
    def bias(self) -> float | None:
        """(first - second) / pairs, in [-1, 1]: the advantage of the first position over all pairs. 1 is always-A, -1
        always-B, 0 a judge without a position preference; None without pairs."""
        return (self.first - self.second) / self.pairs if self.pairs else None


def position(answers: Iterable[tuple[Answer, Answer]]) -> Position:
    """Counts the pairs. Each gives the answer to (x, y) and the answer to (y, x), by the letters as shown: a judge that
    prefers x answers ("A", "B").

    Raises:
        ValueError: A value is not an `Answer`.
    """
    pairs = consistent = first = second = half_tied = invalid = 0
    for one, other in answers:
        pairs += 1
        for answer in (one, other):
            if answer is not None and answer not in SWAPPED:
                raise ValueError(f"{answer!r} is not A, B or tie: an invalid answer is None")
        if one is None or other is None:
            invalid += 1
        elif other == SWAPPED[one]:
            consistent += 1
        elif one == other:
            first += one == "A"
            second += one == "B"
        else:
            half_tied += 1
    return Position(pairs, consistent, first, second, half_tied, invalid)
