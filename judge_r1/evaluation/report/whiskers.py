"""Dots with their intervals as one SVG string: no library, no script, colours from the page that holds it."""

from collections.abc import Mapping
from html import escape

from judge_r1.evaluation.report.charts import WIDTH
from judge_r1.evaluation.report.tables import Estimate

LEFT, RIGHT, LABEL, LINE, GAP, AXIS = 10, 10, 15, 13, 9, 22
LONGEST = 50
"""Longer labels are shortened in their middle; the title of the mark has them whole."""
MARKS = (
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
    "M-3.3 -3.3h6.6v6.6h-6.6z",
    "M0 -4.6L4.6 0L0 4.6L-4.6 0z",
    "M0 -4.4L4.3 3.4H-4.3z",
)
"""Circle, square, diamond and triangle, by colour: no series is told by its colour alone."""


def whisker_chart(title: str, rows: Mapping[str, Mapping[str, Estimate]], colours: Mapping[str, int]) -> str:
    """Under each label one line a series, its value a mark and its 95 % interval a whisker, over one axis from 0 to 1.

    `colours` numbers each series: its line has the class `cN`, and a legend must tell its name; a series that is the
    label's only one may be named "" or as the label. The accessible name tells all values.
    """

    def x_at(value: float) -> float:
        return LEFT + value * (WIDTH - LEFT - RIGHT)

    height = sum(LABEL + LINE * len(series) + GAP for series in rows.values()) + AXIS
    bottom = height - AXIS
    spoken = "; ".join(
        f"{label}: "
        + ", ".join(f"{name} {value}" if name not in ("", label) else f"{value}" for name, value in series.items())
        for label, series in rows.items()
    )
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(f"{title}. {spoken}")}">']
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, anchor = x_at(tick), {0.0: "start", 1.0: "end"}.get(tick, "middle")
        kind = "rule half" if tick == 0.5 else "rule"
        parts.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{height - 8}" text-anchor="{anchor}">{tick:g}</text>')
    y = 0.0
    for label, series in rows.items():
        parts.append(f'<text class="label" x="{LEFT}" y="{y + 11:.1f}">{escape(shortened(label))}</text>')
        y += LABEL
        for name, value in series.items():
            colour, whole = colours[name], label if name in ("", label) else f"{label}, {name}"
            at = f"translate({x_at(value.value):.1f} {y + 5:.1f})"
            parts.append(
                f'<g class="whisker c{colour}"><title>{escape(f"{whole}: {value}")}</title>'
                f'<line x1="{x_at(value.low):.1f}" x2="{x_at(value.high):.1f}" y1="{y + 5:.1f}" y2="{y + 5:.1f}"/>'
                f'<path d="{MARKS[colour % len(MARKS)]}" transform="{at}"/></g>'
            )
            y += LINE
        y += GAP
    return "".join([*parts, "</svg>"])


def shortened(label: str, longest: int = LONGEST) -> str:
    """At most `longest` characters: the beginning and the end of a longer one."""
    if len(label) <= longest:
        return label
    tail = longest * 3 // 5
    return f"{label[: longest - tail - 1]}…{label[-tail:]}"
