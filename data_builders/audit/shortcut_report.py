"""Prints the shortcut audit as tables of 80 columns."""

from rich.box import SIMPLE
from rich.console import Console, JustifyMethod
from rich.table import Table

from data_builders.audit.features import PROBES
from data_builders.audit.shortcut_probe import ProbeResult
from data_builders.audit.shortcuts import BOUND, Finding, ShortcutAudit

ALL_OPERATORS = "all of them"


def print_shortcuts(audit: ShortcutAudit, console: Console) -> None:
    """Print accuracies by group and probe, accuracies on held-out operators, top features, and flagged groups."""
    names = dict.fromkeys(finding.result.group for finding in audit.findings)
    groups = {name: [f for f in audit.findings if f.result.group == name] for name in names}
    console.print(_accuracy_table(audit, groups))
    if any(finding.held_out for finding in audit.findings):
        console.print(_operator_table(groups))
    console.print(_feature_table(groups))
    for name, reason in audit.not_probed.items():
        console.print(f"{name} was not probed: {reason}", markup=False)
    below = [f"{f.result.group} ({f.result.probe})" for f in audit.findings if f.reason == "below chance"]
    if below:
        console.print(f"below chance, as expected of balanced swaps in a small set: {', '.join(below)}", markup=False)
    for finding in audit.flagged:
        result = finding.result
        low, high = result.ci95
        line = f"FLAGGED: {result.group}, {result.probe} [{low:.3f}, {high:.3f}], bound {BOUND:.2f}"
        features = ", ".join(result.top_features)
        console.print(f"{line}: {finding.reason}; top features: {features}", style="red", markup=False, highlight=False)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        justify: JustifyMethod = "right" if column == "pairs" else "left"
        table.add_column(column, no_wrap=column in PROBES, justify=justify, overflow="fold")
    return table


def _accuracy_table(audit: ShortcutAudit, groups: dict[str, list[Finding]]) -> Table:
    title = f"Accuracy [95 %] without the case, {audit.pairs} pairs of {audit.cases} cases"
    table = _table(title, "", "pairs", *PROBES, "")
    for name, findings in groups.items():
        verdicts = {finding.verdict for finding in findings}
        verdict = "" if "reported" in verdicts else "FLAGGED" if "FLAGGED" in verdicts else "pass"
        style = {"FLAGGED": "red", "pass": "green"}.get(verdict)
        numbers = [_interval(finding.result) for finding in findings]
        table.add_row(name, str(findings[0].result.pairs), *numbers, verdict, style=style)
    return table


def _operator_table(groups: dict[str, list[Finding]]) -> Table:
    table = _table("Accuracy on operators that the probe was not trained on", "", "operator", "pairs", *PROBES)
    for name, findings in groups.items():
        held_out = [finding.held_out for finding in findings if finding.held_out]
        if not held_out:
            continue
        first = held_out[0]
        table.add_row(name, ALL_OPERATORS, str(first.overall.pairs), *(_interval(h.overall) for h in held_out))
        for operator, result in first.by_operator.items():
            accuracies = (_short(h.by_operator[operator].accuracy) for h in held_out)
            table.add_row("", operator, str(result.pairs), *accuracies)
        for operator in first.too_few:
            table.add_row("", operator, "", "too few cases")
    return table


def _feature_table(groups: dict[str, list[Finding]]) -> Table:
    table = _table("Top features (- of the flawed reasoning, + of the better one)", "", "probe", "features")
    for name, findings in groups.items():
        for finding in findings:
            table.add_row(name, finding.result.probe, "  ".join(finding.result.top_features))
            name = ""
    return table


def _interval(result: ProbeResult) -> str:
    return f"{_short(result.accuracy)} [{_short(result.ci95[0])}, {_short(result.ci95[1])}]"


def _short(number: float) -> str:
    return f"{number:.2f}".removeprefix("0")
