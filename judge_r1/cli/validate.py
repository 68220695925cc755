"""validate: check a built folder."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def validate(
    folder: Annotated[Path, typer.Argument(help="A folder that `judge-r1 build` wrote.")],
    recipe: Annotated[Path | None, typer.Option(help="Also check that every prompt and rationale fits it.")] = None,
) -> None:
    """Check a built folder, and say what was checked; exit status 1 if it fails.

    Example: `judge-r1 validate runs/medical`
    """
    from data_builders.validate import validate as check
    from judge_r1.training.recipe import load_recipe

    report = check(folder, load_recipe(recipe) if recipe else None)
    console = Console()
    share = f" ({report.valid / report.records:.1%})" if report.records else ""
    console.print(f"{report.valid} of {report.records} {report.noun}s are valid{share}")
    console.print(f"checked: {'; '.join(report.checked)}", markup=False, highlight=False)
    for note in report.notes:
        console.print(note)
    for reason, (count, example) in sorted(report.problems.items()):
        console.print(f"{count} x {reason}, for example {report.noun} {example}", style="red", markup=False)
    if not report.good:
        raise typer.Exit(1)
