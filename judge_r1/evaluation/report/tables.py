"""Builds the tables of a summary as grids, and prints them to a console or as Markdown."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.text_check import counted
from judge_r1.evaluation.results import PanelResults
from judge_r1.statistics.intervals import FEW_CLUSTERS, UNRELIABLE_CLUSTERS

NONE = "–"
"""The cell text for a missing value."""
PLAIN_WIDTH = 100
"""The widest line of a table in plain text."""

COLUMNS = {
    "label F1": ("label_f1", " Label F1: mean over items."),
    "valid": ("valid_rate", " Valid: by the judge's own parser; strict, tolerant: by either parser."),
    "does not fit": ("does_not_fit", " Does not fit: items with a prompt that the model cannot read, which are wrong."),
    "fitting": ("accuracy_fitting", " Fitting: accuracy on the other items."),
    "unanswered": (
        "unanswered",
        " Unanswered: items that the server refused, or gave no usable reply to, on each attempt; {unanswered}.",
    ),
    "cut prompts": ("cut_prompts", " Cut prompts: items with a prompt that the server shortened."),
    "missing": ("missing", " Missing: items that were not judged; run again with --resume."),
    "valid votes": ("valid_vote_rate", " Valid votes: of the several votes on an item."),
    "strict": ("valid_strict", ""),
    "tolerant": ("valid_tolerant", ""),
    "ties": ("ties", ""),
    "consistent": ("consistency", " Consistent: of pairs decided in both orders, those with the same winner."),
    "prefers first": (
        "first_preferred",
        " Prefers first: of decided votes, those for the candidate shown first.",
    ),
    "searches": ("searches", " Searches: per episode."),
    "evidence": ("evidence_hit", " Evidence: a passage that the flaw contradicts was shown."),
}
"""Columns of the overall table by heading: the key in a summary's row, and the note. Empty columns are left out."""
MEAN_SCORE = "Mean score"
COUNTS = ("unanswered", "missing", "cut_prompts")
"""Columns that are numbers of items."""


class Estimate(NamedTuple):
    """A measured cell: a share in [0, 1], or with `signed` a difference in [-1, 1], and its 95 % interval. `n` is
    shown if judges differ in their number of items, and `valid` is the share of valid answers, if shown. `best` marks
    the best cell of a column."""

    value: float
    low: float
    high: float
    signed: bool = False
    n: int | None = None
    valid: float | None = None
    best: bool = False

    @property
    def parts(self) -> tuple[str, str]:
        """The value and the text after it."""
        form = "+.2f" if self.signed else ".2f"
        suffix = f"[{self.low:{form}}, {self.high:{form}}]"
        suffix += "" if self.n is None else f" ({self.n})"
        return f"{self.value:{form}}", suffix + ("" if self.valid is None else f", valid {self.valid:.2f}")

    def __str__(self) -> str:
        return " ".join(self.parts)


class Best(str):
    """The best cell of its column, shown bold."""


def is_best(cell: object) -> bool:
    return isinstance(cell, Best) or (isinstance(cell, Estimate) and cell.best)


@dataclass(frozen=True)
class Grid:
    """A table with a title; the first column names the row. `note` explains how to read it."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | Estimate, ...], ...]


def grids(summary: Mapping[str, Any]) -> list[Grid]:
    """All tables of a summary (`judge_r1.evaluation.summary`): overall, by domain, by principle, differences."""
    rows = summary["rows"]
    domains = {
        d: [row["by_domain"].get(d) for row in rows] for d in sorted({d for row in rows for d in row["by_domain"]})
    }
    note = "Accuracy [95 % interval, bootstrap over cases]; the number of pairs in parentheses."
    built = [_overall(rows, summary), _sliced("Accuracy by domain", note, rows, domains)]
    if any(row["by_principle"] for row in rows):
        title = "Accuracy by principle"
        every = {p.code: [row["by_principle"].get(p.code) for row in rows] for p in PRINCIPLES}
        alone = {code: [part and part["single"] for part in parts] for code, parts in every.items()}
        legend = "; ".join(f"{p.code} {p.name}" for p in PRINCIPLES)
        built += [
            _sliced(title, f"A pair counts under every principle it violates. {legend}.", rows, every),
            _sliced(f"{title}, only single violations", "Only pairs that violate no other principle.", rows, alone),
            *_label_f1(rows, every),
        ]
    joint = summary.get("tables", {})
    own = [
        _own(f"{title} ({row['name']})", table)
        for row in rows
        for title, table in row.get("tables", {}).items()
        if title not in joint
    ]
    own += [_own(title, table) for title, table in joint.items()]
    if summary.get("rates_texts"):
        return [*system_grids(summary), *map(_of_texts, built), *own, *_cost(rows)]
    return [*built, *own, *_differences(summary["differences"]), *_shared(summary.get("shared")), *_cost(rows)]


RATES_TEXTS = "A score says how good the judge finds a text: a higher one makes no better judge."


def system_grids(summary: Mapping[str, Any]) -> list[Grid]:
    """The table of a summary whose scores rate texts: one row for each system that wrote them, one column for each
    judge; none for other summaries."""
    rows = summary["rows"] if summary.get("rates_texts") else []
    systems = dict.fromkeys(system for row in rows for system in row.get("by_system", {}))
    if not systems:
        return []

    def cell(part: Mapping[str, Any] | None) -> str | Estimate:
        return estimate(part, part["n"] - part["invalid"]) if part and part["ci95"] else NONE

    cells = tuple((system, *(cell(row.get("by_system", {}).get(system)) for row in rows)) for system in systems)
    benchmark = summary.get("benchmark", "")
    note = f"{RATES_TEXTS} Mean of the valid scores [95 % interval by instruction] (texts), by the judge of the column."
    return [Grid(f"{MEAN_SCORE} by system ({benchmark})", note, ("system", *(row["name"] for row in rows)), cells)]


def _of_texts(grid: Grid) -> Grid:
    """A table of accuracies as one of the scores that judges gave."""
    text = grid.note.replace("Accuracy", MEAN_SCORE).replace("an invalid answer is wrong", "an invalid answer is 0")
    text = text.replace("number of pairs", "number of texts")
    return replace(
        grid,
        title=grid.title.replace("Accuracy", MEAN_SCORE),
        note=f"{RATES_TEXTS} {text}",
        columns=tuple(column.replace("accuracy", MEAN_SCORE.lower()) for column in grid.columns),
    )


def print_tables(summary: Mapping[str, Any], console: Console | None = None, *, brief: bool = False) -> None:
    """Prints all tables, or with `brief` the main columns of the first one: with rules on a terminal, else as aligned
    plain text."""
    console = console or Console()
    for grid in [_main_columns(grids(summary)[0])] if brief else grids(summary):
        print_grid(grid, console)


def print_grid(grid: Grid, console: Console) -> None:
    """Prints a table. One that is too wide for the terminal, or in plain text for 100 columns, is cut between columns;
    the lower part repeats the first column."""
    cells = [[str(cell) for cell in row] for row in (grid.columns, *grid.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if console.is_terminal:
        parts = _parts(widths, console.width - 1, 3)
        for part in parts:
            note = Text(grid.note if part is parts[-1] else "")
            table = Table(title=Text(grid.title), caption=note, title_justify="left", caption_justify="left")
            for index in part:
                table.add_column(Text(grid.columns[index]), justify="right" if index else "left")
            for row in grid.rows:
                table.add_row(*(Text(str(row[index]), style="bold" if is_best(row[index]) else "") for index in part))
            console.print(table)
        console.print()
        return
    lines = [grid.title]
    for part in _parts(widths, PLAIN_WIDTH, 2):
        head, *rows = ["  ".join(row) for row in _aligned([[row[index] for index in part] for row in cells])]
        lines += [rule := "-" * len(head), head, rule, *rows]
    for line in (*lines, rule, *textwrap.wrap(grid.note, PLAIN_WIDTH), ""):
        console.out(line, highlight=False)


def _parts(widths: Sequence[int], width: int, gap: int) -> list[list[int]]:
    """The columns that fit side by side, each with `gap` characters between it and the next one. Each part begins with
    the first column."""
    parts = [[0]]
    for index in range(1, len(widths)):
        if len(parts[-1]) > 1 and sum(widths[one] + gap for one in (*parts[-1], index)) - gap > width:
            parts.append([0])
        parts[-1].append(index)
    return parts


def _main_columns(overall: Grid) -> Grid:
    """The overall table without the columns that a first look does not need."""
    kept = [index for index, name in enumerate(overall.columns) if name not in ("strict", "tolerant", "items")]
    rows = tuple(tuple(row[index] for index in kept) for row in overall.rows)
    return Grid(overall.title, overall.note, tuple(overall.columns[index] for index in kept), rows)


def share(value: float | None) -> str:
    """A share with two digits; `–` where there is none."""
    return NONE if value is None else f"{value:.2f}"


def estimate(part: Mapping[str, Any], n: int | None = None) -> Estimate:
    """The accuracy of a part of a summary with its interval."""
    low, high = part["ci95"]
    return Estimate(part["accuracy"], low, high, n=n)


def few_clusters_note(parts: Iterable[Mapping[str, Any]]) -> str:
    """A warning for parts of a summary that cover too few clusters for a bootstrap; empty if there are none."""
    few = [part["cases"] for part in parts if part.get("cases", FEW_CLUSTERS) < FEW_CLUSTERS]
    if not few:
        return ""
    note = (
        f" {counted(len(few), 'interval')} with fewer than {FEW_CLUSTERS} clusters (the fewest: {min(few)}): by the t "
        "distribution, or Wilson's interval where all clusters agree, not the bootstrap, so rough."
    )
    if unreliable := sum(cases < UNRELIABLE_CLUSTERS for cases in few):
        note += f" WARNING: {unreliable} of them with fewer than {UNRELIABLE_CLUSTERS}: collect more cases."
    return note


def _overall(rows: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> Grid:
    columns = {head: COLUMNS[head] for head in COLUMNS if any(row.get(COLUMNS[head][0]) is not None for row in rows)}
    if not any(row.get("ties") for row in rows):
        columns.pop("ties", None)
    given = [(name, value) for row in rows for name, value in row.get("extra", {}).items()]
    extra = list(dict.fromkeys(name for name, value in given if not isinstance(value, dict)))
    cells = tuple(
        (
            row["name"],
            str(row["n"]),
            estimate(row),
            *(_plain(row.get(key)) if key in COUNTS else share(row.get(key)) for key, _ in columns.values()),
            *(share(row.get("extra", {}).get(name)) for name in extra),
        )
        for row in rows
    )
    counted = "they count as wrong" if summary.get("unanswered") == "wrong" else "they are left out"
    notes = "".join(note for _, note in columns.values()).replace("{unanswered}", counted)
    note = (
        "Accuracy [95 % interval, bootstrap over clusters]; an invalid answer is wrong."
        f"{notes}{few_clusters_note(rows)}"
    )
    title = f"Overall ({benchmark})" if (benchmark := summary.get("benchmark")) else "Overall"
    return Grid(title, note, ("judge", "items", "accuracy", *columns, *extra), cells)


def _sliced(
    title: str,
    note: str,
    rows: Sequence[Mapping[str, Any]],
    slices: Mapping[str, Sequence[Mapping[str, Any] | None]],
) -> Grid:
    """One column per slice. The number of items is in the heading if it is the same for all rows, else in the cells."""
    columns = ["judge"]
    cells: list[list[str | Estimate]] = [[row["name"]] for row in rows]
    for name, parts in slices.items():
        counts = {part["n"] for part in parts if part}
        shared = len(counts) == 1 and all(parts)
        columns.append(f"{name} ({counts.pop()})" if shared else name)
        for cell, part in zip(cells, parts, strict=True):
            n = None if shared or not part else part["n"]
            cell.append(estimate(part, n) if part else NONE)
    note += few_clusters_note([part for parts in slices.values() for part in parts if part])
    return Grid(title, note, tuple(columns), tuple(map(tuple, cells)))


def _label_f1(
    rows: Sequence[Mapping[str, Any]], slices: Mapping[str, Sequence[Mapping[str, Any] | None]]
) -> list[Grid]:
    """The label F1 of the judges that name principles, by principle of the pairs."""
    found = {code: parts for code, parts in slices.items() if any(parts)}
    cells = tuple(
        (row["name"], *(share(parts[at]["label_f1"]) if parts[at] else NONE for parts in found.values()))  # type: ignore[index]
        for at, row in enumerate(rows)
        if row["label_f1"]
    )
    note = "Mean over the pairs that violate the principle; judges that name no right one are left out."
    return [Grid("Label F1 by principle", note, ("judge", *found), cells)] if cells else []


def _shared(found: Mapping[str, Any] | None) -> list[Grid]:
    if not found:
        return []
    parts = {"all": found, **(found["by_domain"] if len(found["by_domain"]) > 1 else {})}
    rows = tuple(
        (name, str(part["n"]), share(part["all_wrong"]), share(part["all_right"])) for name, part in parts.items()
    )
    names = found["judges"]
    note = f"Shares of the items that all {len(names)} of these get wrong, and right: {', '.join(names)}."
    return [Grid("Items that all judges get alike", note, ("domain", "items", "all wrong", "all right"), rows)]


def _cost(rows: Sequence[Mapping[str, Any]]) -> list[Grid]:
    """What the judges used, for those that say so."""
    names = ("calls", "input_tokens", "output_tokens", "seconds")
    cells = tuple(
        (row["name"], *(f"{usage[name]:,.0f}" if name in usage else NONE for name in names))
        for row in rows
        if (usage := row.get("usage"))
    )
    note = "Of an endpoint or the local engine. Seconds: the sum over calls, which run at the same time."
    return [Grid("Cost", note, ("judge", *(name.replace("_", " ") for name in names)), cells)] if cells else []


def _own(title: str, table: Mapping[str, Mapping[str, float | None]]) -> Grid:
    """A table that the benchmark defines."""
    columns = list(dict.fromkeys(column for cells in table.values() for column in cells))
    rows = tuple(
        (name, *((p_value if column == "p" else _plain)(cells.get(column)) for column in columns))
        for name, cells in table.items()
    )
    return Grid(title, "The benchmark's page explains the columns.", ("", *columns), rows)


def p_value(value: float | None) -> str:
    """A p value with four decimals, below .01 with two digits that count; `–` where there is none."""
    return NONE if value is None else f"{value:.2g}" if value < 0.01 else f"{value:.4f}"


def _plain(value: float | None) -> str:
    return str(value) if isinstance(value, int) else share(value)


def _differences(differences: Sequence[Mapping[str, Any]]) -> list[Grid]:
    if not differences:
        return []
    labelled = any(d.get("label_f1") for d in differences)
    codes = [p.code for p in PRINCIPLES if any(p.code in d.get("by_principle", {}) for d in differences)]

    def cell(part: Mapping[str, Any] | None) -> str | Estimate:
        return Estimate(part["delta"], part["ci95"][0], part["ci95"][1], signed=True) if part else NONE

    note = (
        "Accuracy on the same pairs; if the 95 % interval (bootstrap over cases) contains 0, there is no significant "
        "difference. p: paired permutation by case, adjusted (Holm) for all rows of this table."
        f"{few_clusters_note(differences)}"
    )
    cells = [
        (
            cell(d),
            p_value(d.get("p_holm")),
            *([cell(d.get("label_f1"))] if labelled else []),
            *(cell(d["by_principle"].get(code)) for code in codes),
        )
        for d in differences
    ]
    columns = ("rows", "accuracy", "p", *(["label F1"] if labelled else []), *codes)
    named = tuple((f"{d['a']} minus {d['b']}", *row) for d, row in zip(differences, cells, strict=True))
    return [Grid("Differences", note, columns, named)]


POSITION_COLUMNS = ("judge", "votes", "decided", "prefers first", "consistent")


def position_grid(results: Sequence[PanelResults]) -> Grid | None:
    """One row per judge; None if no judge has a pair in both orders."""
    from judge_r1.evaluation.metrics import consistency, first_preferred  # imported late: they need NumPy
    from judge_r1.evaluation.result_table import ResultTable

    cells, both = [], False
    for found in results:
        table = ResultTable.of(found.items)
        both = both or bool(table["swapped"].any())
        votes, decided = (str(table[name].sum()) for name in ("votes", "decided"))
        cells.append((found.panel, votes, decided, share(first_preferred(table)), share(consistency(table))))
    note = (
        "Decided: valid votes without ties. Prefers first: share of those for the candidate shown first. "
        "Consistent: of the pairs decided in both orders by one judge, the share with the same winner."
    )
    return Grid("Both orders", note, POSITION_COLUMNS, tuple(cells)) if both else None


def markdown(grid: Grid) -> str:
    """The table with its note, without its title. Cell texts are escaped."""
    rows = _aligned([[_markdown_cell(cell) for cell in row] for row in (grid.columns, *grid.rows)], least=3)
    lines = [f"| {' | '.join(row)} |" for row in rows]
    rule = "|".join("-" * (len(cell) + 1) + (":" if i else "-") for i, cell in enumerate(rows[0]))
    return "\n".join([lines[0], f"|{rule}|", *lines[1:], "", grid.note, ""])


def _aligned(rows: Sequence[Sequence[str]], least: int = 0) -> list[list[str]]:
    """The cells padded to the widths of their columns: the first column to the right, the others to the left."""
    widths = [max(least, *map(len, column)) for column in zip(*rows, strict=True)]
    return [[f"{cell:{'>' if i else '<'}{widths[i]}}" for i, cell in enumerate(row)] for row in rows]


def _markdown_cell(cell: str | Estimate) -> str:
    if isinstance(cell, Estimate):
        value, suffix = cell.parts
        return f"**{value}** {suffix}" if is_best(cell) else f"{value} {suffix}"
    text = " ".join(cell.split())
    for sign in ("\\", "|", "<", "*", "_", "`"):
        text = text.replace(sign, f"\\{sign}")
    text = text.replace("](", "]\\(")
    return f"**{text}**" if is_best(cell) else text
