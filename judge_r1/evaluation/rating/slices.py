"""Fits the ratings of one set of items: finite ratings with their errors, judges without one, and EIP."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from judge_r1.evaluation.rating.records import GROUP, JudgeRating, RatedSlice, Status
from judge_r1.statistics.correlation import kendall, spearman
from judge_r1.statistics.rating.bradley_terry import Fit, eip, fit
from judge_r1.statistics.rating.curate import informative
from judge_r1.statistics.rating.errors import NO_SPREAD, Z95, RatingUncertainty, rating_errors
from judge_r1.statistics.rating.separation import Separation, separate
from judge_r1.statistics.rating.votes import VoteTable


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
class Fitted:
    """A slice with its fit, the errors of the fit, and the players without a finite rating."""

    slice: RatedSlice
    fit: Fit
    errors: RatingUncertainty
    separation: Separation


def group_slice(group: str, table: VoteTable, options: RatingOptions) -> RatedSlice:
    """A refit on one group: the scale has its own zero, the mean judge unless the anchor is a judge's name."""
    label = f"{GROUP} {group}"
    try:
        alone = informative(table, complete=not options.partial)
        anchor = options.anchor if options.compat or options.anchor != "all" else "judges"
        return fit_slice(label, alone.kept, options, alone.dropped, anchor).slice
    except ValueError as error:
        return RatedSlice(name=label, items=0, judges=(), dropped={}, converged=False, connected=False, note=str(error))


def fit_slice(
    name: str, table: VoteTable, options: RatingOptions, dropped: Mapping[str, str], anchor: str | None = None
) -> Fitted:
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
        error = None if at is None or not errors.connected else known_error(float(errors.judges[at]), judge == anchor)
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
    return Fitted(
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


def known_error(error: float, is_anchor: bool = False) -> float | None:
    """A sandwich error; None if the votes show no spread. Only the anchor has an error of 0."""
    return error if error >= NO_SPREAD or is_anchor else None


def _height(judge: JudgeRating) -> float:
    if judge.elo is not None:
        return judge.elo
    return {"above": float("inf"), "below": float("-inf")}.get(judge.status, -1e9)
