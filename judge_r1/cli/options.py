"""Options that several commands share, and old spellings of options, which keep working and are not in `--help`."""

from pathlib import Path
from typing import Annotated, Any

import typer

TeacherBudget = Annotated[float | None, typer.Option(min=0, metavar="USD", help="Stop before spending more.")]
Prices = Annotated[Path | None, typer.Option(help="YAML: MODEL: {input: USD, output: USD} per 1M tokens.")]
AnswerCache = Annotated[Path | None, typer.Option(help="File of all answers [default: OUT/answers.sqlite].")]
BatchExport = Annotated[
    Path | None, typer.Option(help="Write the requests for a batch service instead of sending them.")
]
BatchImport = Annotated[Path | None, typer.Option(help="First take in the results of a batch service.")]


def old_flags(**renamed: str) -> dict[str, Any]:
    """Click context settings that accept old option names: `old_flags(running="max-concurrency")`."""
    return {"token_normalize_func": lambda token: renamed.get(token, token)}
