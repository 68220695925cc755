"""Writes an analysis: numbers as JSON, tables as Markdown, each figure as a self-contained SVG."""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from judge_r1.core.jsonl import write_atomic, write_json
from judge_r1.evaluation.report.paper_tables import Figure
from judge_r1.evaluation.report.tables import Grid, markdown

_COLOURS = ("#1f6f6b", "#b4551d", "#3b5fa8", "#8a3f7c", "#6b7a1b", "#a3341f", "#4f5b66", "#8a6d1b")
_LINE = 14
"""The height of a line of the legend."""


def write_analysis(
    out: Path, kind: str, data: Any, grids: Sequence[Grid], figures: Sequence[Figure] = ()
) -> list[Path]:
    """Writes `out`/KIND.json, KIND.md and its figures; returns all paths."""
    images = [out / f"{kind}-{_name(figure.title)}.svg" for figure in figures]
    text = [f"### {grid.title}\n\n{markdown(grid)}" for grid in grids]
    for path, figure in zip(images, figures, strict=True):
        write_atomic(path, [standalone(figure)])
        text.append(f"![{figure.title}]({path.name})\n" + (f"\n{figure.note}\n" if figure.note else ""))
    write_json(out / f"{kind}.json", data)
    write_atomic(out / f"{kind}.md", ["\n".join(text)])
    return [out / f"{kind}.json", out / f"{kind}.md", *images]


def standalone(figure: Figure) -> str:
    """The chart as a standalone SVG: with the report's colours, a white backbackground and its legend."""
    size = re.match(r'<svg viewBox="0 0 (\d+) (\d+)"', figure.svg)
    if size is None:
        raise ValueError("a chart must start with an svg element that has a viewBox")
    width, height = int(size[1]), int(size[2])
    total = height + _LINE * len(figure.legend) + 6
    style = ".rule{stroke:#e3e0d9}.tick{fill:#5c656e;font:10px sans-serif}.line{fill:none;stroke-width:1.8}" + "".join(
        f".bar.c{n},.dot.c{n}{{fill:{colour}}}.line.c{n}{{stroke:{colour}}}" for n, colour in enumerate(_COLOURS)
    )
    legend = "".join(
        f'<rect class="bar c{colour}" x="12" y="{height + _LINE * line + 4}" width="14" height="4"/>'
        f'<text class="tick" x="32" y="{height + _LINE * line + 9}">{escape(name)}</text>'
        for line, (name, colour) in enumerate(figure.legend.items())
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" width="{2 * width}"'
    background = f'<style>{style}</style><rect width="{width}" height="{total}" fill="#fff"/>'
    begun, _, body = figure.svg[size.end() :].partition(">")
    return f"{head}{begun}>{background}{body.removesuffix('</svg>')}{legend}</svg>\n"


def _name(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60]
