"""The leaderboard: judges by benchmarks as one table, and as charts with intervals."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from judge_r1.benchmarks.published import PublishedTable, published
from judge_r1.evaluation.report.charts import Figure, whisker_chart
from judge_r1.evaluation.report.discovery import Judged
from judge_r1.evaluation.report.published_measures import PUBLISHED
from judge_r1.evaluation.report.tables import NONE, Estimate, Grid, estimate, share

CHANCE = "random"
"""The judge that tosses a coin. What it reaches depends on the rule of the benchmark, and is no half for many."""
MOST_PUBLISHED = 20
"""How many published judges a leaderboard shows without `other_items`."""


def chance_note(chance: float | None) -> str:
    return "" if chance is None else f"The dashed line is the accuracy of `{CHANCE}`."


class Leaderboard(NamedTuple):
    """The table, one figure per benchmark with the judges in the order of the table, and the number of rows of
    published judges."""

    grid: Grid
    figures: list[Figure]
    published: int


Column = tuple[str, str]
"""A benchmark and the id of its items."""


def leaderboard(evaluations: Sequence[Judged], *, other_items: bool = False) -> Leaderboard | None:
    """The leaderboard of all evaluations; None without any judge. Evaluations whose scores rate texts say nothing about
    the judge and are left out.

    A row is one judge. If two judges share a name, or a judge has two results in one column, the later one gets its
    folder as a prefix. A column is one set of items of a benchmark. Judges are sorted by their mean accuracy over the
    columns that all of them have, or stay in the given order if there is no such column. Published judges of the same
    subsets follow (`judge_r1.benchmarks.published`), marked as such: the best ones, or with `other_items` all, and
    those that were measured on other items.
    """
    cells: dict[str, dict[Column, Estimate]] = {}
    judges: dict[str, str] = {}
    columns: dict[Column, Path] = {}
    tables: dict[Column, list[PublishedTable]] = {}
    subsets: dict[Column, str | None] = {}
    for found in evaluations:
        for row in () if found.summary.get("rates_texts") else found.summary["rows"]:
            column = (found.benchmark, found.items(row["name"]))
            columns.setdefault(column, found.folder)
            subsets.setdefault(column, found.summary.get("subset"))
            beside = published(found.benchmark, subsets[column], same_items=not other_items)
            tables[column] = [table for table in beside if table.accuracies(subsets[column])]
            name, judge = row["name"], found.judge(row["name"])
            if row.get("settings", {}).get("baseline") and column in cells.get(name, {}):
                continue  # the same rule on the same items
            if judges.get(name, judge) != judge or column in cells.get(name, {}):
                name = f"{found.folder.name}/{name}"
            judges.setdefault(name, judge)
            cells.setdefault(name, {})[column] = estimate(row, row["n"])._replace(valid=row["valid_rate"])
    if not cells:
        return None
    names = _named(columns)
    shared = [column for column in columns if all(column in row for row in cells.values())]
    order = sorted(cells, key=lambda name: -sum(cells[name][column].value for column in shared))
    best = {column: max(row[column].value for row in cells.values() if column in row) for column in columns}
    rows = [
        (name, *(_cell(cells[name].get(column), best[column], alone=len(cells) == 1) for column in columns))
        for name in order
    ]
    known = _published_rows(columns, tables, subsets)
    others = known if other_items else known[:MOST_PUBLISHED]
    note = (
        "Accuracy [95 % interval, clustered] (items), share of valid answers; an invalid answer is wrong. Bold: the "
        f"best of a column. {_ordered(shared, columns, names) if len(cells) > 1 else ''}"
    ).strip() + _citations(tables, len(known) - len(others))
    grid = Grid("Leaderboard", note, ("judge", *(names[column] for column in columns)), (*rows, *others))
    figures = [
        _figure(names[column], {name: cells[name][column] for name in order if column in cells[name]})
        for column in columns
    ]
    return Leaderboard(grid, figures, len(others))


def _published_rows(
    columns: Iterable[Column],
    tables: Mapping[Column, Sequence[PublishedTable]],
    subsets: Mapping[Column, str | None],
) -> list[tuple[str, ...]]:
    """One row per published judge, the best of the first column first."""
    values = {
        column: {judge: value for table in tables[column] for judge, value in table.accuracies(subsets[column]).items()}
        for column in columns
    }
    judges = dict.fromkeys(judge for found in values.values() for judge in found)
    ranked = sorted(judges, key=lambda judge: [-found.get(judge, -1.0) for found in values.values()])
    return [(f"{judge}{PUBLISHED}", *(share(values[column].get(judge)) for column in columns)) for judge in ranked]


def _citations(tables: Mapping[Column, Sequence[PublishedTable]], hidden: int) -> str:
    sources = dict.fromkeys(table.citation for found in tables.values() for table in found)
    if not sources:
        return ""
    more = f" {hidden} more with judge-r1 report --published." if hidden else ""
    return (
        f" Published: not measured here, but on the whole subset with other prompts.{more} "
        f"Sources: {'. '.join(sources)}."
    )


def _named(columns: Mapping[Column, Path]) -> dict[Column, str]:
    """Column names: the benchmark, and the first folder if the benchmark has several sets of items."""
    benchmarks = [benchmark for benchmark, _ in columns]
    return {
        column: column[0] if benchmarks.count(column[0]) == 1 else f"{column[0]} ({folder.name})"
        for column, folder in columns.items()
    }


def _ordered(shared: Sequence[Column], columns: Mapping[Column, Path], names: Mapping[Column, str]) -> str:
    if not shared:
        return "The judges share no benchmark, so their order has no meaning."
    if len(shared) == len(columns):
        return "Judges are sorted by their mean accuracy."
    benchmarks = ", ".join(names[column] for column in shared)
    return f"Judges are sorted by their mean accuracy on the benchmarks that all of them have: {benchmarks}."


def _cell(value: Estimate | None, best: float, *, alone: bool) -> str | Estimate:
    return NONE if value is None else value._replace(best=value.value == best and not alone)


def _figure(title: str, values: Mapping[str, Estimate]) -> Figure:
    rows = {name: {"": value} for name, value in values.items()}
    chance = values[CHANCE].value if CHANCE in values else None
    return Figure(title, whisker_chart(title, rows, {"": 0}, dashed=chance), {}, chance_note(chance))
