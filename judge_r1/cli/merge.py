"""merge: write a checkpoint as a model folder."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def merge(
    run: Annotated[Path, typer.Argument(help="A run folder with checkpoints, finished or not.")],
    step: Annotated[int | None, typer.Option(min=1, help="The checkpoint of this step; the newest by default.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write; RUN/model-step-N by default.")] = None,
) -> None:
    """Write a checkpoint of a run as a Hugging Face folder with a model card.

    The command loads the folder again and verifies that its log-probabilities equal those of the checkpoint's weights.
    A finished run already has its verified model in RUN/model.

    Example: `judge-r1 merge runs/grpo --step 400`
    """
    from judge_r1.training.export_checkpoint import merge as merge_run

    merged = merge_run(run, step=step, out=out)
    Console().print(
        f"step {merged.step} in {merged.folder}; reloaded, its log-probabilities differ by {merged.difference:.1g}",
        soft_wrap=True,
    )
