"""HelloEval's scores: from item scores to the cells of Tables 2 to 4."""

from collections.abc import Mapping, Sequence
from statistics import fmean

ACCEPTABLE = 75.0
"""The overall score, of 100, that counts as acceptable: S is 0 there."""


def rescaled(score: float) -> float:
    """S = (score - 75)·4 in [-300, 100], for a score of 0 to 100 (section 3.3; the paper prints 0.75)."""
    return (score - ACCEPTABLE) * 4


def task_score(scores: Sequence[float]) -> float | None:
    """S of the mean of scores in [0, 1]; None without scores. Tables round it to 2 decimals."""
    return rescaled(100 * fmean(scores)) if scores else None


def average(cells: Mapping[str, float | None], tasks: Sequence[str]) -> float | None:
    """The unweighted mean over all `tasks`; None if one is missing, since a mean over fewer tasks is another number."""
    values = [cells.get(task) for task in tasks]
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(tasks) else None
