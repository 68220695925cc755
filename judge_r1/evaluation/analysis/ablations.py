"""The paper's Table 4 with its results, Figure 5 as numbers, and Figure 1, from evaluated runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.registry import suggest
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError
from judge_r1.evaluation.report.charts import Figure, colors_of, radar_chart
from judge_r1.evaluation.report.discovery import Evaluated, TrainingRun
from judge_r1.evaluation.report.tables import NONE, Grid, estimate, share

NOTE = (
    "Warm: SFT before GRPO. Full context: the case is in the prompt. Search: the judge may search it. Accuracy [95 % "
    "interval, clustered by case] and label F1 of each judge; judges of different sets of pairs are not comparable."
)


def ablations(evaluated: Evaluated) -> list[dict[str, Any]]:
    """The evaluated GRPO runs with their parts in Table 4 (warm-up, full context, search), fewest parts first.

    Raises:
        AnalysisError: No evaluation is of a GRPO run.
    """
    rows = [
        {"name": row["name"], "method": run.method, **parts_of(run), **_metrics(row)}
        for row, run in evaluated.trained
        if run.stage == "grpo"
    ]
    if not rows:
        raise AnalysisError("none of the evaluations is of a GRPO run: Table 4 needs at least one")
    return sorted(rows, key=lambda row: (row["warm"] + row["fc"] + row["search"], row["method"], row["name"]))


def parts_of(run: TrainingRun) -> dict[str, bool]:
    """The three parts of a run in Table 4."""
    episode = run.episode
    return {
        "warm": "warm" in run.method.split("-"),
        "fc": episode.context == "full",
        "search": episode.effective_budget.max_searches > 0,
    }


def ablation_grid(rows: Sequence[Mapping[str, Any]]) -> Grid:
    cells = tuple(
        (
            row["name"],
            row["method"],
            *("yes" if row[part] else NONE for part in ("warm", "fc", "search")),
            str(row["n"]),
            estimate(row),
            share(row["label_f1"]),
            share(row["searches"]),
        )
        for row in rows
    )
    columns = ("judge", "method", "warm", "full context", "search", "pairs", "accuracy", "label F1", "searches")
    return Grid("Ablations (Table 4)", NOTE, columns, cells)


def scaling(evaluated: Evaluated) -> list[dict[str, Any]]:
    """Each evaluated run as a point of Figure 5: method, labelled pairs it was trained on, accuracy.

    Raises:
        AnalysisError: No training-set size is known.
    """
    rows = [
        {"name": row["name"], "method": run.method, "trained_on": run.size, **_metrics(row)}
        for row, run in evaluated.trained
        if run.size is not None
    ]
    if not rows:
        raise AnalysisError("no evaluation is of a run with a known training-set size (data.json)")
    return sorted(rows, key=lambda row: (row["method"], row["trained_on"], row["name"]))


def scaling_grid(rows: Sequence[Mapping[str, Any]]) -> Grid:
    cells = tuple((row["name"], row["method"], f"{row['trained_on']:,}", str(row["n"]), estimate(row)) for row in rows)
    note = "Accuracy [95 % interval, clustered by case] by labelled pairs (for SFT on traces: traces) trained on."
    return Grid("Data scaling (Figure 5)", note, ("judge", "method", "trained on", "pairs", "accuracy"), cells)


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


def _metrics(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in ("n", "accuracy", "ci95", "label_f1", "searches")}
