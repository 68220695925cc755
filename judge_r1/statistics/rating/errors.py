"""Standard errors of Bradley–Terry ratings.

The sandwich V = I⁺ B I⁺ with B = Σ s sᵀ over clusters of items allows for dependence within a cluster. It is for
judges only: an item has a parameter of its own, so its score is 0 at the estimate and B says nothing about it. The
errors of items come from the model alone.
"""

from typing import NamedTuple

import numpy as np

from judge_r1.statistics.rating.bradley_terry import ELO, Anchor, Fit
from judge_r1.statistics.rating.information import Information
from judge_r1.statistics.rating.votes import Floats, Ints, sums

Z95 = 1.96
NO_SPREAD = 1e-6
"""A sandwich error below this many Elo is 0 but for rounding: the votes show no spread. The scores sum to 0 in every
cluster if all votes are ties, or all items are in one cluster, which says nothing about the error."""


class RatingUncertainty(NamedTuple):
    """Standard errors in Elo. `judges` is the sandwich, `judges_model` and `items_model` the inverse information. They
    are NaN where `connected` is false."""

    judges: Floats
    judges_model: Floats
    items_model: Floats
    connected: bool


def rating_errors(fit: Fit, anchor: Anchor = "all") -> RatingUncertainty:
    """The standard errors of a fit, relative to the anchor.

    For the anchors `all` and `judges` they are errors of the difference to the mean rating ln θ of those players (for
    `all` the pseudo-inverse of the paper), for a judge's name of the difference to that judge, who has an error of 0.
    """
    table = fit.table
    information = Information.of(table, fit.judges, fit.items, fit.prior)
    if not information.connected:
        judges, items = (np.full(len(players), np.nan) for players in (fit.judges, fit.items))
        return RatingUncertainty(judges, judges, items, False)
    centre_judges, centre_items = _centre(fit, anchor)
    residual = table.score - table.count * fit.chances
    up, down = _score_columns(fit, residual)
    solved = information.inverse @ (up + _by_cluster(information.weight * (down / information.item), table.cluster))
    item_centre = _item_centre(information, centre_items, solved, down, table.cluster)
    sandwich = solved - (centre_judges @ solved + item_centre)
    model_judges, model_items = _model(information, centre_judges, centre_items)
    return RatingUncertainty(
        ELO * np.sqrt((sandwich**2).sum(axis=1)), ELO * np.sqrt(model_judges), ELO * np.sqrt(model_items), True
    )


def _centre(fit: Fit, anchor: Anchor) -> tuple[Floats, Floats]:
    """Weights v of the players whose weighted mean rating is the zero of the scale."""
    judges, items = np.zeros(len(fit.judges)), np.zeros(len(fit.items))
    if anchor == "all":
        share = 1 / (len(judges) + len(items))
        return judges + share, items + share
    if anchor == "judges":
        return judges + 1 / len(judges), items
    fit.centre(anchor)  # an unknown judge is an error
    judges[fit.table.judges.index(anchor)] = 1.0
    return judges, items


def _score_columns(fit: Fit, residual: Floats) -> tuple[Floats, Floats]:
    """The scores by cluster: judges × clusters, and per item, whose cluster is known. With a prior, the residuals of
    the judges against the average player belong to no cluster and are left out."""
    table = fit.table
    up = np.zeros((len(fit.judges), int(table.cluster.max()) + 1))
    np.add.at(up, (table.judge, table.cluster[table.item]), residual)
    return up, -sums(table.item, residual, len(fit.items))


def _by_cluster(columns: Floats, cluster: Ints) -> Floats:
    """Columns of items summed to columns of clusters."""
    order = np.argsort(cluster, kind="stable")
    starts = np.searchsorted(cluster[order], np.arange(int(cluster.max()) + 1))
    return np.add.reduceat(columns[:, order], starts, axis=1)


def _item_centre(information: Information, weights: Floats, solved: Floats, down: Floats, cluster: Ints) -> Floats:
    """The weighted mean of the items' part of G·U, by cluster."""
    shares = weights / information.item
    return np.asarray(sums(cluster, shares * down) + (information.weight @ shares) @ solved)


def _model(information: Information, judges: Floats, items: Floats) -> tuple[Floats, Floats]:
    """The diagonal of (1 - 1vᵀ) G (1 - 1vᵀ)ᵀ, with v the weights of the centre."""
    to_items = (information.weight / information.item).T @ information.inverse
    centre_judges, centre_items = information.solve(judges, items)
    middle = float(judges @ centre_judges + items @ centre_items)
    own = 1 / information.item + (to_items * (information.weight / information.item).T).sum(axis=1)
    return (
        np.maximum(np.diag(information.inverse) - 2 * centre_judges + middle, 0),
        np.maximum(own - 2 * centre_items + middle, 0),
    )
