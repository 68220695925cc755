"""Figure 1 of the paper: accuracy by domain and principle, one line per judge."""

from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.registry import suggest
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError
from judge_r1.evaluation.report.charts import Figure, colors_of, radar_chart
from judge_r1.evaluation.report.tables import Grid, estimate


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
