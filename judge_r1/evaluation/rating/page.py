"""The page of a rating: its tables, a chart of the intervals and one of the stability."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from judge_r1.evaluation.rating.records import JudgeRating, Rating
from judge_r1.evaluation.report.charts import Figure, colors_of, line_chart, ticks
from judge_r1.evaluation.report.plain_page import plain_page
from judge_r1.evaluation.report.tables import Grid

WIDTH, LEFT, RIGHT, ROW, AXIS = 640, 170, 20, 20, 22


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
        name: [
            (row.fraction, value)
            for row in rating.stability
            if not row.group and (value := getattr(row, field)) is not None
        ]
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
