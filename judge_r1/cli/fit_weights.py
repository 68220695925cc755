"""fit-weights: learn the weights of checklists from human annotations."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from judge_r1.cli.options import MAX_SEED, refuse


def fit_weights(
    annotations: Annotated[list[Path], typer.Argument(help="JSON Lines or CSV files of human scores.")],
    out: Annotated[Path, typer.Option("--out", help="The weights file to write (JSON).")],
    resamples: Annotated[int, typer.Option(min=0, help="Bootstrap resamples of the intervals; 0 for none.")] = 1000,
    ridge: Annotated[float, typer.Option(min=0, help="Pulls the weights to equal ones; 0 is the paper's fit.")] = 0.0,
    pool_below: Annotated[
        int, typer.Option(min=0, help="Fit categories with fewer responses together with the others of their task.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the intervals.")] = 0,
) -> None:
    """Fit the weights of each category's checklist to human scores (HelloEval): bounded least squares, intervals, rank.

    A row has a category, the score of each question, and the overall score from 0 to 10; docs/hellobench.md shows the
    layouts. `eval --benchmark hellobench --subset weights=OUT` uses the file.

    Example: `judge-r1 fit-weights annotations.jsonl --out weights.json`
    """
    from judge_r1.evaluation.fit_weights import fit_file, weights_grid
    from judge_r1.evaluation.report.tables import print_grid

    if not resamples:
        refuse("is for the intervals, and --resamples 0 gives none", seed=seed)
    fits = fit_file(annotations, out, resamples=resamples, ridge=ridge, pool_below=pool_below, seed=seed)
    console = Console()
    print_grid(weights_grid(fits), console)
    console.print(f"weights: {out}", soft_wrap=True, markup=False)
