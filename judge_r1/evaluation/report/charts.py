"""Charts as SVG strings, without a library or scripts. The page defines the colours of the classes `c0`, `c1`, ...

Every chart has an accessible name that lists its values.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape

from judge_r1.evaluation.report.tables import Estimate
from judge_r1.statistics.calibration import Bin

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 340, 190, 44, 10, 10, 24
COLOURS = 8
"""The number of colours of the page. Charts with more series repeat them."""
Points = Sequence[tuple[float, float]]


def line_chart(title: str, series: Mapping[str, Points], colours: Mapping[str, int], *, dots: bool = False) -> str:
    """One line per series, over shared axes. `colours` maps each series to the N of its class `line cN`. The end of
    each line has a dot; with `dots` every point has one.

    There must be at least one point, and all must be finite. The accessible name lists the first and last values.
    """
    points = [point for line in series.values() for point in line]
    x_ticks, y_ticks = ticks([x for x, _ in points], 4), ticks([y for _, y in points], 4)

    def x_at(x: float) -> float:
        return LEFT + (x - x_ticks[0]) / (x_ticks[-1] - x_ticks[0]) * (WIDTH - LEFT - RIGHT)

    def y_at(y: float) -> float:
        return HEIGHT - BOTTOM - (y - y_ticks[0]) / (y_ticks[-1] - y_ticks[0]) * (HEIGHT - TOP - BOTTOM)

    accessible_values = "; ".join(
        f"{name} from {line[0][1]:.3g} to {line[-1][1]:.3g}" for name, line in series.items() if line
    )
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(f"{title}: {accessible_values}")}">']
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
    title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]], colours: Mapping[str, int]
) -> str:
    """A group of bars for each label, with one bar per series. `colours` maps each series to the N of its class `cN`.

    Every series has a value of zero or more for each label. The accessible name lists all values.
    """
    for name, values in series.items():
        if len(values) != len(labels) or min(values, default=0) < 0:
            raise ValueError(f"series {name!r} needs {len(labels)} values of zero or more")
    y_ticks = ticks([0.0, *(value for values in series.values() for value in values)], 4)
    group_width = (WIDTH - LEFT - RIGHT) / max(1, len(labels))
    width = group_width * (1 - BAR_GAP) / max(1, len(series))

    def y_at(y: float) -> float:
        return HEIGHT - BOTTOM - (y - y_ticks[0]) / (y_ticks[-1] - y_ticks[0]) * (HEIGHT - TOP - BOTTOM)

    accessible_values = "; ".join(
        f"{name}: " + ", ".join(f"{label} {value:g}" for label, value in zip(labels, values, strict=True))
        for name, values in series.items()
    )
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(f"{title}. {accessible_values}")}">']
    for y in y_ticks:
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y_at(y):.1f}" y2="{y_at(y):.1f}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 6}" y="{y_at(y) + 3.5:.1f}" text-anchor="end">{y:g}</text>')
    for number, label in enumerate(labels):
        left = LEFT + group_width * (number + BAR_GAP / 2)
        for at, (name, values) in enumerate(series.items()):
            top = y_at(values[number])
            place = f'x="{left + width * at:.1f}" y="{top:.1f}" width="{width:.1f}" height="{y_at(0) - top:.1f}"'
            text = f"<title>{escape(f'{name}, {label}: {values[number]:g}')}</title>"
            parts.append(f'<rect class="bar c{colours[name]}" {place}>{text}</rect>')
        middle = LEFT + group_width * (number + 0.5)
        parts.append(
            f'<text class="tick" x="{middle:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(label)}</text>'
        )
    return "".join([*parts, "</svg>"])


SIZE, RADIUS = 340, 116
RINGS = (0.25, 0.5, 0.75, 1.0)


def radar_chart(
    title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]], colours: Mapping[str, int]
) -> str:
    """An axis for each of at least three labels, from 0 in the centre to 1 at the rim, and one closed line per series
    with the class `line cN`. The accessible name lists all values.

    Every series has a value in [0, 1] for each label.
    """
    if len(labels) < 3:
        raise ValueError(f"a radar needs three axes or more, not {len(labels)}")
    for name, values in series.items():
        if len(values) != len(labels) or not all(0 <= value <= 1 for value in values):
            raise ValueError(f"series {name!r} needs {len(labels)} values from 0 to 1")
    accessible_values = "; ".join(
        f"{name}: " + ", ".join(f"{label} {value:.3g}" for label, value in zip(labels, values, strict=True))
        for name, values in series.items()
    )
    parts = [f'<svg viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="{escape(f"{title}. {accessible_values}")}">']
    parts += [f'<polygon class="rule" fill="none" points="{_ring([ring] * len(labels))}"/>' for ring in RINGS]
    middle = SIZE / 2
    for number, label in enumerate(labels):
        x, y = _point(number, len(labels), 1.0)
        parts.append(f'<line class="rule" x1="{middle:.1f}" y1="{middle:.1f}" x2="{x:.1f}" y2="{y:.1f}"/>')
        x, y = _point(number, len(labels), 1.12)
        anchor = "middle" if abs(x - middle) < 8 else "start" if x > middle else "end"
        parts.append(f'<text class="tick" x="{x:.1f}" y="{y + 3.5:.1f}" text-anchor="{anchor}">{escape(label)}</text>')
    for ring in RINGS[1::2]:
        y = _point(0, len(labels), ring)[1]
        parts.append(f'<text class="tick" x="{middle + 3:.1f}" y="{y + 10:.1f}">{ring:g}</text>')
    for name, values in series.items():
        points = _ring(values)
        parts.append(
            f'<polygon class="line c{colours[name]}" points="{points}"><title>{escape(name)}</title></polygon>'
        )
        for x, y in (_point(number, len(values), value) for number, value in enumerate(values)):
            parts.append(f'<circle class="dot c{colours[name]}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>')
    return "".join([*parts, "</svg>"])


def _ring(values: Sequence[float]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in (_point(n, len(values), value) for n, value in enumerate(values)))


def _point(number: int, count: int, value: float) -> tuple[float, float]:
    """The first axis points up, the others follow clockwise."""
    angle = 2 * math.pi * number / count - math.pi / 2
    return SIZE / 2 + RADIUS * value * math.cos(angle), SIZE / 2 + RADIUS * value * math.sin(angle)


MARGIN, LABEL_HEIGHT, MARK_HEIGHT, ROW_GAP, AXIS_HEIGHT = 10, 15, 13, 9, 22
LONGEST_LABEL = 50
"""Longer labels are shortened in the middle; the title of the mark has the full label."""
MARKS = (
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
    "M-3.3 -3.3h6.6v6.6h-6.6z",
    "M0 -4.6L4.6 0L0 4.6L-4.6 0z",
    "M0 -4.4L4.3 3.4H-4.3z",
)
"""Circle, square, diamond and triangle, so that a series can be distinguished from others without its colour."""


def whisker_chart(title: str, rows: Mapping[str, Mapping[str, Estimate]], colours: Mapping[str, int]) -> str:
    """Under each label one line per series: a mark for the value and a whisker for the 95 % interval, from 0 to 1.

    `colours` maps each series to the N of its class `cN`; the page needs a legend. The only series of a label may be
    named "" or like the label. The accessible name lists all values.
    """

    def x_at(value: float) -> float:
        return MARGIN + value * (WIDTH - MARGIN - MARGIN)

    height = sum(LABEL_HEIGHT + MARK_HEIGHT * len(series) + ROW_GAP for series in rows.values()) + AXIS_HEIGHT
    bottom = height - AXIS_HEIGHT
    accessible_values = "; ".join(
        f"{label}: "
        + ", ".join(f"{name} {value}" if name not in ("", label) else f"{value}" for name, value in series.items())
        for label, series in rows.items()
    )
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(f"{title}. {accessible_values}")}">']
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, anchor = x_at(tick), {0.0: "start", 1.0: "end"}.get(tick, "middle")
        kind = "rule half" if tick == 0.5 else "rule"
        parts.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{height - 8}" text-anchor="{anchor}">{tick:g}</text>')
    y = 0.0
    for label, series in rows.items():
        parts.append(f'<text class="label" x="{MARGIN}" y="{y + 11:.1f}">{escape(shortened(label))}</text>')
        y += LABEL_HEIGHT
        for name, value in series.items():
            colour, whole = colours[name], label if name in ("", label) else f"{label}, {name}"
            at = f"translate({x_at(value.value):.1f} {y + 5:.1f})"
            parts.append(
                f'<g class="whisker c{colour}"><title>{escape(f"{whole}: {value}")}</title>'
                f'<line x1="{x_at(value.low):.1f}" x2="{x_at(value.high):.1f}" y1="{y + 5:.1f}" y2="{y + 5:.1f}"/>'
                f'<path d="{MARKS[colour % len(MARKS)]}" transform="{at}"/></g>'
            )
            y += MARK_HEIGHT
        y += ROW_GAP
    return "".join([*parts, "</svg>"])


def shortened(label: str, longest: int = LONGEST_LABEL) -> str:
    """The label with at most `longest` characters: a longer one keeps its start and its end."""
    if len(label) <= longest:
        return label
    tail = longest * 3 // 5
    return f"{label[: longest - tail - 1]}…{label[-tail:]}"


LIGHT = ("#1f6f6b", "#b4551d", "#3b5fa8", "#8a3f7c")
DARK = ("#6cc3bb", "#e79a63", "#8fb0ec", "#d698ca")
DIAGONAL = "calibrated"
FOOT = 40


def reliability_diagram(tables: Mapping[str, Sequence[Bin]]) -> str:
    """One line for each reliability table (at most three), and the diagonal of perfect calibration."""
    lines = {name: [(b.confidence, b.accuracy) for b in table] for name, table in tables.items()}
    low = min(value for line in lines.values() for point in line for value in point)
    drawn = {DIAGONAL: [(low, low), (1.0, 1.0)], **lines}
    colours = {DIAGONAL: len(LIGHT), **{name: number for number, name in enumerate(lines)}}
    chart = line_chart("share of right answers by confidence", drawn, colours, dots=True)
    body = chart.partition(">")
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    opening = body[0].replace(size, f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + FOOT}"')
    return f"{opening}>{_style()}{_back()}{body[2].removesuffix('</svg>')}{_foot(lines)}</svg>\n"


def _style() -> str:
    def colours(ink: str, rule: str, page: str, of: Sequence[str]) -> str:
        lines = "".join(f".line.c{i}{{stroke:{c}}}.dot.c{i}{{fill:{c}}}" for i, c in enumerate(of))
        return f".back{{fill:{page}}}.tick{{fill:{ink}}}.rule{{stroke:{rule}}}.line.c4{{stroke:{ink}}}{lines}"

    return (
        "<style>.tick{font:10px system-ui,sans-serif}.line{fill:none;stroke-width:1.8}"
        ".line.c4{stroke-width:1;stroke-dasharray:3 3}.dot.c4{fill:none}"
        f"{colours('#5c656e', '#e3e0d9', '#fff', LIGHT)}"
        f"@media(prefers-color-scheme:dark){{{colours('#a0a9b0', '#30363b', '#1c2024', DARK)}}}</style>"
    )


def _back() -> str:
    return f'<rect class="back" width="{WIDTH}" height="{HEIGHT + FOOT}"/>'


def _foot(names: Mapping[str, object]) -> str:
    """The labels of the axes and the legend."""
    parts = [f'<text class="tick" x="{LEFT}" y="{HEIGHT + 10}">x: confidence; y: share of right answers</text>']
    for number, name in enumerate(names):
        x = LEFT + number * (WIDTH - LEFT) / max(1, len(names))
        parts.append(f'<circle class="dot c{number}" cx="{x + 3:.1f}" cy="{HEIGHT + 24}" r="3"/>')
        parts.append(f'<text class="tick" x="{x + 10:.1f}" y="{HEIGHT + 27.5}">{escape(name)}</text>')
    return "".join(parts)
