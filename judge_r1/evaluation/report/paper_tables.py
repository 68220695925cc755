"""Builds the paper's Table 12 and Figures 5 and 6 from evaluated runs."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from judge_r1.benchmarks.published import published
from judge_r1.core.principles import PRINCIPLES
from judge_r1.evaluation.folder import LRBENCH
from judge_r1.evaluation.report.charts import Figure, bar_chart, colors_of, line_chart
from judge_r1.evaluation.report.discovery import Evaluated
from judge_r1.evaluation.report.published_measures import PUBLISHED
from judge_r1.evaluation.report.tables import NONE, Best, Grid, share

PANELS = (
    ("Warm-up, without search", ("GRPO", "Judge-R1-warm-fc")),
    ("Warm-up, with search", ("Judge-R1-fc-search", "Judge-R1-warm-fc-search")),
    ("Search", ("GRPO", "Judge-R1-search", "Judge-R1-fc-search")),
)
"""The three panels of Figure 6 and the methods that each compares (`GRPO` is Judge-R1-fc)."""
OVERALL = "Overall"
ORDER = ("SFT", "DPO", "GRPO", "Judge-R1")
Row = Mapping[str, Any]


def table12(evaluated: Evaluated, *, other_items: bool = False) -> Grid | None:
    """Accuracy of every judge by domain and principle: base models first, then SFT, DPO, GRPO and Judge-R1 by size.
    With `other_items` the paper's judges follow, which were measured on its own pairs."""
    if not evaluated.rows:
        return None
    rows = sorted(evaluated.rows, key=lambda row: _sort_key(row["name"], evaluated))
    slices = _slices(rows)
    best = {name: max((v for v in map(at, rows) if v is not None), default=None) for name, at in slices.items()}
    cells = []
    for row in rows:
        run = evaluated.runs.get(row["name"])
        training = (run.method, NONE if run.size is None else f"{run.size:,}") if run else (NONE, NONE)
        values = [_cell(at(row), best[name]) for name, at in slices.items()]
        cells.append((row["name"], *training, *values))
    note = "Accuracy; bold: the best of a column. Trained on: labelled pairs, or for SFT the examples used."
    if other_items:
        cells += _published(list(slices))
        note += " Published rows are the paper's, on its own test pairs."
    return Grid(
        "All judges by domain and principle (the paper's Table 12)",
        note,
        ("judge", "method", "trained on", *slices),
        tuple(cells),
    )


def _published(slices: Sequence[str]) -> list[tuple[str, ...]]:
    """The judges of the paper."""
    columns = {
        name: {
            judge: value
            for table in published(LRBENCH, None if name == OVERALL else name, same_items=False)
            for judge, value in table.accuracies(None if name == OVERALL else name).items()
        }
        for name in slices
    }
    judges = dict.fromkeys(judge for found in (columns[OVERALL], *columns.values()) for judge in found)
    return [
        (f"{judge}{PUBLISHED}", NONE, NONE, *(share(found.get(judge)) for found in columns.values()))
        for judge in judges
    ]


def figure5(evaluated: Evaluated) -> list[Figure]:
    """Accuracy by size of the training set, one line per method: overall (Figure 5), then each domain and principle
    (Supplementary Figure 2). Runs of one method and size, such as seeds, are averaged. Empty if no method was trained
    on two sizes."""
    trained = [(row, run.method, run.size) for row, run in evaluated.trained if run.size is not None]
    sizes: dict[str, set[int]] = defaultdict(set)
    for _, method, size in trained:
        sizes[method].add(size)
    if max(map(len, sizes.values()), default=0) < 2:
        return []
    slices = _slices([row for row, _, _ in trained])
    names = [OVERALL, *(name for name in slices if name != OVERALL)]
    methods = sorted(sizes, key=_rank)
    colors = colors_of(methods)
    figures: list[Figure] = []
    for name in names:
        points: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for row, method, size in trained:
            if (value := slices[name](row)) is not None:
                points[method][size].append(value)
        lines = {
            method: [(float(size), fmean(values)) for size, values in sorted(points[method].items())]
            for method in methods
            if method in points
        }
        if lines:
            note = "Accuracy by pairs trained on; runs of one method and size are averaged." if not figures else ""
            figures.append(Figure(name, line_chart(f"accuracy, {name}", lines, colors, dots=True), colors, note))
    return figures


def figure6(evaluated: Evaluated) -> list[Figure]:
    """The ablations: a panel for each comparison with at least two evaluated methods."""
    figures = []
    for title, methods in PANELS:
        compared = [(row, run) for method in methods for row, run in evaluated.trained if run.method == method]
        if len({run.method for _, run in compared}) < 2:
            continue
        rows = [row for row, _ in compared]
        slices = {name: at for name, at in _slices(rows).items() if all(at(row) is not None for row in rows)}
        bars = {f"{row['name']} ({run.method})": [at(row) or 0.0 for at in slices.values()] for row, run in compared}
        colors = colors_of(list(bars))
        labels = [name if len(name) <= 3 else name[:4].rstrip() + "." for name in slices]
        note = "Accuracy: " + ", ".join(slices) + "."
        figures.append(Figure(title, bar_chart(title, labels, bars, colors), colors, note))
    return figures


def _slices(rows: Sequence[Row]) -> dict[str, Callable[[Row], float | None]]:
    """Functions that return the accuracy of a judge by domain, by principle and overall; None without such pairs."""

    def part(key: str, name: str) -> Callable[[Row], float | None]:
        return lambda row: row[key][name]["accuracy"] if name in row[key] else None

    domains = sorted({domain for row in rows for domain in row["by_domain"]})
    codes = [p.code for p in PRINCIPLES if any(p.code in row["by_principle"] for row in rows)]
    return {
        **{domain: part("by_domain", domain) for domain in domains},
        **{code: part("by_principle", code) for code in codes},
        OVERALL: lambda row: row["accuracy"],
    }


def _cell(value: float | None, best: float | None) -> str:
    return Best(share(value)) if value is not None and value == best else share(value)


def _rank(method: str) -> tuple[int, str]:
    return next((number for number, name in enumerate(ORDER) if method.startswith(name)), len(ORDER)), method


def _sort_key(name: str, evaluated: Evaluated) -> tuple[int, str, int]:
    run = evaluated.runs.get(name)
    return (*_rank(run.method), run.size or 0) if run else (-1, "", 0)
