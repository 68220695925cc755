"""watch: follow a run from another shell."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(watch)


def watch(run: Annotated[Path, typer.Argument(help="A run folder, for example runs/demo/grpo.")]) -> None:
    """Follow a training run from another shell, or on another machine that sees its folder, until it is finished.

    On a terminal it shows what `judge-r1 train` shows there, elsewhere one line a step. Ctrl-C ends the watching only.

    Example: `judge-r1 watch runs/demo/grpo`
    """
    from judge_r1.training.monitor.watch import watch_run

    try:
        watch_run(run)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
