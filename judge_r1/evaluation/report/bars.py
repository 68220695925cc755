"""A bar chart as one SVG string: no library, no script, colours from the page that holds it."""

from collections.abc import Mapping, Sequence
from html import escape

from judge_r1.evaluation.report.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, ticks

GAP = 0.25
"""The share of a group's width that is left free."""


def bar_chart(
    title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]], colours: Mapping[str, int]
) -> str:
    """A group of bars for each label, one bar a series. `colours` numbers each series: its bars have the class `cN`.

    Every series has a value of zero or more for each label. The accessible name tells all of them.
    """
    for name, values in series.items():
        if len(values) != len(labels) or min(values, default=0) < 0:
            raise ValueError(f"series {name!r} needs {len(labels)} values of zero or more")
    y_ticks = ticks([0.0, *(value for values in series.values() for value in values)], 4)
    room = (WIDTH - LEFT - RIGHT) / max(1, len(labels))
    width = room * (1 - GAP) / max(1, len(series))

    def y_at(y: float) -> float:
        return HEIGHT - BOTTOM - (y - y_ticks[0]) / (y_ticks[-1] - y_ticks[0]) * (HEIGHT - TOP - BOTTOM)

    told = "; ".join(
        f"{name}: " + ", ".join(f"{label} {value:g}" for label, value in zip(labels, values, strict=True))
        for name, values in series.items()
    )
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(f"{title}. {told}")}">']
    for y in y_ticks:
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y_at(y):.1f}" y2="{y_at(y):.1f}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 6}" y="{y_at(y) + 3.5:.1f}" text-anchor="end">{y:g}</text>')
    for number, label in enumerate(labels):
        left = LEFT + room * (number + GAP / 2)
        for at, (name, values) in enumerate(series.items()):
            top = y_at(values[number])
            place = f'x="{left + width * at:.1f}" y="{top:.1f}" width="{width:.1f}" height="{y_at(0) - top:.1f}"'
            text = f"<title>{escape(f'{name}, {label}: {values[number]:g}')}</title>"
            parts.append(f'<rect class="bar c{colours[name]}" {place}>{text}</rect>')
        middle = LEFT + room * (number + 0.5)
        parts.append(
            f'<text class="tick" x="{middle:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(label)}</text>'
        )
    return "".join([*parts, "</svg>"])
