"""The reliability diagram: the share of right answers by confidence, as one SVG file that stands alone."""

from collections.abc import Mapping, Sequence
from html import escape

from judge_r1.evaluation.report.charts import HEIGHT, LEFT, WIDTH, line_chart
from judge_r1.statistics.calibration import Bin

LIGHT = ("#1f6f6b", "#b4551d", "#3b5fa8", "#8a3f7c")
DARK = ("#6cc3bb", "#e79a63", "#8fb0ec", "#d698ca")
DIAGONAL = "as told"
FOOT = 40


def reliability_diagram(tables: Mapping[str, Sequence[Bin]]) -> str:
    """One line for each reliability table (at most three), and the diagonal on which confidences mean what they say."""
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
    """What the axes are, and whose line is whose."""
    parts = [f'<text class="tick" x="{LEFT}" y="{HEIGHT + 10}">across: confidence; up: share of right answers</text>']
    for number, name in enumerate(names):
        x = LEFT + number * (WIDTH - LEFT) / max(1, len(names))
        parts.append(f'<circle class="dot c{number}" cx="{x + 3:.1f}" cy="{HEIGHT + 24}" r="3"/>')
        parts.append(f'<text class="tick" x="{x + 10:.1f}" y="{HEIGHT + 27.5}">{escape(name)}</text>')
    return "".join(parts)
