"""A line chart as one SVG string: no library, no script, colours from the page that holds it."""

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 340, 190, 44, 10, 10, 24
COLOURS = 8
"""How many colours the page has; more series than these share them."""
Points = Sequence[tuple[float, float]]


def line_chart(title: str, series: Mapping[str, Points], colours: Mapping[str, int], *, dots: bool = False) -> str:
    """One line a series, over shared axes. `colours` numbers each series: its line has the class `line cN`. A dot
    stands at the end of each line, with `dots` at every point.

    Points must be finite and there must be at least one; the accessible name tells the first and last value of each.
    """
    points = [point for line in series.values() for point in line]
    x_ticks, y_ticks = ticks([x for x, _ in points], 4), ticks([y for _, y in points], 4)

    def x_at(x: float) -> float:
        return LEFT + (x - x_ticks[0]) / (x_ticks[-1] - x_ticks[0]) * (WIDTH - LEFT - RIGHT)

    def y_at(y: float) -> float:
        return HEIGHT - BOTTOM - (y - y_ticks[0]) / (y_ticks[-1] - y_ticks[0]) * (HEIGHT - TOP - BOTTOM)

    told = "; ".join(f"{name} from {line[0][1]:.3g} to {line[-1][1]:.3g}" for name, line in series.items() if line)
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(f"{title}: {told}")}">']
    for y in y_ticks:
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y_at(y):.1f}" y2="{y_at(y):.1f}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 6}" y="{y_at(y) + 3.5:.1f}" text-anchor="end">{y:g}</text>')
    for x in x_ticks:
        place = (
            f'x="{WIDTH}" y="{HEIGHT - 8}" text-anchor="end"'
            if len(f"{x:g}") > 3 and x == x_ticks[-1]
            else (f'x="{x_at(x):.1f}" y="{HEIGHT - 8}" text-anchor="middle"')
        )
        parts.append(f'<text class="tick" {place}>{x:g}</text>')
    for name, line in series.items():
        path = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in line)
        label = f"<title>{escape(name)}</title>"
        parts.append(f'<polyline class="line c{colours[name]}" points="{path}">{label}</polyline>')
        for x, y in line if dots else line[-1:]:
            parts.append(f'<circle class="dot c{colours[name]}" cx="{x_at(x):.1f}" cy="{y_at(y):.1f}" r="2.5"/>')
    return "".join([*parts, "</svg>"])


def ticks(values: Sequence[float], about: int) -> list[float]:
    """Round numbers, evenly spaced by 1, 2 or 5 times a power of ten, that enclose the values: at least two."""
    low, high = min(values), max(values)
    if high == low:
        low, high = (low - 0.5, high + 0.5) if abs(low) < 1 else (low - abs(low) / 2, high + abs(high) / 2)
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]
