"""HelloBench's Figures 3, 4 and 12: the score of systems by their size, by the required length, and beside people's."""

import math
import re
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from judge_r1.benchmarks.hellobench.files import CONSTRAINED, TASKS
from judge_r1.benchmarks.hellobench.tables import SYSTEMS, task_score
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ItemResult
from judge_r1.evaluation.report.charts import Figure, colors_of, line_chart
from judge_r1.evaluation.report.point_charts import scatter_chart
from judge_r1.evaluation.report.standalone import DASHED
from judge_r1.evaluation.report.tables import Grid

_SIZE = re.compile(r"(?:(\d+)x)?(\d+(?:\.\d+)?)\s?b(?![a-z])", re.IGNORECASE)
REQUIRED = "required"
Table = Mapping[str, Mapping[str, float | None]]


def systems_table(summary: Mapping[str, Any], folder: object) -> Table:
    """The table of systems of an evaluation with one judge. Raises: JudgeError for another evaluation."""
    found = [row["tables"][SYSTEMS] for row in summary["rows"] if SYSTEMS in row.get("tables", {})]
    if len(found) != 1:
        raise JudgeError(f"{folder} has {len(found)} tables of systems: give an evaluation of hellobench by one judge")
    table: Table = found[0]
    return table


def billions(system: str) -> float | None:
    """The parameters in the name of a system, in billions: `Qwen-2-72B`, `mixtral_8x7b`; None without them."""
    found = _SIZE.search(system)
    return float(found[2]) * int(found[1] or 1) if found else None


def constrained(table: Table) -> dict[str, list[tuple[int, float, float]]]:
    """System -> (required words, S, words) without a requirement (0) and for each required length (Table 3)."""
    names = [(0, "HTG"), *((required, name) for name, required in CONSTRAINED.values())]
    found = {
        system: [
            (required, score, words)
            for required, name in names
            if (score := row.get(f"S {name}")) is not None and (words := row.get(f"WC {name}")) is not None
        ]
        for system, row in table.items()
    }
    return {system: points for system, points in found.items() if any(required for required, *_ in points)}


def beside_people(results: Sequence[ItemResult]) -> dict[str, tuple[float, float, int]]:
    """System -> people's mean overall score from 0 to 10, S of the same texts, and their number."""
    rated: dict[str, list[tuple[float, float]]] = {}
    for result in results:
        overall = result.gold.get("overall") if isinstance(result.gold, Mapping) else None
        if overall is not None and result.valid:
            rated.setdefault(result.item_id.partition("/")[0], []).append((overall, result.score))
    return {
        system: (fmean(one for one, _ in pairs), task_score([score for _, score in pairs]) or 0.0, len(pairs))
        for system, pairs in rated.items()
    }


def writer_analysis(table: Table, results: Sequence[ItemResult]) -> tuple[dict[str, Any], list[Grid], list[Figure]]:
    """The numbers, tables and figures that an evaluation allows.

    Raises:
        JudgeError: It allows none.
    """
    sizes = {
        system: (size, score)
        for system, row in table.items()
        if (size := billions(system)) is not None and (score := _overall(row)) is not None
    }
    lengths, people = constrained(table), beside_people(results)
    grids, figures = [], []
    if sizes:
        rows = tuple((name, f"{size:g}", f"{score:.2f}") for name, (size, score) in sorted(sizes.items(), key=_size))
        grids.append(
            Grid("Score by size (Fig. 3)", "S AVG, or S of the tasks that there are.", ("system", "B", "S"), rows)
        )
        points = {name: (math.log10(size), score) for name, (size, score) in sizes.items()}
        svg = scatter_chart("Score by size", points, text_of=lambda x: f"{10**x:.3g}B")
        figures.append(Figure("Score by size", svg, {}))
    if lengths:
        cells = [(name, str(length), f"{s:.2f}", f"{w:.0f}") for name, own in lengths.items() for length, s, w in own]
        note = "Of heuristic text generation; 0 is without a requirement."
        grids.append(
            Grid(
                "Score and words by required length (Fig. 4)", note, ("system", "required", "S", "words"), tuple(cells)
            )
        )
        colors = colors_of(list(lengths))
        for title, at in (("Score by required length", 1), ("Words by required length", 2)):
            series = {name: [(float(one[0]), float(one[at])) for one in own] for name, own in lengths.items()}
            most = max(one[0] for own in lengths.values() for one in own)
            extra = {REQUIRED: [(0.0, 0.0), (float(most), float(most))]} if at == 2 else {}
            hues = colors | dict.fromkeys(extra, DASHED)
            note = "Below the dashed line a text is shorter than required." if extra else ""
            figures.append(Figure(title, line_chart(title, {**extra, **series}, hues, dots=True), colors, note))
    if people:
        means = tuple((name, f"{human:.2f}", f"{s:.2f}", str(n)) for name, (human, s, n) in people.items())
        heads = ("system", "people, 0 to 10", "S", "texts")
        grids.append(Grid("Score beside people's (Fig. 12)", "Means over the texts that people scored.", heads, means))
        svg = scatter_chart("Score beside people's", {name: own[:2] for name, own in people.items()})
        figures.append(Figure("Score beside people's", svg, {}))
    if not grids:
        raise JudgeError(
            "nothing to show: Fig. 3 needs systems with their size in the name (72b), Fig. 4 texts of a required "
            "length, and Fig. 12 `human=FILE`"
        )
    data = {"sizes": sizes, "lengths": lengths, "people": people}
    return data, grids, figures


def _overall(row: Mapping[str, float | None]) -> float | None:
    """S AVG, or the mean of the tasks that have a score."""
    known = [value for task in TASKS.values() if (value := row.get(f"S {task}")) is not None]
    whole = row.get("S AVG")
    return whole if whole is not None else fmean(known) if known else None


def _size(found: tuple[str, tuple[float, float]]) -> float:
    return found[1][0]
