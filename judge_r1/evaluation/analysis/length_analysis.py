"""LongJudgeBench's Figures 2 and 3: accuracy by length of the outputs, and failures by context overflow and refusal."""

from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.report.charts import Figure, bar_chart, colors_of, line_chart
from judge_r1.evaluation.report.tables import NONE, Grid

QUARTILES = ("len_q1", "len_q2", "len_q3", "len_q4")
FIXED = {"len_3k": "<3K", "len_8k": "3–8K", "len_16k": "8–16K", "len_more": ">16K"}
FAILURES = {"unfit": "context overflow", "rejected": "refusal"}
Measures = Mapping[str, Mapping[str, float | None]]
"""Judge, with the subset if there are several -> the metrics of its row."""


def measures(found: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, dict[str, float | None]]:
    """The metrics of each row of evaluations of LongJudgeBench, given with their subsets.

    Raises:
        JudgeError: No row has them.
    """
    rows = {
        f"{row['name']}, {subset}" if subset else row["name"]: dict(row["extra"])
        for subset, row in found
        if "unfit" in row.get("extra", {})
    }
    if not rows:
        raise JudgeError("no evaluation of longjudgebench is among the folders: give those that `judge-r1 eval` wrote")
    return rows


def length_grids(rows: Measures) -> list[Grid]:
    """Accuracy by quartile and in the fixed bins, where rows have them, and the shares of failures."""
    grids = []
    heads = {name: name.removeprefix("len_").upper() for name in QUARTILES}
    for title, names, note in (
        ("Accuracy by quartile of length", heads, "Quartiles of the compared outputs, the shortest first (Fig. 2)."),
        ("Accuracy by length in tokens", FIXED, "Fixed bins; they need the option `tokens` of the subset (Fig. 2)."),
        ("Failures", FAILURES, "Shares of all votes; both count as wrong (Fig. 3)."),
    ):
        by_judge = {judge: [row.get(name) for name in names] for judge, row in rows.items()}
        shown = {judge: values for judge, values in by_judge.items() if any(value is not None for value in values)}
        cells = tuple((judge, *map(_share, values)) for judge, values in shown.items())
        if cells:
            grids.append(Grid(title, note, ("judge", *names.values()), cells))
    return grids


def length_figures(rows: Measures) -> list[Figure]:
    """Figure 2 as one line for each row, and Figure 3 as bars of the rows that failed."""
    figures = []
    for title, names in (("Accuracy by quartile of length", QUARTILES), ("Accuracy by length in tokens", tuple(FIXED))):
        lines = {
            judge: [(float(at), value) for at, name in enumerate(names, 1) if (value := row.get(name)) is not None]
            for judge, row in rows.items()
        }
        lines = {judge: points for judge, points in lines.items() if points}
        colors = colors_of(list(lines))
        if lines:
            note = "1 to 4: the quartiles." if names == QUARTILES else f"1 to 4: {', '.join(FIXED.values())} tokens."
            figures.append(Figure(title, line_chart(title, lines, colors, dots=True), colors, note))
    failed = {judge: row for judge, row in rows.items() if any(row.get(name) for name in FAILURES)}
    if failed:
        series = {said: [row.get(name) or 0.0 for row in failed.values()] for name, said in FAILURES.items()}
        colors = colors_of(list(series))
        title = "Failures by context overflow and refusal"
        figures.append(Figure(title, bar_chart(title, list(failed), series, colors), colors))
    return figures


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"
