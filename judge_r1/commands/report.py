"""report: training runs and their evaluations side by side, in one page."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, evaluation folders, or folders of such.")],
    out: Annotated[Path, typer.Option("--out", help="The page to write.")] = Path("report.html"),
) -> None:
    """Compare training runs: learning curves over each other, what differs between the recipes, and, of models that
    were evaluated, the paper's Table 12 and Figures 5 and 6. One static page.

    Example: `judge-r1 report runs/demo --out runs/demo/runs.html`
    """
    from judge_r1.evaluation.compare import write_comparison
    from judge_r1.evaluation.table import print_grid

    table = write_comparison(runs, out)
    console = Console()
    if table:
        print_grid(table, console)
    console.print(f"report: {out}", soft_wrap=True)
