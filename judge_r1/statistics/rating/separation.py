"""Finds judges and items whose rating has no finite maximum-likelihood estimate.

The estimate exists if and only if each player can reach every other player along wins (Ford, 1957): the graph of wins
is strongly connected. A judge that is always right, or an item that every judge gets wrong, is a component of its own.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

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
