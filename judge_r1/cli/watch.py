"""watch: follow a run from another shell."""

from pathlib import Path
from typing import Annotated

import typer


def watch(run: Annotated[Path, typer.Argument(help="A run folder, for example runs/demo/grpo.")]) -> None:
    """Follow a training run until it is finished, from another shell or another machine that sees its folder.

    On a terminal it shows the view of `judge-r1 train`, elsewhere one line per step. Ctrl-C does not stop the run.

    Example: `judge-r1 watch runs/demo/grpo`
    """
    from judge_r1.training.monitor.watch import watch_run

    try:
        watch_run(run)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
