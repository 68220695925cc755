"""Compares two ratings of the same judges, for example on pairs that another model wrote (RankJudge, section 3.3)."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import suggest
from judge_r1.evaluation.rating.records import ComparedJudge, Comparison, JudgeRating, Rating, read_rating
from judge_r1.evaluation.report.charts import Figure
from judge_r1.evaluation.report.point_charts import slope_chart
from judge_r1.statistics.correlation import kendall, spearman


def agreement(one: Mapping[str, float], other: Mapping[str, float]) -> tuple[float | None, float | None]:
    """Spearman's rho and Kendall's tau of the judges in both."""
    shared = sorted(one.keys() & other.keys())
    first, second = [one[name] for name in shared], [other[name] for name in shared]
    return (spearman(first, second), kendall(first, second)) if len(shared) > 1 else (None, None)


def elo_of(judges: Sequence[JudgeRating]) -> dict[str, float]:
    """The Elo of the judges with a finite one, the best first."""
    return {judge.judge: judge.elo for judge in judges if judge.elo is not None}


def compare(rating: Rating, other: Path, without: Collection[str] = ()) -> Comparison:
    """Compares the ratings on all informative items of both.

    Raises:
        JudgeError: The ratings share fewer than two judges, or one to leave out is in neither.
    """
    mine, theirs = elo_of(rating.slices[0].judges), elo_of(read_rating(other).slices[0].judges)
    shared = [name for name in mine if name in theirs]
    if len(shared) < 2:
        raise JudgeError(f"{other} rates {len(shared)} of these judges: give the judges the same names in both ratings")
    for name in without:
        if name not in shared:
            raise JudgeError(f"no judge of both ratings is named {name!r}{suggest(name, shared)}")
    ranks = {name: rank for rank, name in enumerate(sorted(shared, key=lambda name: (-theirs[name], name)), 1)}
    rest = {name: mine[name] for name in shared if name not in without}
    return Comparison(
        other=str(other),
        judges=tuple(
            ComparedJudge(judge=name, elo=mine[name], other_elo=theirs[name], rank=rank, other_rank=ranks[name])
            for rank, name in enumerate(shared, 1)
        ),
        agree=agreement(mine, theirs),
        without=tuple(without),
        agree_without=agreement(rest, theirs) if without else None,
    )


def rank_figures(found: Comparison | None) -> list[Figure]:
    """The ranks of the judges in both ratings as a slope chart: of all, and without the judges that wrote the pairs
    (RankJudge, Fig. 8). Ranks count within the judges of a chart."""
    if found is None:
        return []
    figures = []
    for left_out in dict.fromkeys(((), found.without)):
        judges = [judge for judge in found.judges if judge.judge not in left_out]
        if len(judges) < 2:
            continue
        title = "Ranks without the writers" if left_out else "Ranks in both ratings"
        there = {judge.judge: at for at, judge in enumerate(sorted(judges, key=lambda one: one.other_rank), 1)}
        ranks = {one.judge: (at, there[one.judge]) for at, one in enumerate(sorted(judges, key=lambda j: j.rank), 1)}
        svg = slope_chart(title, ("here", found.other), ranks, () if left_out else found.without)
        figures.append(Figure(title, svg, {}))
    return figures
