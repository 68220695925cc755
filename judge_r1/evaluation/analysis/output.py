"""Writes an analysis: numbers as JSON, tables as Markdown, figures as self-contained SVG; Figure 1 of the paper."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.registry import suggest
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError
from judge_r1.evaluation.report.charts import Figure, colors_of, radar_chart
from judge_r1.evaluation.report.standalone import standalone
from judge_r1.evaluation.report.tables import NONE, Estimate, Grid, estimate, markdown
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


def radar(rows: Sequence[Mapping[str, Any]], names: Sequence[str] = ()) -> tuple[dict[str, Any], Figure]:
    """Figure 1 of rows as in summary.json (all, or those named): accuracy by the domains and principles that all have.

    Raises:
        AnalysisError: No row has one of the names, or the rows share fewer than three domains and principles.
    """
    known = [row["name"] for row in rows]
    if unknown := [name for name in names if name not in known]:
        raise AnalysisError(f"there is no judge {unknown[0]!r}{suggest(unknown[0], known)}")
    rows = [row for row in rows if not names or row["name"] in names]
    domains = sorted(set.intersection(*(set(row["by_domain"]) for row in rows))) if rows else []
    codes = [p.code for p in PRINCIPLES if all(p.code in row.get("by_principle", {}) for row in rows)] if rows else []
    if len(domains) + len(codes) < 3:
        raise AnalysisError(f"the judges share {len(domains) + len(codes)} domains and principles: a radar needs three")
    kept: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        parts = [*(row["by_domain"][name] for name in domains), *(row["by_principle"][code] for code in codes)]
        kept[row["name"]] = [{key: part[key] for key in ("n", "accuracy", "ci95")} for part in parts]
    labels = [*domains, *codes]
    values = {name: [float(part["accuracy"]) for part in parts] for name, parts in kept.items()}
    colors = colors_of(list(values))
    svg = radar_chart("Accuracy by domain and principle (Figure 1)", labels, values, colors)
    return {"labels": labels, "rows": kept}, Figure("Figure 1", svg, colors)


def radar_grid(found: Mapping[str, Any]) -> Grid:
    cells = tuple((name, *(estimate(part, part["n"]) for part in parts)) for name, parts in found["rows"].items())
    note = "Accuracy [95 % interval, clustered by case] (pairs); the chart shows no intervals."
    return Grid("Accuracy by domain and principle (Figure 1)", note, ("judge", *found["labels"]), cells)


def measured(values: Sequence[float], clusters: Sequence[str]) -> dict[str, Any] | None:
    """The mean and its interval; None without values."""
    return {"value": fmean(values), "ci95": list(clustered_mean_ci(values, clusters))} if values else None


def measured_cell(part: Mapping[str, Any] | None, *, signed: bool = False) -> str | Estimate:
    """A part made by `measured` as a cell; `signed` is for differences."""
    if part is None:
        return NONE
    low, high = part["ci95"]
    return Estimate(part["value"], low, high, signed, part.get("n"))
