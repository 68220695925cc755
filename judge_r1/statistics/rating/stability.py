"""How far a ranking of judges depends on which votes there are: refits on random parts of the votes."""

from typing import NamedTuple

import numpy as np

from judge_r1.statistics.correlation import kendall, spearman
from judge_r1.statistics.rating.bradley_terry import fit
from judge_r1.statistics.rating.separation import separate
from judge_r1.statistics.rating.votes import VoteTable

FRACTIONS = (0.1, 0.2, 0.5, 0.8)


class Stability(NamedTuple):
    """Mean and lowest correlation of the judges' ratings with the full fit over the repeats. `rated` is the mean number
    of judges with a finite rating; a repeat with fewer than three counts in `failed`."""

    fraction: float
    spearman: float | None
    kendall: float | None
    lowest_spearman: float | None
    rated: float
    failed: int


def stability(table: VoteTable, *, repeats: int = 10, seed: int = 0, prior: float = 0.0) -> list[Stability]:
    """For each f of FRACTIONS, `repeats` times: keeps each vote with probability f, refits, and compares with the full
    fit. `prior` is that of `bradley_terry.fit`.

    Raises:
        ValueError: No rating of the full fit is finite.
    """
    full = _ratings(table, prior)
    return [_repeated(table, full, fraction, repeats, seed, prior) for fraction in FRACTIONS]


def _repeated(
    table: VoteTable, full: dict[str, float], fraction: float, repeats: int, seed: int, prior: float
) -> Stability:
    random = np.random.default_rng([seed, int(fraction * 1e6)])
    found: list[tuple[float, float]] = []
    rated, failed = [], 0
    for _ in range(repeats):
        mask = random.random(len(table.judge)) < fraction
        try:
            part = _ratings(table.select(mask), prior) if mask.any() else {}
        except ValueError:  # too few votes for any finite rating
            part = {}
        shared = sorted(part.keys() & full.keys())
        rho, tau = (
            compare([full[name] for name in shared], [part[name] for name in shared]) for compare in (spearman, kendall)
        )
        rated.append(len(shared))
        if len(shared) < 3 or rho is None or tau is None:
            failed += 1
        else:
            found.append((rho, tau))
    if not found:
        return Stability(fraction, None, None, None, float(np.mean(rated)), failed)
    rhos, taus = zip(*found, strict=True)
    return Stability(
        fraction, float(np.mean(rhos)), float(np.mean(taus)), float(min(rhos)), float(np.mean(rated)), failed
    )


def _ratings(table: VoteTable, prior: float) -> dict[str, float]:
    rated = table if prior else separate(table).rated
    return dict(zip(rated.judges, fit(rated, prior=prior).judges.tolist(), strict=True))
