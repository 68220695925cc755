"""The tables of a rating, for the terminal, Markdown and the page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from judge_r1.benchmarks.published import published
from judge_r1.benchmarks.rankjudge.scoring import class_bias
from judge_r1.core.conversations import FAILURES
from judge_r1.core.text_check import counted
from judge_r1.evaluation.rating.records import Comparison, JudgeRating, RatedSlice, Rating
from judge_r1.evaluation.report.published_measures import PUBLISHED
from judge_r1.evaluation.report.tables import NONE, Grid
from judge_r1.statistics.rating.separation import Stability


def judge_grid(found: RatedSlice) -> Grid:
    """The leaderboard of a slice."""
    eip = any(judge.eip is not None for judge in found.judges)
    head = ("judge", "Elo", "95 %", "accuracy", "votes", *(("EIP",) if eip else ()))
    rows = tuple(
        (
            judge.judge,
            judge.status if judge.elo is None else f"{judge.elo:.0f}",
            NONE if judge.ci95 is None else f"{judge.ci95[0]:.0f} to {judge.ci95[1]:.0f}",
            f"{judge.accuracy:.3f}",
            str(judge.votes),
            *((NONE if judge.eip is None else f"{judge.eip:.0f}",) if eip else ()),
        )
        for judge in found.judges
    )
    return Grid(f"Rating: {found.name}", _note(found), head, rows)


def scale_grid(judges: Sequence[JudgeRating], items: int, others: int) -> Grid:
    """Judges rated on a fixed scale of so many items. Votes on `others` further items were left out."""
    dropped = {"not on the scale": others} if others else {}
    found = RatedSlice(
        name="fixed scale", items=items, judges=tuple(judges), dropped=dropped, converged=True, connected=True
    )
    return judge_grid(found)


def grids(rating: Rating) -> list[Grid]:
    """All tables: the slices, the difficulty by label, the bias between types, cost, another rating, and stability."""
    built = [judge_grid(found) for found in rating.slices]
    if rating.writers:
        judges = ", ".join(rating.writers)
        warning = f" {judges}: this model wrote pairs that it judges; such judges tend to rank higher."
        built[0] = replace(built[0], note=built[0].note + warning)
    for label, parts in groupby(rating.breakdowns, key=lambda part: part.label):
        rows = tuple((p.value, str(p.items), f"{p.mean_elo:.0f}", f"{p.median_elo:.0f}") for p in parts)
        note = "Elo of the items, on the scale of the first table: a higher one misleads more judges."
        built.append(Grid(f"Difficulty by {label}", note, (label, "items", "mean Elo", "median Elo"), rows))
    if rating.types:
        built.append(_bias_grid(rating))
    if rating.tokens:
        built.append(_cost_grid(rating))
    if rating.compared:
        built.append(_comparison_grid(rating.compared))
    return [*built, _stability_grid(rating.stability)]


def _stability_grid(rows: Sequence[Stability]) -> Grid:
    stable = tuple(
        (
            row.group or "all",
            f"{row.fraction:.0%}",
            *map(_two, (row.spearman, row.kendall, row.lowest_spearman)),
            f"{row.rated:.1f}",
        )
        for row in rows
    )
    note = "Rank correlation with the full fit, mean over random parts of the votes, and the lowest one."
    head = ("items", "votes kept", "Spearman", "Kendall", "lowest Spearman", "judges rated")
    return Grid("Stability", note, head, stable)


def _bias_grid(rating: Rating) -> Grid:
    """The bias of the judges between the types of flaws, the best judge first."""
    named = {
        judge: Counter({(gold, name): count for gold, row in rows.items() for name, count in row.items()})
        for judge, rows in rating.types.items()
    }
    order = [judge.judge for judge in rating.slices[0].judges if judge.judge in named]
    rows = tuple((judge, *(f"{value:+.0f}" for value in class_bias(named[judge]).values())) for judge in order)
    types = ", ".join(f"{failure.letter} {failure.key}" for failure in FAILURES)
    note = f"Share of a type among the named ones minus its share in the labels, in percentage points. {types}."
    return Grid("Bias between types of flaws", note, ("judge", *(failure.letter for failure in FAILURES)), rows)


def _comparison_grid(found: Comparison) -> Grid:
    """Ranks here and in the other rating."""
    rows = tuple(
        (judge.judge, str(judge.rank), str(judge.other_rank), f"{judge.elo:.0f}", f"{judge.other_elo:.0f}")
        for judge in found.judges
    )
    note = f"Spearman {_two(found.agree[0])}, Kendall {_two(found.agree[1])}."
    if found.agree_without:
        note += f" Without {', '.join(found.without)}: {_two(found.agree_without[0])}, {_two(found.agree_without[1])}."
    note += " The two scales have different zeros."
    return Grid(f"Compared with {found.other}", note, ("judge", "rank", "rank there", "Elo", "Elo there"), rows)


def published_grids() -> list[Grid]:
    """The ratings that RankJudge's paper published, of all pairs and of each domain, on scales of their own."""
    built = []
    for table in published("rankjudge", None, same_items=False):
        found = table.measured(None)
        scales = [name for name in found if f"{name} ±" in found]
        rows = tuple(
            (f"{judge}{PUBLISHED}", *(f"{found[name][judge]:.0f} ± {found[f'{name} ±'][judge]:.0f}" for name in scales))
            for judge in found["Elo"]
        )
        note = f"Not measured here. Source: {table.citation}."
        built.append(Grid("Published ratings", note, ("judge", *scales), rows))
    return built


def _cost_grid(rating: Rating) -> Grid:
    """Tokens and Elo, the cheapest judge first. Judges without a finite rating are left out."""
    judges = [judge for judge in rating.slices[0].judges if judge.elo is not None and judge.judge in rating.tokens]
    rows = tuple(
        (
            judge.judge,
            f"{rating.tokens[judge.judge]:.0f}",
            f"{judge.elo:.0f}",
            "yes" if judge.judge in rating.front else "",
            *((_usd(rating, judge.judge), "yes" if judge.judge in rating.usd_front else "") if rating.usd else ()),
        )
        for judge in sorted(judges, key=lambda judge: rating.tokens[judge.judge])
    )
    note = (
        "Mean tokens that a judge writes per item. On the front: no other judge has a higher Elo with at most as many."
    )
    head: tuple[str, ...] = ("judge", "tokens per item", "Elo", "on the front")
    if rating.usd:
        head, note = (*head, "USD per item", "on its front"), f"{note} USD by the prices of {rating.prices_date}."
    return Grid("Cost", note, head, rows)


def _usd(rating: Rating, judge: str) -> str:
    return f"{rating.usd[judge]:.3g}" if judge in rating.usd else NONE


def _note(found: RatedSlice) -> str:
    parts = [f"{counted(found.items, 'item')}."]
    if found.dropped:
        parts.append("Left out: " + ", ".join(f"{count} {reason}" for reason, count in found.dropped.items()) + ".")
    if found.bt_eip:
        parts.append(f"Elo and EIP agree with Spearman {_two(found.bt_eip[0])}, Kendall {_two(found.bt_eip[1])}.")
    if any(judge.status in ("above", "below") for judge in found.judges):
        parts.append("above and below: no finite rating fits, because the judge beats, or loses to, all of the others.")
    if not found.connected and found.judges:
        parts.append("No intervals: the votes split the judges into groups that share no items.")
    if found.connected and any(judge.elo is not None and judge.ci95 is None for judge in found.judges):
        parts.append("No interval where the votes show no spread: ties alone, or items of one cluster.")
    if not found.converged and found.judges:
        parts.append("The fit did not converge.")
    return " ".join([*parts, *([found.note] if found.note else [])])


def _two(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"
