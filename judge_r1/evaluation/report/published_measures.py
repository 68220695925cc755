"""Tables that put the own results of a benchmark beside published ones, for other measures than accuracy."""

from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.benchmarks.published import PublishedTable, published
from judge_r1.evaluation.report.discovery import Judged
from judge_r1.evaluation.report.tables import Grid, share

PUBLISHED = " (published)"


def measure_grids(evaluations: Sequence[Judged], *, other_items: bool = False) -> list[Grid]:
    """One table for each benchmark and subset with a measure that both the evaluations and published tables have.

    A row is a judge, or what the benchmark's own tables list, such as the systems of HelloBench, and who judged it.
    With `other_items` also tables that were measured on other items.
    """
    own: dict[tuple[str, str | None], dict[str, Mapping[str, Any]]] = {}
    for found in evaluations:
        rows = own.setdefault((found.benchmark, found.summary.get("subset")), {})
        for row in found.summary["rows"]:
            for name, values in _rows(row).items():
                rows[f"{found.folder.name}/{name}" if name in rows else name] = values
    grids = [
        _grid(benchmark, subset, rows, published(benchmark, subset, same_items=not other_items))
        for (benchmark, subset), rows in own.items()
    ]
    return [grid for grid in grids if grid]


def _rows(row: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {row["name"]: row.get("extra", {})}
    for table in row.get("tables", {}).values():
        found = {**{judged_by(name, row["name"]): values for name, values in table.items()}, **found}
    return found


def judged_by(system: str, judge: str | None) -> str:
    """The name of a row: a judge, or a system and the judge that scored it."""
    return f"{system}, judged by {judge}" if judge else system


def _grid(
    benchmark: str, subset: str | None, own: Mapping[str, Mapping[str, Any]], tables: Sequence[PublishedTable]
) -> Grid | None:
    measured = {
        name: {judged_by(row, table.judge): value for row, value in rows.items()}
        for table in tables
        for name, rows in table.measured(subset).items()
    }
    columns = [name for name in measured if any(isinstance(row.get(name), float) for row in own.values())]
    if not columns:
        return None
    mine = {name: row for name, row in own.items() if any(row.get(column) is not None for column in columns)}
    judges = dict.fromkeys(judge for column in columns for judge in measured[column])
    rows = [
        *((name, *(share(row.get(column)) for column in columns)) for name, row in mine.items()),
        *((f"{judge}{PUBLISHED}", *(share(measured[column].get(judge)) for column in columns)) for judge in judges),
    ]
    cited = ". ".join(table.citation for table in tables if set(columns) & table.measured(subset).keys())
    title = f"Beside published results ({benchmark}{f', {subset}' if subset else ''})"
    note = f"Published rows were not measured here, but on the whole subset. Sources: {cited}."
    return Grid(title, note, ("", *columns), tuple(rows))
