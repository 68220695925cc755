"""report: compare training runs and evaluations on one page."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, evaluation folders, or folders that contain them.")],
    out: Annotated[Path, typer.Option("--out", help="The page to write.")] = Path("report.html"),
    markdown: Annotated[Path | None, typer.Option(help="Write the leaderboard as a Markdown table too.")] = None,
    published: Annotated[
        bool,
        typer.Option("--published", help="Show published judges that were measured on other items, too (LRBench)."),
    ] = False,
) -> None:
    """Compare evaluations and training runs on one static page.

    The page shows a leaderboard of all judges on all benchmarks with intervals, beside published judges of the same
    items, the learning curves of the training runs, the differences between their recipes, and for LRBench the paper's
    Table 12 and Figures 5 and 6.

    Example: `judge-r1 report runs/eval/* --out runs/leaderboard.html --markdown LEADERBOARD.md`
    """
    from judge_r1.evaluation.report.comparison import write_comparison
    from judge_r1.evaluation.report.tables import print_grid

    tables = write_comparison(runs, out, published=published, markdown_file=markdown)
    console = Console()
    for table in tables:
        print_grid(table, console)
    console.print(f"report: {out}", soft_wrap=True)
    if markdown:
        console.print(f"leaderboard: {markdown}", soft_wrap=True)
