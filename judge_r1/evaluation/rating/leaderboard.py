"""Computes a rating: curates the items, fits each slice, and relates the slices to each other."""

from collections.abc import Mapping
from dataclasses import asdict
from statistics import mean, median

from judge_r1.benchmarks.rankjudge.scoring import NamedTypes
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.rating.comparison import agreement, elo_of
from judge_r1.evaluation.rating.cost import cost_front
from judge_r1.evaluation.rating.records import GROUP, WRITER, Breakdown, ItemRating, Rating, Status
from judge_r1.evaluation.rating.slices import Fitted, RatingOptions, fit_slice, group_slice
from judge_r1.evaluation.rating.vote_files import Votes
from judge_r1.statistics.rating.bradley_terry import Fit
from judge_r1.statistics.rating.curate import drop_hardest, informative
from judge_r1.statistics.rating.separation import Stability, stability
from judge_r1.statistics.rating.votes import VoteTable

ALL, CURATED = "informative items", "without the hardest"
MOST_VALUES = 50
"""A label with more values, such as a text of each item, gets no breakdown."""


def rate(votes: Votes, options: RatingOptions) -> tuple[Rating, list[ItemRating]]:
    """The rating of all judges, and of all items.

    Raises:
        JudgeError: No item is informative, no rating is finite, or the anchor is no rated judge.
    """
    try:
        return _rate(votes, options)
    except ValueError as error:
        raise JudgeError(f"the votes cannot be rated: {error}") from None


def _rate(votes: Votes, options: RatingOptions) -> tuple[Rating, list[ItemRating]]:
    table = votes.table()
    base = informative(table, complete=not options.partial, refused=options.refused, expected=votes.answers)
    first = fit_slice(ALL, base.kept, options, base.dropped)
    cut = drop_hardest(base.kept, options.top, compat=options.compat, prior=options.prior)
    second = fit_slice(CURATED, cut.kept, options, {**base.dropped, **cut.dropped})
    dropped = {**base.dropped, **cut.dropped}
    tokens = {judge: mean(found) for judge, found in sorted(votes.tokens.items())}
    by_group = votes.by_label(GROUP)
    parts = {group: cut.kept.subset(items=items) for group, items in by_group.items()} if len(by_group) > 1 else {}
    rating = Rating(
        options={name: value for name, value in asdict(options).items() if name != "refused"}
        | {"criterion": votes.criterion},
        slices=(first.slice, second.slice, *(group_slice(group, table, options) for group, table in parts.items())),
        slices_agree=agreement(elo_of(first.slice.judges), elo_of(second.slice.judges)),
        breakdowns=tuple(_breakdowns(first.fit, options.anchor, votes.labels)),
        stability=tuple(
            row for group, table in ({"": cut.kept} | parts).items() for row in _stable(group, table, options)
        ),
        invalid={judge: votes.invalid[judge] / count for judge, count in sorted(votes.answers.items())},
        tokens=tokens,
        front=tuple(judge.judge for judge in cost_front(first.slice.judges, tokens)),
        types={judge: _by_gold(found) for judge, found in sorted(votes.types.items())},
        writers=tuple(judge for judge in sorted(votes.answers) if _wrote(judge, votes)),
        notes=tuple(votes.notes),
    )
    return rating, _items(table, votes, first, dropped, options)


def _by_gold(named: NamedTypes) -> dict[str, dict[str, int]]:
    rows: dict[str, dict[str, int]] = {}
    for (gold, predicted), count in sorted(named.items()):
        rows.setdefault(gold, {})[predicted] = count
    return rows


def _wrote(judge: str, votes: Votes) -> bool:
    """Whether the name of a judge holds the name of a model that wrote the items, as in `chat:MODEL`."""
    models = [writer.partition(":")[2].lower() for writer in votes.by_label(WRITER)]
    return any(model and model in judge.lower() for model in models)


def _stable(group: str, table: VoteTable, options: RatingOptions) -> list[Stability]:
    """The stability on the items of a group; nothing if they cannot be rated alone."""
    try:
        kept = informative(table, complete=not options.partial).kept if group else table
        found = stability(kept, repeats=options.repeats, seed=options.seed, prior=options.prior)
    except ValueError:
        return []
    return [part.model_copy(update={"group": group}) for part in found]


def _breakdowns(found: Fit, anchor: str, labels: Mapping[str, Mapping[str, str]]) -> list[Breakdown]:
    """Mean and median difficulty for each value of each label with 2 to `MOST_VALUES` values."""
    elo = dict(zip(found.table.items, found.elo(anchor)[1].tolist(), strict=True))
    parts: dict[str, dict[str, list[float]]] = {}
    for item, value in elo.items():
        for label, name in labels.get(item, {}).items():
            parts.setdefault(label, {}).setdefault(name, []).append(value)
    return [
        Breakdown(label=label, value=name, items=len(found), mean_elo=mean(found), median_elo=median(found))
        for label, values in sorted(parts.items())
        if 1 < len(values) <= MOST_VALUES
        for name, found in sorted(values.items())
    ]


def _items(
    table: VoteTable, votes: Votes, first: Fitted, dropped: Mapping[str, str], options: RatingOptions
) -> list[ItemRating]:
    elo = dict(zip(first.fit.table.items, first.fit.elo(options.anchor)[1].tolist(), strict=True))
    se = dict(zip(first.fit.table.items, first.errors.items_model.tolist(), strict=True))
    points, count = table.item_points
    rows = []
    for index, item in enumerate(table.items):
        status: Status = dropped.get(item) or first.separation.items.get(item, "rated")  # type: ignore[assignment]
        rows.append(
            ItemRating(
                item=item,
                cluster=votes.clusters[item],
                status=status,
                elo=elo.get(item),
                se=se.get(item) if first.errors.connected else None,
                points=float(points[index]),
                votes=float(count[index]),
                labels=votes.labels.get(item, {}),
            )
        )
    return rows
