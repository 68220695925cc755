"""Finds judges and items whose rating has no finite maximum-likelihood estimate.

The estimate exists if and only if each player can reach every other player along wins (Ford, 1957): the graph of wins
is strongly connected. A judge that is always right, or an item that every judge gets wrong, is a component of its own.

`stability` refits random parts of the votes: how far does a ranking depend on which votes there are?
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from judge_r1.core.record_base import Record
from judge_r1.statistics.correlation import kendall, spearman
from judge_r1.statistics.rating.bradley_terry import fit
from judge_r1.statistics.rating.votes import VoteTable

Bound = Literal["above", "below", "not comparable"]


@dataclass(frozen=True)
class Separation:
    """`rated` are the votes that determine finite ratings: the component with the most judges. The other judges and
    items are above all of it, below all of it, or not comparable with it."""

    rated: VoteTable
    judges: dict[str, Bound]
    items: dict[str, Bound]


def separate(table: VoteTable) -> Separation:
    """Splits the votes into the rated component and the players without a finite rating.

    Raises:
        ValueError: No component holds a judge and an item, so no rating is finite.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    judges, items = len(table.judges), len(table.items)
    wins, losses = table.score > 0, table.score < table.count
    source = np.concatenate([table.judge[wins], table.item[losses] + judges])
    target = np.concatenate([table.item[wins] + judges, table.judge[losses]])
    edges = coo_matrix((np.ones(len(source)), (source, target)), shape=(judges + items,) * 2).tocsr()
    _, label = connected_components(edges, directed=True, connection="strong")
    both = np.intersect1d(label[:judges], label[judges:])
    if not len(both):
        raise ValueError(
            "no rating is finite: for example, each judge is right on all items or on none; add items, add judges, or "
            "set a prior"
        )
    sizes = np.bincount(label[:judges], minlength=label.max() + 1)
    main = both[np.argmax(sizes[both])]
    start = int(np.flatnonzero(label == main)[0])
    beaten, winners = (
        set(breadth_first_order(graph, start, return_predecessors=False).tolist()) for graph in (edges, edges.T.tocsr())
    )

    def bound(player: int) -> Bound:
        return "above" if player in winners else "below" if player in beaten else "not comparable"

    outside = np.flatnonzero(label != main).tolist()
    inside = label == main
    return Separation(
        table.select(inside[:judges][table.judge] & inside[judges:][table.item]),
        {table.judges[player]: bound(player) for player in outside if player < judges},
        {table.items[player - judges]: bound(player) for player in outside if player >= judges},
    )


FRACTIONS = (0.1, 0.2, 0.5, 0.8)


class Stability(Record):
    """Mean and lowest correlation of the judges' ratings on a part of the votes with the full fit, over the repeats.
    `group` is empty for all items. `rated` is the mean number of judges with a finite rating; a repeat with fewer than
    three counts in `failed`."""

    group: str = ""
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
    rhos, taus = zip(*found, strict=True) if found else ((), ())
    mean_rho, mean_tau = (float(np.mean(values)) if values else None for values in (rhos, taus))
    return Stability(
        fraction=fraction, spearman=mean_rho, kendall=mean_tau, lowest_spearman=min(rhos, default=None),
        rated=float(np.mean(rated)), failed=failed,
    )  # fmt: skip


def _ratings(table: VoteTable, prior: float) -> dict[str, float]:
    rated = table if prior else separate(table).rated
    return dict(zip(rated.judges, fit(rated, prior=prior).judges.tolist(), strict=True))
