"""The tables and figures of benchmarks with degraded copies of documents (`judge_r1.benchmarks.cofluence.deltas`)."""

from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.core.deltas import AT, MARGIN, ORIGINAL
from judge_r1.evaluation.report.charts import Figure, colors_of, ticks, whisker_chart
from judge_r1.evaluation.report.point_charts import heat_chart
from judge_r1.evaluation.report.tables import NONE, Estimate, Grid, p_value

DELTAS = "deltas"
"""The key in `extra` of a summary's row."""
Row = Mapping[str, Any]


def delta_grids(rows: Sequence[Row]) -> list[Grid]:
    """Δ per manipulation and length, the effect of length, and the missing scores; none without such a benchmark."""
    measured = [row for row in rows if DELTAS in row.get("extra", {})]
    if not measured:
        return []
    tables = [_tasks(measured), *([_lengths(measured)] if any(_of(row)["lengths"] for row in measured) else [])]
    scored = [row for row in measured if _of(row).get("scores")]
    more = [*([_confidence(scored)] if scored else []), *([_judges(scored)] if len(scored) > 1 else [])]
    return [*tables, *(grid for grid in more if grid.rows), _missing(measured)]


def delta_figures(rows: Sequence[Row]) -> list[Figure]:
    """Detection accuracy by manipulation at each length, and the loss of detection against each short length."""
    measured = [row for row in rows if DELTAS in row.get("extra", {})]
    colors = colors_of([row["name"] for row in measured])
    figures = []
    lengths = list(dict.fromkeys(task["length"] for row in measured for task in _of(row)["tasks"]))
    for length in lengths:
        parts: dict[str, dict[str, Estimate]] = {}
        for row in measured:
            for task in _of(row)["tasks"]:
                if task["length"] == length and task["detection"] is not None:
                    low, high = task["detection_ci95"]
                    parts.setdefault(task["manipulation"], {})[row["name"]] = Estimate(task["detection"], low, high)
        title = f"Detection accuracy, length {length}"
        if parts:
            figures.append(Figure(title, whisker_chart(title, parts, colors), colors))
    for short in dict.fromkeys(test["short"] for row in measured for test in _of(row)["lengths"]):
        parts = {}
        for row in measured:
            for test in _of(row)["lengths"]:
                if test["short"] == short and test["ci95"] is not None:
                    loss = Estimate(test["loss_of_detection"], *test["ci95"])
                    parts.setdefault(test["manipulation"], {})[row["name"]] = loss
        title = f"Loss of detection, full against {short}"
        note = "In points; above 0 if the full text's copy is noticed less. The dashed line is 0."
        if parts:
            chart = whisker_chart(title, parts, colors, axis=_axis(parts, 0.0), dashed=0.0)
            figures.append(Figure(title, chart, colors, note))
    scored = [row for row in measured if _of(row).get("scores")]
    return [*figures, *_confidence_figures(scored), *_judge_figures(scored, colors), *_matrices(measured)]


def _confidence(rows: Sequence[Row]) -> Grid:
    """The confidence check of CoFluEval-LC (thesis, section 3.5): the copy's interval against its original's."""
    cells = []
    for row in rows:
        found = {(one["text"], one["length"], one["metric"]): one for one in _of(row)["scores"]}
        for task in _of(row)["tasks"]:
            at = task["length"], task["metric"]
            own, copy = found.get((ORIGINAL, *at)), found.get((task["manipulation"], *at))
            if not own or not copy:
                continue
            apart = NONE
            if own["ci95"] and copy["ci95"]:
                apart = "yes" if copy["ci95"][1] < own["ci95"][0] else "no"
            parts = (f"{one['mean']:.2f} {_plain_interval(one['ci95'])} ({one['n']})" for one in (own, copy))
            cells.append((row["name"], task["manipulation"], *at, *parts, apart))
    note = (
        "Mean score with its 95 % t-interval, and the number of documents. Apart: the copy's interval lies below that "
        "of the originals. (A paired test, above, is stronger.)"
    )
    columns = ("judge", "manipulation", "length", "metric", "originals", "copies", "apart")
    return Grid("Confidence check", note, columns, tuple(cells))


def _confidence_figures(rows: Sequence[Row]) -> list[Figure]:
    """Figures 3.11 and 3.12: the mean of each kind of text with its interval, one series for each length."""
    figures = []
    for row in rows:
        scores = [one for one in _of(row)["scores"] if one["ci95"]]
        metric_of = {task["manipulation"]: task["metric"] for task in _of(row)["tasks"]}
        colors = colors_of(list(dict.fromkeys(one["length"] for one in scores)))
        for metric in dict.fromkeys(one["metric"] for one in scores):
            parts: dict[str, dict[str, Estimate]] = {}
            for one in scores:
                if one["metric"] == metric and metric_of.get(one["text"], metric) == metric:
                    parts.setdefault(one["text"], {})[one["length"]] = Estimate(one["mean"], *one["ci95"])
            if len(parts) > 1:
                title = f"Mean {metric} with 95 % intervals, {row['name']}"
                figures.append(Figure(title, whisker_chart(title, parts, colors, axis=_axis(parts)), colors))
    return figures


def _mean_delta(row: Row, metric: str, length: str) -> float | None:
    """The mean of Δ over the manipulations of a metric at a length."""
    found = [
        task["mean"]
        for task in _of(row)["tasks"]
        if (task["metric"], task["length"]) == (metric, length) and task["mean"] is not None
    ]
    return sum(found) / len(found) if found else None


def _judges(rows: Sequence[Row]) -> Grid:
    """Judges, or prompts of one judge, beside each other (thesis, Figs. 4.1 and 4.2)."""
    keys = list(dict.fromkeys((one["metric"], one["length"]) for row in rows for one in _of(row)["scores"]))
    cells = []
    for row in rows:
        means = {(one["metric"], one["length"]): one["mean"] for one in _of(row)["scores"] if one["text"] == ORIGINAL}
        own = []
        for key in keys:
            delta = _mean_delta(row, *key)
            own.append(f"{means[key]:.2f} / {NONE if delta is None else f'{delta:+.2f}'}" if key in means else NONE)
        cells.append((row["name"], *own))
    note = "Mean score of the originals / mean Δ over the manipulations of the metric; a lower Δ notices more."
    columns = ("judge", *(f"{metric}, {length}" for metric, length in keys))
    return Grid("Judges or prompts compared", note, columns, tuple(cells))


def _judge_figures(rows: Sequence[Row], colors: Mapping[str, int]) -> list[Figure]:
    """The same as two charts of marks for each metric: scores of the originals, and mean Δ."""
    if len(rows) < 2:
        return []
    figures = []
    for metric in dict.fromkeys(one["metric"] for row in rows for one in _of(row)["scores"]):
        for what in ("score of originals", "Δ"):
            parts: dict[str, dict[str, Estimate]] = {}
            for row in rows:
                for one in _of(row)["scores"]:
                    if one["text"] != ORIGINAL or one["metric"] != metric:
                        continue
                    value = one["mean"] if what != "Δ" else _mean_delta(row, metric, one["length"])
                    if value is not None:
                        low, high = one["ci95"] if what != "Δ" and one["ci95"] else (value, value)
                        parts.setdefault(f"length {one['length']}", {})[row["name"]] = Estimate(value, low, high)
            title = f"Mean {what}, {metric}"
            if parts:
                dashed = 0.0 if what == "Δ" else None
                svg = whisker_chart(title, parts, colors, axis=_axis(parts, dashed), dashed=dashed)
                figures.append(Figure(title, svg, dict(colors)))
    return figures


def _matrices(rows: Sequence[Row]) -> list[Figure]:
    """Figures 3.9 and 3.10: Δ on both metrics by intensity and length, for manipulations at several intensities."""
    figures = []
    for row in rows:
        cells: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
        for task in _of(row)["tasks"]:
            name, at, intensity = task["manipulation"].partition(AT)
            own = {task["metric"]: task["mean"], **{metric: test["mean"] for metric, test in task["leakage"].items()}}
            for metric, mean in own.items() if at else ():
                if mean is not None:
                    cells.setdefault((name, metric), {})[intensity, task["length"]] = mean
        for (name, metric), found in cells.items():
            intensities = sorted({one for one, _ in found}, key=float)
            lengths = list(dict.fromkeys(length for _, length in found))
            title = f"Δ {metric}, {name}, {row['name']}"
            note = "Rows: intensity; columns: length."
            figures.append(Figure(title, heat_chart(title, intensities, lengths, found), {}, note))
    return figures


def _axis(parts: Mapping[str, Mapping[str, Estimate]], *more: float | None) -> list[float]:
    shown = [value for row in parts.values() for one in row.values() for value in (one.low, one.high)]
    return ticks([*shown, *(value for value in more if value is not None)], 4)


def _plain_interval(ci95: Sequence[float] | None) -> str:
    return "" if ci95 is None else f"[{ci95[0]:.2f}, {ci95[1]:.2f}]"


def _tasks(rows: Sequence[Row]) -> Grid:
    cells = []
    for row in rows:
        for task in _of(row)["tasks"]:
            leaks = ", ".join(f"{metric} {test['mean']:+.2f}" for metric, test in task["leakage"].items())
            found = task["detection"]
            cells.append(
                (
                    row["name"],
                    task["manipulation"],
                    task["length"],
                    task["metric"],
                    str(task["n"]) + (f" ({task['missing']} missing)" if task["missing"] else ""),
                    NONE if task["mean"] is None else f"{task['mean']:+.2f}",
                    _interval(task["ci95"]),
                    _t(task),
                    p_value(task["p_less"]),
                    p_value(task["p_holm"]),
                    p_value(task["p_wilcoxon"]),
                    NONE if found is None else Estimate(found, *task["detection_ci95"]),
                    leaks or NONE,
                )
            )
    note = (
        "Δ: score of the copy minus that of the original, on the metric that the copy is degraded in; below 0 if the "
        "judge notices. p: t-test for Δ < 0, then Holm over the judge's rows, then Wilcoxon (two-sided). Detection: "
        "copies that score lower, ties ½. Leakage: Δ on the other metrics."
    )
    columns = (
        "judge", "manipulation", "length", "metric", "n", "Δ", "95 %", "t (df)", "p", "Holm", "Wilcoxon", "detection",
        "leakage",
    )  # fmt: skip
    return Grid("Δ by manipulation and length", note, columns, tuple(cells))


def _lengths(rows: Sequence[Row]) -> Grid:
    cells = [
        (
            row["name"],
            test["manipulation"],
            test["short"],
            str(test["n"]),
            f"{test['loss_of_detection']:+.2f}",
            _interval(test["ci95"]),
            _t(test),
            p_value(test["p"]),
            p_value(test["p_holm"]),
            p_value(test["p_wilcoxon"]),
            p_value(test["p_equivalent"]),
            p_value(test.get("p_equivalent_holm")),
        )
        for row in rows
        for test in _of(row)["lengths"]
    ]
    note = (
        "Loss of detection: Δ(full) - Δ(short) of the same document; above 0 if the full text's copy is noticed less. "
        f"p: two-sided t-test, then Holm, then Wilcoxon. Equivalent: TOST, then Holm; below .05 the loss lies within "
        f"±{MARGIN} points. "
        "A large p of the t-test alone is no evidence that length does not matter."
    )
    columns = (
        "judge", "manipulation", "short", "n", "loss of detection", "95 %", "t (df)", "p", "Holm", "Wilcoxon",
        "equivalent", "Holm (equivalent)",
    )  # fmt: skip
    return Grid("The effect of length", note, columns, tuple(cells))


def _missing(rows: Sequence[Row]) -> Grid:
    names = ("sections", "truncated_sections", "missing_scores", "constrained_scores")
    cells = []
    for row in rows:
        usage, own = row.get("usage") or {}, _of(row)
        counts = (f"{usage[name]:.0f}" if name in usage else NONE for name in names)
        ended = row.get("ended", {}).get("turn_budget", 0)
        cells.append(
            (row["name"], str(own["texts"]), str(own["without_scores"]), str(own["partly_scored"]), str(ended), *counts)
        )
    note = (
        "Texts without any score, and with some; answers on whole texts that were cut off. Sections whose answer was "
        "cut off, scores that sections lack, and scores that were sampled among the allowed ones."
    )
    columns = ("judge", "texts", "without scores", "partly scored", "cut off",
               *(name.replace("_", " ") for name in names))  # fmt: skip
    return Grid("Missing scores", note, columns, tuple(cells))


def _of(row: Row) -> Mapping[str, Any]:
    found: Mapping[str, Any] = row["extra"][DELTAS]
    return found


def _interval(ci95: Sequence[float] | None) -> str:
    return NONE if ci95 is None else f"[{ci95[0]:+.2f}, {ci95[1]:+.2f}]"


def _t(test: Mapping[str, Any]) -> str:
    return NONE if test["t"] is None else f"{test['t']:.2f} ({test['df']})"
