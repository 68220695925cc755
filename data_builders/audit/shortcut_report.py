"""The shortcut audit as tables of 80 columns."""

from rich.box import SIMPLE
from rich.console import Console, JustifyMethod
from rich.table import Table

from data_builders.audit.features import READERS
from data_builders.audit.shortcut_probe import Row
from data_builders.audit.shortcuts import BOUND, Finding, ShortcutAudit

ALL = "all of them"


def print_shortcuts(audit: ShortcutAudit, console: Console) -> None:
    """Groups by readers; operators that the readers never met; the words that tell; what is flagged."""
    groups = {name: [f for f in audit.findings if f.row.name == name] for name in _names(audit)}
    console.print(_accuracies(audit, groups))
    if any(finding.held_out for finding in audit.findings):
        console.print(_operators(groups))
    console.print(_telling(groups))
    for name, reason in audit.not_probed.items():
        console.print(f"{name} was not probed: {reason}", markup=False)
    below = [f"{f.row.name} ({f.row.reader})" for f in audit.findings if f.why == "below chance"]
    if below:
        console.print(f"below chance, as swaps balanced in a small set are: {', '.join(below)}", markup=False)
    for finding in audit.flagged:
        low, high = finding.row.ci95
        line = f"FLAGGED: {finding.row.name}, {finding.row.reader} [{low:.3f}, {high:.3f}], bound {BOUND:.2f}"
        telling = ", ".join(finding.row.telling)
        console.print(f"{line}: {finding.why}; telling: {telling}", style="red", markup=False, highlight=False)


def _names(audit: ShortcutAudit) -> list[str]:
    return list(dict.fromkeys(finding.row.name for finding in audit.findings))


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        justify: JustifyMethod = "right" if column == "pairs" else "left"
        table.add_column(column, no_wrap=column in READERS, justify=justify, overflow="fold")
    return table


def _accuracies(audit: ShortcutAudit, groups: dict[str, list[Finding]]) -> Table:
    table = _table(
        f"Accuracy [95 %] without the case, {audit.pairs} pairs of {audit.cases} cases", "", "pairs", *READERS, ""
    )
    for name, findings in groups.items():
        verdicts = {finding.verdict for finding in findings}
        verdict = "" if "reported" in verdicts else "FLAGGED" if "FLAGGED" in verdicts else "pass"
        style = {"FLAGGED": "red", "pass": "green"}.get(verdict)
        numbers = [_interval(finding.row) for finding in findings]
        table.add_row(name, str(findings[0].row.pairs), *numbers, verdict, style=style)
    return table


def _operators(groups: dict[str, list[Finding]]) -> Table:
    table = _table("The same for operators that the reader never met", "", "operator", "pairs", *READERS)
    for name, findings in groups.items():
        unseen = [finding.held_out for finding in findings if finding.held_out]
        if not unseen:
            continue
        first = unseen[0]
        table.add_row(name, ALL, str(first.overall.pairs), *(_interval(u.overall) for u in unseen))
        for operator, row in first.by_operator.items():
            table.add_row("", operator, str(row.pairs), *(_short(u.by_operator[operator].accuracy) for u in unseen))
        for operator in first.too_few:
            table.add_row("", operator, "", "too few cases")
    return table


def _telling(groups: dict[str, list[Finding]]) -> Table:
    table = _table("What tells (- is of the flawed reasoning, + of the other)", "", "reader", "features")
    for name, findings in groups.items():
        for finding in findings:
            table.add_row(name, finding.row.reader, "  ".join(finding.row.telling))
            name = ""
    return table


def _interval(row: Row) -> str:
    return f"{_short(row.accuracy)} [{_short(row.ci95[0])}, {_short(row.ci95[1])}]"


def _short(number: float) -> str:
    return f"{number:.2f}".removeprefix("0")
