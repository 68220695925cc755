"""The Fisher information of Bradley–Terry ratings, solved through the judges.

Items are far more numerous than judges, and they meet judges alone, so their block of the matrix is diagonal:

    I = [[A, -W], [-Wᵀ, D]],   S = A - W D⁻¹ Wᵀ

S is a matrix of judges × judges. G = [[S⁺, S⁺WD⁻¹], [D⁻¹WᵀS⁺, D⁻¹ + D⁻¹WᵀS⁺WD⁻¹]] is a generalized inverse of I.
"""

from dataclasses import dataclass

import numpy as np

from judge_r1.statistics.rating.votes import Floats, VoteTable

_RCOND = 1e-10


def logistic(x: Floats) -> Floats:
    """1 / (1 + exp(-x)), without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))


@dataclass(frozen=True)
class Information:
    """`weight` is W as judges × items, `item` the diagonal D, and `inverse` S⁺. `connected` is false if the votes
    split the players into groups that cannot be compared."""

    weight: Floats
    item: Floats
    inverse: Floats
    connected: bool

    @classmethod
    def of(cls, table: VoteTable, judges: Floats, items: Floats, prior: float = 0.0) -> "Information":
        """The information at these ratings (ln θ)."""
        chance = logistic(judges[table.judge] - items[table.item])
        weight = np.zeros((len(judges), len(items)))
        weight[table.judge, table.item] = table.count * chance * (1 - chance)
        dummy_judges, dummy_items = (prior * logistic(x) * logistic(-x) for x in (judges, items))
        item = weight.sum(axis=0) + dummy_items
        schur = np.diag(weight.sum(axis=1) + dummy_judges) - (weight / item) @ weight.T
        values, vectors = np.linalg.eigh(schur)
        # Without a prior the scale of the ratings is free: one eigenvalue is 0 but for rounding.
        used = values > _RCOND * values.max(initial=0.0)
        inverse = (vectors[:, used] / values[used]) @ vectors[:, used].T
        return cls(weight, item, inverse, int(used.sum()) >= len(judges) - (0 if prior else 1))

    def solve(self, judges: Floats, items: Floats) -> tuple[Floats, Floats]:
        """G·u for a vector u, given as its part of the judges and its part of the items."""
        up = self.inverse @ (judges + self.weight @ (items / self.item))
        return up, (items + self.weight.T @ up) / self.item
