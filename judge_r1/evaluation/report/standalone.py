"""Pages without scripts, with tables and charts, and charts as files: SVGs with their own colors and legend."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from judge_r1.evaluation.report.charts import Figure, line_chart

if TYPE_CHECKING:
    from judge_r1.statistics.calibration import Bin  # which needs NumPy

LIGHT = ("#1f6f6b", "#b4551d", "#3b5fa8", "#8a3f7c", "#6b7a1b", "#a3341f", "#4f5b66", "#8a6d1b")
DARK = ("#6cc3bb", "#e79a63", "#8fb0ec", "#d698ca", "#c3d06a", "#e58a78", "#aab6c1", "#d8bd6c")
DIAGONAL, DASHED = "calibrated", len(LIGHT)
"""The diagonal of perfect calibration, and its color number: a thin dashed line without dots."""
_LINE = 14
"""The height of a line of the legend."""


def standalone(figure: Figure, caption: str = "") -> str:
    """The chart as an SVG that needs no page: with colors for light and dark viewers, a legend, and `caption` above it.

    Raises:
        ValueError: The chart does not start with an svg element that has a viewBox.
    """
    size = re.match(r'<svg viewBox="0 0 (\d+) (\d+)"', figure.svg)
    if size is None:
        raise ValueError("a chart must start with an svg element that has a viewBox")
    width, height = int(size[1]), int(size[2])
    total = height + _LINE * (len(figure.legend) + bool(caption)) + 6
    lines = [f'<text class="tick" x="12" y="{height + 9}">{escape(caption)}</text>'] if caption else []
    for number, (name, color) in enumerate(figure.legend.items(), len(lines)):
        y = height + _LINE * number
        lines.append(
            f'<rect class="bar c{color}" x="12" y="{y + 4}" width="14" height="4"/>'
            f'<text class="tick" x="32" y="{y + 9}">{escape(name)}</text>'
        )
    style = (
        ".tick,.label{font:10px system-ui,sans-serif}.line{fill:none;stroke-width:1.8}"
        f".line.c{DASHED}{{stroke-width:1;stroke-dasharray:3 3}}.dot.c{DASHED}{{fill:none}}"
        f"{_colors('#5c656e', '#e3e0d9', '#fff', LIGHT)}"
        f"@media(prefers-color-scheme:dark){{{_colors('#a0a9b0', '#30363b', '#1c2024', DARK)}}}"
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" width="{2 * width}"'
    background = f'<style>{style}</style><rect class="back" width="{width}" height="{total}"/>'
    attributes, _, body = figure.svg[size.end() :].partition(">")
    return f"{head}{attributes}>{background}{body.removesuffix('</svg>')}{''.join(lines)}</svg>\n"


def reliability_diagram(tables: "Mapping[str, Sequence[Bin]]") -> str:
    """One line for each reliability table, and the diagonal of perfect calibration."""
    lines = {name: [(b.confidence, b.accuracy) for b in table] for name, table in tables.items()}
    low = min(value for line in lines.values() for point in line for value in point)
    legend = {name: number for number, name in enumerate(lines)}
    svg = line_chart(
        "share of right answers by confidence",
        {DIAGONAL: [(low, low), (1.0, 1.0)], **lines},
        {DIAGONAL: DASHED, **legend},
        dots=True,
    )
    return standalone(Figure("Reliability", svg, legend), "x: confidence; y: share of right answers")


def _colors(ink: str, rule: str, page: str, series: Sequence[str]) -> str:
    filled, lined = ".bar.c{n},.dot.c{n},.c{n} path{{fill:{c}}}", ".line.c{n},.c{n} line{{stroke:{c}}}"
    classes = "".join((filled + lined).format(n=n, c=c) for n, c in enumerate(series))
    return (
        f".back{{fill:{page}}}.tick,.label{{fill:{ink}}}.rule{{stroke:{rule}}}.line.c{DASHED}{{stroke:{ink}}}{classes}"
    )


def plain_page(template: str, *, title: str, **fields: Any) -> str:
    """Renders a template that extends `plain.html` and may import `table` from `table.html` as one file."""
    from jinja2 import DictLoader, Environment, StrictUndefined

    static = files(__package__) / "static"
    shared = {name: (static / name).read_text(encoding="utf-8") for name in ("plain.html", "table.html", "plain.css")}
    environment = Environment(
        loader=DictLoader(shared), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(template).render(title=title, css=shared["plain.css"], **fields) + "\n"
