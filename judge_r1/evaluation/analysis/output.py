"""Writes an analysis: numbers as JSON, tables as Markdown, figures as self-contained SVG."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from judge_r1.evaluation.report.charts import Figure
from judge_r1.evaluation.report.standalone import standalone
from judge_r1.evaluation.report.tables import NONE, Estimate, Grid, markdown
from judge_r1.files.jsonl import write_atomic, write_json
from judge_r1.statistics.intervals import clustered_mean_ci


def write_analysis(
    out: Path, kind: str, data: Any, grids: Sequence[Grid], figures: Sequence[Figure] = ()
) -> list[Path]:
    """Writes `out`/KIND.json, KIND.md and its figures; returns all paths."""
    names = [_name(figure.title) for figure in figures]
    numbers = [names[:at].count(name) + 1 for at, name in enumerate(names)]
    images = [out / f"{kind}-{name}{f'-{n}' if n > 1 else ''}.svg" for name, n in zip(names, numbers, strict=True)]
    text = [f"### {grid.title}\n\n{markdown(grid)}" for grid in grids]
    for path, figure in zip(images, figures, strict=True):
        write_atomic(path, [standalone(figure)])
        text.append(f"![{figure.title}]({path.name})\n" + (f"\n{figure.note}\n" if figure.note else ""))
    write_json(out / f"{kind}.json", data)
    write_atomic(out / f"{kind}.md", ["\n".join(text)])
    return [out / f"{kind}.json", out / f"{kind}.md", *images]


def _name(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60]


def measured(values: Sequence[float], clusters: Sequence[str]) -> dict[str, Any] | None:
    """The mean and its interval; None without values."""
    return {"value": fmean(values), "ci95": list(clustered_mean_ci(values, clusters))} if values else None


def measured_cell(part: Mapping[str, Any] | None, *, signed: bool = False) -> str | Estimate:
    """A part made by `measured` as a cell; `signed` is for differences."""
    if part is None:
        return NONE
    low, high = part["ci95"]
    return Estimate(part["value"], low, high, signed, part.get("n"))
