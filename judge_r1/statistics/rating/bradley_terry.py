"""Bradley–Terry ratings of judges and items on one scale (RankJudge, appendix B.1).

    Pr(judge j answers item q correctly) = θ_j / (θ_j + θ_q),   Elo = 1500 + 400·log10 θ

The fit runs MM sweeps θ_i ← w_i / Σ_k n_ik / (θ_i + θ_k), first over all judges, then over all items. Sweeps converge
slowly where players are far apart, so Newton steps on ln θ finish the fit; a step that lowers the likelihood is halved.

`head_to_head` rates players that are compared with each other, Pr(i beats j) = θ_i / (θ_i + θ_j). Each result is
entered twice, once with either player in the role of the judge. The likelihood is then symmetric in the two roles, and
with a prior it has one maximum, so both roles of a player get the same rating.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from judge_r1.statistics.rating.information import Information, logistic
from judge_r1.statistics.rating.votes import Floats, Ints, VoteTable, sums, vote_table

Anchor = Literal["all", "judges"] | str
ELO = 400 / np.log(10)
"""Elo points per unit of ln θ."""
CENTRE = 1500.0
_SWEEPS, _TOLERANCE, _FLOOR = 1000, 1e-6, 1e-10
_FIRST_SWEEPS, _NEWTON_STEPS = 20, 50


@dataclass(frozen=True)
class Fit:
    """Ratings as ln θ; the mean θ of all players is 1. `converged` is false if the likelihood could still grow."""

    table: VoteTable
    judges: Floats
    items: Floats
    sweeps: int
    converged: bool
    prior: float = 0.0

    @property
    def chances(self) -> Floats:
        """The fitted chance of a correct answer for each cell of the table."""
        return logistic(self.judges[self.table.judge] - self.items[self.table.item])

    def elo(self, anchor: Anchor = "all") -> tuple[Floats, Floats]:
        """Elo of the judges and of the items. 1500 is the arithmetic mean of θ over `all` players (the paper's), the
        mean rating of the `judges`, or the rating of the judge with this name."""
        centre = self.centre(anchor)
        return CENTRE + ELO * (self.judges - centre), CENTRE + ELO * (self.items - centre)

    def centre(self, anchor: Anchor) -> float:
        """The ln θ that gets 1500 Elo. Raises: ValueError for an unknown judge."""
        if anchor == "all":
            return float(np.log(np.mean(np.exp(np.concatenate([self.judges, self.items])))))
        if anchor == "judges":
            return float(np.mean(self.judges))
        if anchor not in self.table.judges:
            raise ValueError(f"no rated judge is named {anchor!r}")
        return float(self.judges[self.table.judges.index(anchor)])


def fit(table: VoteTable, *, prior: float = 0.0, polish: bool = True) -> Fit:
    """The maximum-likelihood ratings of a table without separation (`separation.separate`).

    `prior` adds that many votes of each player against a player of average strength, half of them won; then every
    rating is finite. `polish=False` uses sweeps alone: up to 1000, until no θ changes by 1e-6 (the public code).

    Raises:
        ValueError: Without `prior`, a judge or an item has no point or all points, so its rating is infinite.
    """
    if polish and not prior:
        _check_finite("judge", table.judges, *table.judge_points)
        _check_finite("item", table.items, *table.item_points)
    judges, items, sweeps, converged = _sweep(table, prior, _FIRST_SWEEPS if polish else _SWEEPS)
    if polish:
        judges, items, converged = _newton(table, judges, items, prior)
    if not prior:
        shift = np.log(np.mean(np.exp(np.concatenate([judges, items]))))
        judges, items = judges - shift, items - shift
    return Fit(table, judges, items, sweeps, converged, prior)


def _check_finite(kind: str, names: Sequence[str], points: Floats, votes: Floats) -> None:
    unanimous = np.flatnonzero((points <= 0) | (points >= votes))
    if unanimous.size:
        raise ValueError(f"{kind} {names[unanimous[0]]!r} has no finite rating: all its votes are equal (see separate)")


def _sweep(table: VoteTable, prior: float, most: int) -> tuple[Floats, Floats, int, bool]:
    judges, items = np.ones(len(table.judges)), np.ones(len(table.items))
    judge_wins = table.judge_points[0] + prior / 2
    item_wins = table.item_points[1] - table.item_points[0] + prior / 2
    for sweep in range(1, most + 1):
        before = judges, items
        inverse = table.count / (judges[table.judge] + items[table.item])
        judges = judge_wins / (np.bincount(table.judge, inverse, len(judges)) + prior / (judges + 1))
        inverse = table.count / (judges[table.judge] + items[table.item])
        items = item_wins / (np.bincount(table.item, inverse, len(items)) + prior / (items + 1))
        if not prior:  # the prior fixes the scale
            mean = (judges.sum() + items.sum()) / (len(judges) + len(items))
            judges, items = judges / mean, items / mean
        # A player without a point goes to 0, whose logarithm is not finite.
        judges, items = np.maximum(judges, _FLOOR), np.maximum(items, _FLOOR)
        change = max(np.abs(judges - before[0]).max(), np.abs(items - before[1]).max())
        if change < _TOLERANCE:
            return np.log(judges), np.log(items), sweep, True
    return np.log(judges), np.log(items), most, False


def _newton(table: VoteTable, judges: Floats, items: Floats, prior: float) -> tuple[Floats, Floats, bool]:
    """Newton steps on ln θ, halved until the likelihood does not fall. Ends when the largest residual, in points, is
    near the precision of the sums."""
    enough = 1e-10 * max(1.0, float(table.count.max()), table.judge_points[1].max() ** 0.5)
    best = _log_likelihood(table, judges, items, prior)
    for _ in range(_NEWTON_STEPS):
        chance = logistic(judges[table.judge] - items[table.item])
        residual = table.score - table.count * chance
        up = np.bincount(table.judge, residual, len(judges)) + prior * (0.5 - logistic(judges))
        down = -np.bincount(table.item, residual, len(items)) + prior * (0.5 - logistic(items))
        if max(np.abs(up).max(), np.abs(down).max()) < enough:
            return judges, items, True
        information = Information.of(table, judges, items, prior)
        step_judges, step_items = information.solve(up, down)
        for _ in range(30):
            value = _log_likelihood(table, judges + step_judges, items + step_items, prior)
            # At the maximum, rounding alone lowers the likelihood.
            if value >= best - 1e-12 * abs(best):
                break
            step_judges, step_items = step_judges / 2, step_items / 2
        judges, items, best = judges + step_judges, items + step_items, value
    return judges, items, False


def _log_likelihood(table: VoteTable, judges: Floats, items: Floats, prior: float) -> float:
    margin = judges[table.judge] - items[table.item]
    votes = table.score @ margin - table.count @ np.logaddexp(0, margin)
    players = np.concatenate([judges, items])
    return float(votes + prior * (players / 2 - np.logaddexp(0, players)).sum())


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


@dataclass(frozen=True)
class AnchoredRating:
    """A rating in Elo and its standard error, which treats the difficulties as known. A judge that is right on all
    items, or on none, has a rating of ±inf and no error."""

    elo: float
    se: float | None


def anchored_rating(difficulty: Floats, points: Floats, clusters: Ints | None = None) -> AnchoredRating:
    """The β that solves Σ c_q = Σ σ(β - β_q), by bisection; SE = √(Σ r²) / Σ w with the residuals r summed by cluster
    and w = σ(1 - σ). `difficulty` holds the Elo of the item of each vote.

    Raises:
        ValueError: There are no votes.
    """
    if not len(points):
        raise ValueError("the judge has no vote on an item of the scale")
    beta = (difficulty - CENTRE) / ELO
    total = float(points.sum())
    if total in (0.0, float(len(points))):
        return AnchoredRating(math.inf if total else -math.inf, None)
    low, high = float(beta.min()) - 50, float(beta.max()) + 50
    while high - low > 1e-12 * max(1.0, abs(low), abs(high)):
        middle = (low + high) / 2
        # No float lies between the bounds.
        if middle in (low, high):
            break
        low, high = (low, middle) if logistic(middle - beta).sum() > total else (middle, high)
    chance = logistic((low + high) / 2 - beta)
    residual = points - chance
    if clusters is not None:
        residual = sums(np.unique(clusters, return_inverse=True)[1], residual)
    error = math.sqrt(float(residual @ residual)) / float((chance * (1 - chance)).sum())
    return AnchoredRating(CENTRE + ELO * (low + high) / 2, ELO * error)


_ALPHA, _EIP_TOLERANCE, _EIP_ITERATIONS = 0.85, 1e-6, 100


class EipScores(NamedTuple):
    """Scores from 0 to 100 in the order of the table, and the number of iterations."""

    judges: Floats
    items: Floats
    iterations: int


def eip(table: VoteTable) -> EipScores:
    """EIP: a ranking by mutual evaluation, as a cross-check of Bradley–Terry (RankJudge, appendix B.2). Every judge has
    answered every item of `table`.

    A judge is good if it is right on hard items, and an item is hard if it misleads good judges. Both scores are the
    stationary distribution of a random walk with teleports (α = .85), scaled to 0–100.

    Raises:
        ValueError: A judge did not answer an item.
    """
    if not table.full:
        raise ValueError("EIP needs an answer of every judge to every item: leave out incomplete items")
    points, votes = table.matrix()
    right = (points / votes).T
    wrong = 1 - right
    to_judges = right / np.maximum(right.sum(axis=1, keepdims=True), 1)
    to_items = (wrong / np.maximum(wrong.sum(axis=0, keepdims=True), 1)).T
    judges, items = (np.full(size, 1 / size) for size in (len(table.judges), len(table.items)))
    change, iterations = np.inf, 0
    while change >= _EIP_TOLERANCE and iterations < _EIP_ITERATIONS:
        iterations += 1
        new_items = _normalized(_ALPHA * to_items.T @ judges + (1 - _ALPHA) / len(items))
        new_judges = _normalized(_ALPHA * to_judges.T @ new_items + (1 - _ALPHA) / len(judges))
        change = np.abs(new_items - items).sum() + np.abs(new_judges - judges).sum()
        judges, items = new_judges, new_items
    return EipScores(_percent(judges), _percent(items), iterations)


def _normalized(values: Floats) -> Floats:
    return np.asarray(values / values.sum())


def _percent(values: Floats) -> Floats:
    spread = values.max() - values.min()
    return np.full(len(values), 50.0) if spread < 1e-12 else 100 * (values - values.min()) / spread
