"""A table as Markdown, its columns aligned as plain text too."""

from judge_r1.evaluation.report.tables import Estimate, Grid, is_best


def markdown(grid: Grid) -> str:
    """The table with its note, without its title. What a cell says is never read as Markdown."""
    rows = [[_cell(cell) for cell in row] for row in (grid.columns, *grid.rows)]
    widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| "
        + " | ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        + " |"
        for row in rows
    ]
    rule = "|" + "|".join(("-" * (w + 1) + ":") if i else ("-" * (w + 2)) for i, w in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:], "", grid.note, ""])


def _cell(cell: str | Estimate) -> str:
    if isinstance(cell, Estimate):
        value, behind = cell.parts
        return f"**{value}** {behind}" if is_best(cell) else f"{value} {behind}"
    text = " ".join(cell.split())
    for sign in ("\\", "|", "<", "*", "_", "`"):
        text = text.replace(sign, f"\\{sign}")
    text = text.replace("](", "]\\(")
    return f"**{text}**" if is_best(cell) else text
