"""Charts of named points: two values of each name (scatter), its two ranks (slope), and a grid of cells (heat).

Like `judge_r1.evaluation.report.charts`: SVG strings whose accessible names list all values.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape

from judge_r1.evaluation.report.charts import shortened, svg_head, svg_text, ticks

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 520, 320, 44, 120, 12, 26
Point = tuple[float, float]


def scatter_chart(
    title: str,
    points: Mapping[str, Point],
    front: Sequence[str] = (),
    *,
    line: Sequence[Point] = (),
    text_of: Callable[[float], str] = "{:g}".format,
) -> str:
    """A dot with its name for each point, and a step line through those on the `front`, from the left, or a `line`.

    There must be a point; `text_of` writes the labels of the horizontal axis.
    """
    values = [*points.values(), *line]
    x_ticks, y_ticks = ticks([x for x, _ in values], 5), ticks([y for _, y in values], 5)

    def at(point: Point) -> Point:
        x = LEFT + (point[0] - x_ticks[0]) / (x_ticks[-1] - x_ticks[0]) * (WIDTH - LEFT - RIGHT)
        return x, HEIGHT - BOTTOM - (point[1] - y_ticks[0]) / (y_ticks[-1] - y_ticks[0]) * (HEIGHT - TOP - BOTTOM)

    description = "; ".join(f"{name} {text_of(x)}, {y:.4g}" for name, (x, y) in points.items())
    parts = [svg_head(f"{title}. {description}", WIDTH, HEIGHT)]
    for y in y_ticks:
        height = at((x_ticks[0], y))[1]
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height:.1f}" y2="{height:.1f}"/>')
        parts.append(svg_text(LEFT - 6, height + 3.5, f"{y:g}", "end"))
    parts += [svg_text(at((x, y_ticks[0]))[0], HEIGHT - 8, text_of(x)) for x in x_ticks]
    corners = [at(point) for point in line]
    for name in front:
        x, y = at(points[name])
        corners += [(x, corners[-1][1]), (x, y)] if corners else [(x, y)]
    if len(corners) > 1:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        parts.append(f'<polyline class="line c1" points="{path}"/>')
    labels: list[Point] = []
    for name, point in sorted(points.items(), key=lambda found: -found[1][1]):
        x, y = at(point)
        parts.append(f'<circle class="dot c0" cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{escape(name)}</title></circle>')
        # A label that would cover an earlier one goes below it.
        low = max([y + 3, *(other + 10 for left, other in labels if abs(left - x) < 110 and y + 3 - other < 10)])
        labels.append((x, low))
        parts.append(svg_text(x + 6, low, shortened(name), "start"))
    return "".join([*parts, "</svg>"])


def slope_chart(title: str, heads: tuple[str, str], ranks: Mapping[str, tuple[int, int]], marked: Sequence[str]) -> str:
    """A line for each name from its rank on the left to that on the right, best on top. `marked` lines are coloured."""
    most = max(max(pair) for pair in ranks.values())
    height, left, right = 26 + 18 * most, 190, WIDTH - 190
    description = "; ".join(f"{name} {one} to {other}" for name, (one, other) in ranks.items())
    parts = [
        svg_head(f"{title}. {description}", WIDTH, height),
        svg_text(left, 12, heads[0], "end"),
        svg_text(right, 12, heads[1], "start"),
    ]
    for name, (one, other) in ranks.items():
        y1, y2 = (14 + 18 * rank for rank in (one, other))
        color = 1 + list(marked).index(name) % 7 if name in marked else 0
        thin = "" if name in marked else ' stroke-width="1" stroke-opacity="0.45" style="stroke-width:1"'
        parts.append(f'<line class="line c{color}" x1="{left + 6}" x2="{right - 6}" y1="{y1}" y2="{y2}"{thin}/>')
        parts.append(svg_text(left, y1 + 3.5, f"{shortened(name)} {one}", "end"))
        parts.append(svg_text(right, y2 + 3.5, f"{other} {shortened(name)}", "start"))
    return "".join([*parts, "</svg>"])


CELL = 54


def heat_chart(
    title: str, rows: Sequence[str], columns: Sequence[str], cells: Mapping[tuple[str, str], float], form: str = "+.2f"
) -> str:
    """A cell for each row and column with its value: the darker, the farther from 0. A missing cell is empty."""
    most = max((abs(value) for value in cells.values()), default=0) or 1
    left = 90
    width, height = max(left + CELL * len(columns) + 8, 200), 22 + 24 * len(rows) + 6
    description = "; ".join(f"{row}, {column} {value:{form}}" for (row, column), value in cells.items())
    parts = [svg_head(f"{title}. {description}", width, height)]
    parts += [svg_text(left + CELL * (n + 0.5), 14, column) for n, column in enumerate(columns)]
    for number, row in enumerate(rows):
        y = 22 + 24 * number
        parts.append(svg_text(left - 6, y + 15, row, "end"))
        for at, column in enumerate(columns):
            if (value := cells.get((row, column))) is None:
                continue
            x, color = left + CELL * at, 1 if value < 0 else 0
            parts.append(
                f'<rect class="bar c{color}" x="{x}" y="{y}" width="{CELL - 2}" height="22" '
                f'fill-opacity="{0.08 + 0.62 * abs(value) / most:.2f}"/>'
            )
            parts.append(svg_text(x + CELL / 2 - 1, y + 15, f"{value:{form}}"))
    return "".join([*parts, "</svg>"])
