"""Shows a rating: tables in the terminal and as Markdown, and a static page with a chart of the intervals."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from itertools import groupby

from judge_r1.benchmarks.published import published
from judge_r1.evaluation.rating.records import JudgeRating, RatedSlice, Rating
from judge_r1.evaluation.report.charts import Figure, colors_of, line_chart, ticks
from judge_r1.evaluation.report.plain_page import plain_page
from judge_r1.evaluation.report.published_measures import PUBLISHED
from judge_r1.evaluation.report.tables import NONE, Grid

WIDTH, LEFT, RIGHT, ROW, AXIS = 640, 170, 20, 20, 22


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
    """All tables: the slices, the difficulty by label, and the stability."""
    built = [judge_grid(found) for found in rating.slices]
    for label, parts in groupby(rating.breakdowns, key=lambda part: part.label):
        rows = tuple((p.value, str(p.items), f"{p.mean_elo:.0f}", f"{p.median_elo:.0f}") for p in parts)
        note = "Elo of the items, on the scale of the first table: a higher one misleads more judges."
        built.append(Grid(f"Difficulty by {label}", note, (label, "items", "mean Elo", "median Elo"), rows))
    if rating.tokens:
        built.append(_cost_grid(rating))
    stable = tuple(
        (f"{row.fraction:.0%}", _two(row.spearman), _two(row.kendall), _two(row.lowest_spearman), f"{row.rated:.1f}")
        for row in rating.stability
    )
    note = "Rank correlation with the full fit, mean over random parts of the votes, and the lowest one."
    built.append(
        Grid("Stability", note, ("votes kept", "Spearman", "Kendall", "lowest Spearman", "judges rated"), stable)
    )
    return built


def published_grids() -> list[Grid]:
    """The ratings that RankJudge's paper published, on a scale of their own."""
    built = []
    for table in published("rankjudge", None, same_items=False):
        rows = tuple((f"{judge}{PUBLISHED}", f"{elo:.0f}") for judge, elo in table.measured(None)["Elo"].items())
        note = f"Not measured here. Source: {table.citation}."
        built.append(Grid("Published ratings", note, ("judge", "Elo"), rows))
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
        )
        for judge in sorted(judges, key=lambda judge: rating.tokens[judge.judge])
    )
    note = (
        "Mean tokens that a judge writes per item. On the front: no other judge has a higher Elo with at most as many."
    )
    return Grid("Cost", note, ("judge", "tokens per item", "Elo", "on the front"), rows)


def _note(found: RatedSlice) -> str:
    parts = [f"{found.items} items."]
    if found.dropped:
        parts.append("Left out: " + ", ".join(f"{count} {reason}" for reason, count in found.dropped.items()) + ".")
    if found.bt_eip:
        parts.append(f"Elo and EIP agree with Spearman {_two(found.bt_eip[0])}, Kendall {_two(found.bt_eip[1])}.")
    if any(judge.status in ("above", "below") for judge in found.judges):
        parts.append("above and below: no finite rating fits, because the judge beats, or loses to, all of the others.")
    if not found.connected and found.judges:
        parts.append("No intervals: the votes split the judges into groups that share no items.")
    if not found.converged and found.judges:
        parts.append("The fit did not converge.")
    return " ".join([*parts, *([found.note] if found.note else [])])


def _two(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _short(name: str) -> str:
    """A name that fits beside the chart. The middle is left out: checkpoints of a run differ at the end."""
    return name if len(name) <= 28 else f"{name[:11]}…{name[-16:]}"


def elo_chart(judges: Sequence[JudgeRating]) -> str:
    """A row for each judge with a finite rating: a dot, and a line for its interval. Empty without such a judge."""
    rated = [(judge, judge.elo) for judge in judges if judge.elo is not None]
    if not rated:
        return ""
    edges = [value for judge, elo in rated for value in (elo, *(judge.ci95 or ()))]
    marked = ticks(edges, 5)
    height = ROW * len(rated) + AXIS

    def x_at(value: float) -> float:
        return LEFT + (value - marked[0]) / (marked[-1] - marked[0]) * (WIDTH - LEFT - RIGHT)

    name = "Elo. " + "; ".join(f"{judge.judge} {elo:.0f}" for judge, elo in rated)
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(name)}">']
    for tick in marked:
        x = x_at(tick)
        parts.append(f'<line class="rule" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - AXIS}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{height - 6}" text-anchor="middle">{tick:g}</text>')
    for number, (judge, elo) in enumerate(rated):
        y = ROW * number + ROW / 2
        label = escape(_short(judge.judge))
        parts.append(f'<text class="tick" x="{LEFT - 8}" y="{y + 3.5:.1f}" text-anchor="end">{label}</text>')
        if judge.ci95:
            low, high = (x_at(value) for value in judge.ci95)
            parts.append(f'<line class="line c0" x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<circle class="dot c0" cx="{x_at(elo):.1f}" cy="{y:.1f}" r="4"/>')
    return "".join([*parts, "</svg>"])


def stability_figure(rating: Rating) -> Figure | None:
    """The rank correlation with the full fit against the share of votes kept; None without a finite one."""
    lines = {
        name: [(row.fraction, value) for row in rating.stability if (value := getattr(row, field)) is not None]
        for name, field in (("Spearman", "spearman"), ("Kendall", "kendall"))
    }
    lines = {name: points for name, points in lines.items() if points}
    colors = colors_of(list(lines))
    svg = line_chart("agreement with the full fit", lines, colors, dots=True) if lines else ""
    return Figure("Agreement with the full fit by share of votes", svg, colors) if lines else None


def rating_page(rating: Rating, tables: Sequence[Grid], title: str) -> str:
    """The page as one file without scripts."""
    template = (files(__package__) / "rating.html").read_text(encoding="utf-8")
    chart = elo_chart(rating.slices[0].judges) if rating.slices else ""
    return plain_page(template, title=title, tables=tables, chart=chart, stability=stability_figure(rating))
