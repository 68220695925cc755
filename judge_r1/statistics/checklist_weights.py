"""Learns the weights of a checklist from human scores (HelloEval, section 3.2 and appendix G).

Humans score every question of a checklist in [0, 1] and the text as a whole from 0 to 10. The weights are the bounded
least squares fit of the overall score, without an intercept: min ‖y - Xw‖², w ≥ 0.5; then w is scaled to the sum 100.
The solver is exact (SciPy's BVLS). Where several weights fit equally well, it starts from those of the least norm.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge_r1.core.text_check import counted

LOWER_BOUND = 0.5
"""The least weight, on the scale of the overall score (0 to 10)."""
ROWS_PER_WEIGHT = 10
"""Fewer rows for each weight give intervals as wide as the differences between weights."""
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class WeightFit:
    """Fitted weights with their diagnostics.

    `weights` sum to 100; `raw` are on the scale of the overall score. `low` and `high` are 95 % percentile bootstrap
    intervals of `weights` over clusters. They are None without a bootstrap, for one cluster, whose resamples are all
    equal, and for weights that neither the scores nor a ridge determine. `r2` = 1 - Σ(y-ŷ)²/Σ(y-ȳ)² with the raw
    weights; it can be negative, since there is no intercept, and is None if all y are equal. `at_bound` lists the
    questions whose raw weight is the lower bound.
    """

    weights: tuple[float, ...]
    raw: tuple[float, ...]
    low: tuple[float, ...] | None
    high: tuple[float, ...] | None
    r2: float | None
    mse: float
    n: int
    clusters: int
    rank: int
    at_bound: tuple[int, ...]

    @property
    def identified(self) -> bool:
        """Whether the scores determine the weights: the matrix has full column rank."""
        return self.rank == len(self.weights)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the weights unreliable, in words."""
        k, found = len(self.weights), []
        if not self.identified:
            found.append(f"rank {self.rank} of {k}: the scores alone do not determine the weights")
        if self.n < ROWS_PER_WEIGHT * k:
            found.append(f"{counted(self.n, 'row')} for {counted(k, 'weight')}, fewer than {ROWS_PER_WEIGHT} for each")
        if self.clusters < 2:
            found.append("one instruction, so no intervals")
        return tuple(found)


def fit_weights(
    scores: Sequence[Sequence[float]],
    overall: Sequence[float],
    clusters: Sequence[str] | None = None,
    *,
    ridge: float = 0.0,
    resamples: int = 0,
    seed: int = 0,
) -> WeightFit:
    """The weights of k questions from n rows.

    Args:
        scores: n x k item scores in [0, 1].
        overall: n overall scores in [0, 10].
        clusters: the group of each row that the bootstrap draws as a whole, such as the instruction; None for the row.
        ridge: adds ridge·n·‖w - mean of the fit with equal weights‖² to the sum of squares. It pulls the weights to
            equal ones; 0 is the paper's fit.
        resamples: number of bootstrap resamples; 0 for no intervals.

    Raises:
        ValueError: The shapes differ, or there is no row.
    """
    x, y = np.asarray(scores, float), np.asarray(overall, float)
    if x.ndim != 2 or not x.size or y.shape != x.shape[:1]:
        raise ValueError(f"item scores of shape {x.shape} and overall scores of shape {y.shape} do not form a fit")
    names = [str(row) for row in range(len(y))] if clusters is None else list(clusters)
    if len(names) != len(y):
        raise ValueError(f"{len(names)} clusters for {len(y)} rows")
    raw = _bounded(x, y, ridge)
    rank, count = int(np.linalg.matrix_rank(x)), len(set(names))
    has_intervals = resamples > 0 and count > 1 and (rank == x.shape[1] or ridge > 0)
    low, high = _intervals(x, y, names, ridge, resamples, seed) if has_intervals else (None, None)
    residuals, spread = y - x @ raw, float(((y - y.mean()) ** 2).sum())
    return WeightFit(
        weights=_to_100(raw),
        raw=tuple(raw.tolist()),
        low=low,
        high=high,
        r2=1 - float((residuals**2).sum()) / spread if spread else None,
        mse=float((residuals**2).mean()),
        n=len(y),
        clusters=count,
        rank=rank,
        at_bound=tuple(int(j) for j in np.flatnonzero(raw <= LOWER_BOUND + 1e-9)),
    )


def _bounded(x: Matrix, y: Matrix, ridge: float) -> Matrix:
    """argmin ‖y - Xw‖² + ridge·n·‖w - u‖² with w ≥ LOWER_BOUND, where u is the best fit with equal weights."""
    from scipy.optimize import lsq_linear

    if ridge:
        sums = x.sum(axis=1)
        equal = max(LOWER_BOUND, float(sums @ y) / max(float(sums @ sums), 1e-12))
        penalty = np.sqrt(ridge * len(y)) * np.eye(x.shape[1])
        x, y = np.vstack([x, penalty]), np.concatenate([y, penalty @ np.full(x.shape[1], equal)])
    found = lsq_linear(x, y, bounds=(LOWER_BOUND, np.inf), method="bvls", tol=1e-14, max_iter=1000).x
    weights: Matrix = np.maximum(np.asarray(found, float), LOWER_BOUND)
    return weights


def _to_100(raw: Matrix) -> tuple[float, ...]:
    return tuple((100 * raw / raw.sum()).tolist())


def _intervals(
    x: Matrix, y: Matrix, clusters: Sequence[str], ridge: float, resamples: int, seed: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """95 % percentile intervals of the weights over resampled clusters."""
    rows_of: dict[str, list[int]] = {}
    for row, name in enumerate(clusters):
        rows_of.setdefault(name, []).append(row)
    groups, rng = list(rows_of.values()), np.random.default_rng(seed)
    drawn = []
    for _ in range(resamples):
        rows = [row for group in rng.integers(len(groups), size=len(groups)) for row in groups[group]]
        drawn.append(_to_100(_bounded(x[rows], y[rows], ridge)))
    low, high = np.percentile(np.asarray(drawn), [2.5, 97.5], axis=0)
    return tuple(low.tolist()), tuple(high.tolist())
