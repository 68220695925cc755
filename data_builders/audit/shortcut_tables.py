"""The shortcut audit as tables."""

from rich.console import Console
from rich.table import Table

from data_builders.audit.readers import READERS
from data_builders.audit.shortcuts import BOUND, Finding, ShortcutAudit
from data_builders.probe import Row

SHOWN_WORDS = 6
STYLES = {"pass": "green", "FLAGGED": "bold red", "reported": ""}


def print_shortcuts(audit: ShortcutAudit, console: Console) -> None:
    """Groups by readers; then how well what gives away other operators gives away each one; then what is flagged."""
    console.print(_groups(audit))
    shown = [finding for finding in audit.findings if finding.held_out]
    if shown:
        console.print(_operators(shown))
    for name, reason in audit.not_probed.items():
        console.print(f"{name} was not probed: {reason}")
    for finding in audit.flagged:
        _, high = finding.row.ci95
        telling = ", ".join(finding.row.telling)
        line = f"FLAGGED: {finding.row.name}, {finding.row.reader}: up to {high:.2f}, not below {BOUND:.2f}"
        console.print(f"{line} ({finding.why}); telling: {telling}", style="red", markup=False)


def _groups(audit: ShortcutAudit) -> Table:
    table = Table(title=f"Without the case: {audit.pairs} pairs of {audit.cases} cases")
    for name in ("", "reader", "pairs", "cases", "accuracy [95 %]", "unseen operator", "verdict", "most telling"):
        table.add_column(name, no_wrap=name != "most telling")
    last = ""
    for finding in audit.findings:
        row, unseen = finding.row, finding.held_out
        if last and row.name != last:
            table.add_section()
        last = row.name
        table.add_row(
            row.name,
            row.reader,
            str(row.pairs),
            str(row.cases),
            _interval(row),
            _interval(unseen.overall) if unseen else "",
            " ".join(filter(None, (finding.verdict if finding.verdict != "reported" else "", _short(finding)))),
            "  ".join(row.telling[:SHOWN_WORDS]),
            style=STYLES[finding.verdict],
        )
    return table


def _short(finding: Finding) -> str:
    return f"({finding.why})" if finding.why == "below chance" else ""


def _operators(shown: list[Finding]) -> Table:
    table = Table(title="An operator that the reader never met")
    for name in ("", "operator", "pairs", *READERS):
        table.add_column(name, no_wrap=True)
    for name in dict.fromkeys(finding.row.name for finding in shown):
        unseen = {f.row.reader: f.held_out for f in shown if f.row.name == name and f.held_out}
        first = next(iter(unseen.values()))
        for operator, row in first.by_operator.items():
            values = [_interval(found.by_operator[operator]) for found in unseen.values()]
            table.add_row(name, operator, str(row.pairs), *values)
        if first.too_few:
            table.add_row(name, f"not tested, too few cases: {', '.join(first.too_few)}")
        table.add_section()
    return table


def _interval(row: Row) -> str:
    return f"{row.accuracy:.2f} [{row.ci95[0]:.2f}, {row.ci95[1]:.2f}]"
