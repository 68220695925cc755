"""EIP: a ranking of judges and items by mutual evaluation, as a cross-check of Bradley–Terry (RankJudge, appendix B.2).

A judge is good if it is right on hard items, and an item is hard if it misleads good judges. Both scores are the
stationary distribution of a random walk with teleports (α = .85), scaled to 0–100.
"""

from typing import NamedTuple

import numpy as np

from judge_r1.statistics.rating.votes import Floats, VoteTable

_ALPHA, _TOLERANCE, _ITERATIONS = 0.85, 1e-6, 100


class EipScores(NamedTuple):
    """Scores from 0 to 100 in the order of the table, and the number of iterations."""

    judges: Floats
    items: Floats
    iterations: int


def eip(table: VoteTable) -> EipScores:
    """The scores of a table in which every judge answered every item.

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
    while change >= _TOLERANCE and iterations < _ITERATIONS:
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
