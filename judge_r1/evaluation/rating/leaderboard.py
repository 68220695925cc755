"""Computes a rating: curates the items, fits each slice, and relates the slices to each other."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, median

from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.rating.cost import cost_front
from judge_r1.evaluation.rating.records import (
    Breakdown,
    ItemRating,
    JudgeRating,
    RatedSlice,
    Rating,
    StabilityRow,
    Status,
)
from judge_r1.evaluation.rating.vote_files import GROUP, Votes
from judge_r1.statistics.correlation import kendall, spearman
from judge_r1.statistics.rating.bradley_terry import Fit, fit
from judge_r1.statistics.rating.curate import drop_hardest, informative
from judge_r1.statistics.rating.eip import eip
from judge_r1.statistics.rating.errors import Z95, RatingUncertainty, rating_errors
from judge_r1.statistics.rating.separation import Separation, separate
from judge_r1.statistics.rating.stability import stability
from judge_r1.statistics.rating.votes import VoteTable

ALL, CURATED = "informative items", "without the hardest"
MOST_VALUES = 50
"""A label with more values, such as a text of each item, gets no breakdown."""


@dataclass(frozen=True)
class RatingOptions:
    """`anchor` is the zero of the scale (`bradley_terry.Fit.elo`), `top` the share of hardest items to drop. With
    `partial`, an item needs no vote of every judge. `compat` follows RankJudge's public code. `refused` names items
    that people refused."""

    anchor: str = "all"
    prior: float = 0.0
    top: float = 0.05
    partial: bool = False
    compat: bool = False
    refused: frozenset[str] = frozenset()
    repeats: int = 10
    seed: int = 0


@dataclass(frozen=True)
class _Fitted:
    """A slice with its fit, the errors of the fit, and the players without a finite rating."""

    slice: RatedSlice
    fit: Fit
    errors: RatingUncertainty
    separation: Separation


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
    first = _fitted(ALL, base.kept, options, base.dropped)
    cut = drop_hardest(base.kept, options.top, compat=options.compat, prior=options.prior)
    second = _fitted(CURATED, cut.kept, options, {**base.dropped, **cut.dropped})
    dropped = {**base.dropped, **cut.dropped}
    groups = [_group(group, cut.kept.subset(items=items), options) for group, items in votes.by_label(GROUP).items()]
    tokens = {judge: mean(found) for judge, found in sorted(votes.tokens.items())}
    rating = Rating(
        options={name: value for name, value in asdict(options).items() if name != "refused"},
        slices=(first.slice, second.slice, *(groups if len(groups) > 1 else ())),
        slices_agree=agreement(first.slice.judges, second.slice.judges),
        breakdowns=tuple(_breakdowns(first.fit, options.anchor, votes.labels)),
        stability=tuple(
            StabilityRow(**part._asdict())
            for part in stability(cut.kept, repeats=options.repeats, seed=options.seed, prior=options.prior)
        ),
        invalid={judge: votes.invalid[judge] / count for judge, count in sorted(votes.answers.items())},
        tokens=tokens,
        front=tuple(judge.judge for judge in cost_front(first.slice.judges, tokens)),
    )
    return rating, _items(table, votes, first, dropped, options)


def agreement(one: Sequence[JudgeRating], other: Sequence[JudgeRating]) -> tuple[float | None, float | None]:
    """Spearman's rho and Kendall's tau of the judges that have a finite rating in both."""
    found = [{judge.judge: judge.elo for judge in side if judge.elo is not None} for side in (one, other)]
    shared = sorted(found[0].keys() & found[1].keys())
    first, second = ([side[name] for name in shared] for side in found)
    return (spearman(first, second), kendall(first, second)) if len(shared) > 1 else (None, None)


def _group(group: str, table: VoteTable, options: RatingOptions) -> RatedSlice:
    """A refit on one group: the scale has its own zero, the mean judge unless the anchor is a judge's name."""
    label = f"{GROUP} {group}"
    try:
        alone = informative(table, complete=not options.partial)
        anchor = options.anchor if options.compat or options.anchor != "all" else "judges"
        return _fitted(label, alone.kept, options, alone.dropped, anchor).slice
    except ValueError as error:
        return RatedSlice(name=label, items=0, judges=(), dropped={}, converged=False, connected=False, note=str(error))


def _fitted(
    name: str, table: VoteTable, options: RatingOptions, dropped: Mapping[str, str], anchor: str | None = None
) -> _Fitted:
    whole = Separation(table, {}, {})
    separation = whole if options.prior else separate(table)
    rated = table if options.compat else separation.rated
    found = fit(rated, prior=options.prior, polish=not options.compat)
    anchor = anchor or options.anchor
    elo, _ = found.elo(anchor)
    errors = rating_errors(found, anchor)
    scores = eip(table) if table.full and len(table.judges) > 1 else None
    points, count = table.judge_points
    judges = []
    for index, judge in enumerate(table.judges):
        status: Status = separation.judges.get(judge, "rated")
        at = rated.judges.index(judge) if judge in rated.judges else None
        value = None if at is None else float(elo[at])
        error = None if at is None or not errors.connected else float(errors.judges[at])
        judges.append(
            JudgeRating(
                judge=judge,
                status=status,
                elo=value,
                se=error,
                ci95=None if value is None or error is None else (value - Z95 * error, value + Z95 * error),
                accuracy=float(points[index] / count[index]),
                votes=int(count[index]),
                eip=None if scores is None else float(scores.judges[index]),
            )
        )
    ranked = sorted(judges, key=lambda j: (-_height(j), -j.accuracy, j.judge))
    both = [(j.elo, j.eip) for j in judges if j.elo is not None and j.eip is not None]
    bt, cross = [pair[0] for pair in both], [pair[1] for pair in both]
    return _Fitted(
        RatedSlice(
            name=name,
            items=len(table.items),
            judges=tuple(ranked),
            dropped=dict(sorted(Counter(dropped.values()).items())),
            converged=found.converged,
            connected=errors.connected,
            bt_eip=(spearman(bt, cross), kendall(bt, cross)) if len(both) > 1 else None,
        ),
        found,
        errors,
        separation,
    )


def _height(judge: JudgeRating) -> float:
    if judge.elo is not None:
        return judge.elo
    return {"above": float("inf"), "below": float("-inf")}.get(judge.status, -1e9)


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
    table: VoteTable, votes: Votes, first: _Fitted, dropped: Mapping[str, str], options: RatingOptions
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
