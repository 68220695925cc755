"""Bradley–Terry ratings of players that are compared with each other.

    Pr(i beats j) = θ_i / (θ_i + θ_j)

Each result is entered twice, once with either player in the role of the judge. The likelihood of judges and items is
then symmetric in the two roles, and with a prior it has one maximum, so both roles of a player get the same rating.
"""

from collections.abc import Iterable

from judge_r1.statistics.rating.bradley_terry import fit
from judge_r1.statistics.rating.votes import vote_table

Result = tuple[int, int, float]
"""Two players, and the points of the first: 1 for a win, 1/2 for a tie, or a probability."""


def head_to_head(results: Iterable[Result], *, prior: float) -> dict[int, float]:
    """ln θ of every player with a result. `prior` is as for `bradley_terry.fit`; it must be positive, so that a player
    who wins everything has a finite rating and players without a common opponent can be compared."""
    votes = [
        vote
        for first, second, points in results
        for vote in ((f"{first:08d}", f"{second:08d}", points), (f"{second:08d}", f"{first:08d}", 1.0 - points))
    ]
    if not votes:
        return {}
    fitted = fit(vote_table(votes), prior=prior)
    return {int(name): float(rating) for name, rating in zip(fitted.table.judges, fitted.judges, strict=True)}
