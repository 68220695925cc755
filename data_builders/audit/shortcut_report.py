"""Prints the shortcut audit as tables of 80 columns."""

from collections.abc import Sequence

from rich.box import SIMPLE
from rich.console import Console, JustifyMethod
from rich.table import Table

from data_builders.audit.features import PROBES
from data_builders.audit.shortcuts import Finding, ShortcutAudit
from judge_r1.core.text_check import counted
from judge_r1.evaluation.report.tables import few_clusters_note


def print_shortcuts(audit: ShortcutAudit, console: Console) -> None:
    """Print the strongest reader of each group, all readers, top features, and flagged groups."""
    names = dict.fromkeys(finding.result.group for finding in audit.findings)
    groups = {name: [f for f in audit.findings if f.result.group == name] for name in names}
    console.print(_strongest_table(audit))
    if note := few_clusters_note({"cases": finding.result.cases} for finding in audit.strongest()):
        console.print(f"95 % intervals: bootstrap over cases.{note}", markup=False, highlight=False)
    console.print(_reader_table(groups))
    console.print(_feature_table(groups))
    if audit.look_up:
        console.print(_look_up_table(audit))
    for name, reason in audit.not_probed.items():
        console.print(f"{name} was not probed: {reason}", markup=False)
    if audit.language_model:
        console.print(f"{audit.language_model} read {audit.read:,} pairs", markup=False)
    else:
        console.print("no language model read the pairs")
    below = [f"{f.result.group} ({f.result.probe})" for f in audit.findings if f.reason == "below chance"]
    if below:
        console.print(f"below chance, as expected of balanced swaps in a small set: {', '.join(below)}", markup=False)
    for line in audit.flag_lines():
        console.print(line, style="red", markup=False, highlight=False)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        justify: JustifyMethod = "right" if column == "pairs" else "left"
        table.add_column(column, no_wrap=column in PROBES, justify=justify, overflow="fold")
    return table


def _strongest_table(audit: ShortcutAudit) -> Table:
    size = f"{counted(audit.pairs, 'pair')} of {counted(audit.cases, 'case')}"
    title = f"The strongest reader that the bound applies to, {size}"
    table = _table(title, "", "pairs", "reader", "accuracy [95 %]", "")
    for finding in audit.strongest():
        result = finding.result
        style, verdict = {
            "pass": ("green", "pass"),
            "FLAGGED": ("red", finding.reason.partition(" to tell")[0]),
            "reported": (None, ""),
        }[finding.verdict]
        table.add_row(
            result.group, str(result.pairs), result.probe, interval(result.accuracy, result.ci95), verdict, style=style
        )
    return table


def _reader_table(groups: dict[str, list[Finding]]) -> Table:
    """One row per reader, one column per group: domains have only their strongest reader."""
    columns = [name for name in groups if " " not in name]
    table = _table("Accuracy of every reader", "", *columns)
    rows: dict[str, dict[str, str]] = {}
    for name in columns:
        for finding in groups[name]:
            rows.setdefault(finding.result.probe, {})[name] = _short(finding.result.accuracy)
    for reader, cells in rows.items():
        table.add_row(reader, *(cells.get(name, "") for name in columns))
    return table


def _feature_table(groups: dict[str, list[Finding]]) -> Table:
    table = _table("Top features (- of the flawed reasoning, + of the better one)", "", "reader", "features")
    for name, findings in groups.items():
        for finding in findings:
            if finding.result.top_features:
                table.add_row(name, finding.result.probe, "  ".join(finding.result.top_features))
                name = ""
    return table


def _look_up_table(audit: ShortcutAudit) -> Table:
    table = _table("With the case: a rule that looks up the words that differ", "", "pairs", "accuracy [95 %]")
    for result in audit.look_up:
        table.add_row(result.group, str(result.pairs), interval(result.accuracy, result.ci95))
    return table


def interval(accuracy: float, ci95: Sequence[float]) -> str:
    """An accuracy with its interval, in two digits."""
    return f"{_short(accuracy)} [{_short(ci95[0])}, {_short(ci95[1])}]"


def _short(number: float) -> str:
    return f"{number:.2f}".removeprefix("0")
