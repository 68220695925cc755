"""Charts as SVG strings, without a library or scripts. The page defines the colors of the classes `c0`, `c1`, ...

Every chart has an accessible name that lists its values. In all charts `colors` maps each series to the N of `cN`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from judge_r1.evaluation.report.tables import Estimate

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 340, 190, 44, 10, 10, 24
COLORS = 8
"""The number of colors of the page. Charts with more series repeat them."""
Points = Sequence[tuple[float, float]]


class Figure(NamedTuple):
    """A chart with its legend, which maps the name of a line or bar to its color number."""

    title: str
    svg: str
    legend: dict[str, int]
    note: str = ""


def colors_of(names: Sequence[str]) -> dict[str, int]:
    """A color number for each name; they repeat if there are more names than colors."""
    return {name: number % COLORS for number, name in enumerate(names)}


def line_chart(title: str, series: Mapping[str, Points], colors: Mapping[str, int], *, dots: bool = False) -> str:
    """One line per series, over shared axes. The end of each line has a dot; with `dots` every point has one.

    There must be at least one point, and all must be finite. The accessible name lists the first and last values.
    """
    points = [point for line in series.values() for point in line]
    x_ticks = ticks([x for x, _ in points], 4)
    y_at, y_axis = _vertical_axis([y for _, y in points])

    def x_at(x: float) -> float:
        return LEFT + (x - x_ticks[0]) / (x_ticks[-1] - x_ticks[0]) * (WIDTH - LEFT - RIGHT)

    ends = "; ".join(f"{name} from {line[0][1]:.3g} to {line[-1][1]:.3g}" for name, line in series.items() if line)
    parts = [svg_head(f"{title}: {ends}"), *y_axis]
    for x in x_ticks:
        is_long = len(f"{x:g}") > 3 and x == x_ticks[-1]  # a centered label would leave the picture
        place = (WIDTH, HEIGHT - 8, f"{x:g}", "end") if is_long else (x_at(x), HEIGHT - 8, f"{x:g}")
        parts.append(svg_text(*place))
    for name, line in series.items():
        path = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in line)
        parts.append(f'<polyline class="line c{colors[name]}" points="{path}"><title>{escape(name)}</title></polyline>')
        parts += [_dot(colors[name], x_at(x), y_at(y)) for x, y in (line if dots else line[-1:])]
    return "".join([*parts, "</svg>"])


def ticks(values: Sequence[float], about: int) -> list[float]:
    """At least two round numbers that enclose the values, spaced by 1, 2 or 5 times a power of ten."""
    low, high = min(values), max(values)
    if high == low:
        low, high = (low - 0.5, high + 0.5) if abs(low) < 1 else (low - abs(low) / 2, high + abs(high) / 2)
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


BAR_GAP = 0.25
"""The empty share of the width of a group."""


def bar_chart(
    title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]], colors: Mapping[str, int]
) -> str:
    """A group of bars for each label, with one bar per series. Every series has a value of zero or more for each label.

    The accessible name lists all values.
    """
    for name, values in series.items():
        if len(values) != len(labels) or min(values, default=0) < 0:
            raise ValueError(f"series {name!r} needs {len(labels)} values of zero or more")
    y_at, y_axis = _vertical_axis([0.0, *(value for values in series.values() for value in values)])
    group_width = (WIDTH - LEFT - RIGHT) / max(1, len(labels))
    width = group_width * (1 - BAR_GAP) / max(1, len(series))
    parts = [svg_head(f"{title}. {_all_values(labels, series, 'g')}"), *y_axis]
    for number, label in enumerate(labels):
        left = LEFT + group_width * (number + BAR_GAP / 2)
        for at, (name, values) in enumerate(series.items()):
            top = y_at(values[number])
            place = f'x="{left + width * at:.1f}" y="{top:.1f}" width="{width:.1f}" height="{y_at(0) - top:.1f}"'
            text = escape(f"{name}, {label}: {values[number]:g}")
            parts.append(f'<rect class="bar c{colors[name]}" {place}><title>{text}</title></rect>')
        parts.append(svg_text(LEFT + group_width * (number + 0.5), HEIGHT - 8, label))
    return "".join([*parts, "</svg>"])


SIZE, RADIUS = 340, 116
RINGS = (0.25, 0.5, 0.75, 1.0)


def radar_chart(
    title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]], colors: Mapping[str, int]
) -> str:
    """An axis for each of at least three labels, from 0 in the center to 1 at the rim, and one closed line per series.

    Every series has a value in [0, 1] for each label. The accessible name lists all values.
    """
    if len(labels) < 3:
        raise ValueError(f"a radar needs three axes or more, not {len(labels)}")
    for name, values in series.items():
        if len(values) != len(labels) or not all(0 <= value <= 1 for value in values):
            raise ValueError(f"series {name!r} needs {len(labels)} values from 0 to 1")
    parts = [svg_head(f"{title}. {_all_values(labels, series, '.3g')}", SIZE, SIZE)]
    parts += [f'<polygon class="rule" fill="none" points="{_ring([ring] * len(labels))}"/>' for ring in RINGS]
    middle = SIZE / 2
    for number, label in enumerate(labels):
        x, y = _point(number, len(labels), 1.0)
        parts.append(f'<line class="rule" x1="{middle:.1f}" y1="{middle:.1f}" x2="{x:.1f}" y2="{y:.1f}"/>')
        x, y = _point(number, len(labels), 1.12)
        parts.append(svg_text(x, y + 3.5, label, "middle" if abs(x - middle) < 8 else "start" if x > middle else "end"))
    parts += [svg_text(middle + 3, _point(0, len(labels), r)[1] + 10, f"{r:g}", "start") for r in RINGS[1::2]]
    for name, values in series.items():
        outline = f'<polygon class="line c{colors[name]}" points="{_ring(values)}">'
        parts.append(f"{outline}<title>{escape(name)}</title></polygon>")
        parts += [_dot(colors[name], *_point(n, len(values), value)) for n, value in enumerate(values)]
    return "".join([*parts, "</svg>"])


MARGIN, LABEL_HEIGHT, MARK_HEIGHT, ROW_GAP, AXIS_HEIGHT = 10, 15, 13, 9, 22
LONGEST_LABEL = 50
"""Longer labels are shortened in the middle; the title of the mark has the full label."""
MARKS = (
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
    "M-3.3 -3.3h6.6v6.6h-6.6z",
    "M0 -4.6L4.6 0L0 4.6L-4.6 0z",
    "M0 -4.4L4.3 3.4H-4.3z",
)
"""Circle, square, diamond and triangle, so that a series can be distinguished from others without its color."""


UNIT_AXIS = (0.0, 0.25, 0.5, 0.75, 1.0)


def whisker_chart(
    title: str,
    rows: Mapping[str, Mapping[str, "Estimate"]],
    colors: Mapping[str, int],
    *,
    axis: Sequence[float] = UNIT_AXIS,
    dashed: float | None = None,
) -> str:
    """Under each label one line per series: a mark for the value and a whisker for the 95 % interval.

    `axis` has the values with a rule, in order, from end to end; a dashed rule stands at `dashed`. The page needs a
    legend. The only series of a label may be named "" or like the label. The accessible name lists all values.
    """

    def x_at(value: float) -> float:
        return MARGIN + (value - axis[0]) / (axis[-1] - axis[0]) * (WIDTH - MARGIN - MARGIN)

    height = sum(LABEL_HEIGHT + MARK_HEIGHT * len(series) + ROW_GAP for series in rows.values()) + AXIS_HEIGHT
    values = "; ".join(
        f"{label}: " + ", ".join(f"{part}" if name in ("", label) else f"{name} {part}" for name, part in row.items())
        for label, row in rows.items()
    )
    parts = [svg_head(f"{title}. {values}", WIDTH, height)]
    for tick in axis:
        x = x_at(tick)
        if tick != dashed:
            parts.append(f'<line class="rule" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - AXIS_HEIGHT}"/>')
        parts.append(svg_text(x, height - 8, f"{tick:g}", {axis[0]: "start", axis[-1]: "end"}.get(tick, "middle")))
    if dashed is not None:
        x = x_at(dashed)
        parts.append(f'<line class="rule half" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - AXIS_HEIGHT}"/>')
    y = 0.0
    for label, row in rows.items():
        parts.append(f'<text class="label" x="{MARGIN}" y="{y + 11:.1f}">{escape(shortened(label))}</text>')
        y += LABEL_HEIGHT
        for name, value in row.items():
            color, whole = colors[name], label if name in ("", label) else f"{label}, {name}"
            at = f"translate({x_at(value.value):.1f} {y + 5:.1f})"
            parts.append(
                f'<g class="whisker c{color}"><title>{escape(f"{whole}: {value}")}</title>'
                f'<line x1="{x_at(value.low):.1f}" x2="{x_at(value.high):.1f}" y1="{y + 5:.1f}" y2="{y + 5:.1f}"/>'
                f'<path d="{MARKS[color % len(MARKS)]}" transform="{at}"/></g>'
            )
            y += MARK_HEIGHT
        y += ROW_GAP
    return "".join([*parts, "</svg>"])


def shortened(label: str) -> str:
    """The label with at most LONGEST_LABEL characters: a longer one keeps its start and its end."""
    if len(label) <= LONGEST_LABEL:
        return label
    tail = LONGEST_LABEL * 3 // 5
    return f"{label[: LONGEST_LABEL - tail - 1]}…{label[-tail:]}"


def svg_head(name: str, width: int = WIDTH, height: int = HEIGHT) -> str:
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(name)}">'


def svg_text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text class="tick" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _dot(color: int, x: float, y: float) -> str:
    return f'<circle class="dot c{color}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>'


def _vertical_axis(values: Sequence[float]) -> tuple[Callable[[float], float], list[str]]:
    """The function from a value to its y, and the horizontal rules with their labels."""
    marked = ticks(values, 4)

    def y_at(value: float) -> float:
        return HEIGHT - BOTTOM - (value - marked[0]) / (marked[-1] - marked[0]) * (HEIGHT - TOP - BOTTOM)

    rule = f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}"'
    return y_at, [
        f'{rule} y1="{y_at(y):.1f}" y2="{y_at(y):.1f}"/>' + svg_text(LEFT - 6, y_at(y) + 3.5, f"{y:g}", "end")
        for y in marked
    ]


def _all_values(labels: Sequence[str], series: Mapping[str, Sequence[float]], form: str) -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{label} {value:{form}}" for label, value in zip(labels, values, strict=True))
        for name, values in series.items()
    )


def _ring(values: Sequence[float]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in (_point(n, len(values), value) for n, value in enumerate(values)))


def _point(number: int, count: int, value: float) -> tuple[float, float]:
    """The first axis points up, the others follow clockwise."""
    angle = 2 * math.pi * number / count - math.pi / 2
    return SIZE / 2 + RADIUS * value * math.cos(angle), SIZE / 2 + RADIUS * value * math.sin(angle)
