"""Options that several commands share."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, ParamSpec

import typer

from judge_r1.core.errors import JudgeError
from judge_r1.files.file_lock import lock_folder

if TYPE_CHECKING:
    from judge_r1.core.ray_blocks import RayWorkers

P = ParamSpec("P")
MAX_SEED = 2**32 - 1
"""The largest seed that NumPy and scikit-learn take."""

Prices = Annotated[Path | None, typer.Option(help="YAML: MODEL: {input: USD, output: USD} per 1M tokens.")]
Engine = Annotated[
    Literal["local", "ray"],
    typer.Option(help="local: in this process. ray: on the nodes of a Ray cluster, with the same result."),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="With --engine ray: number of workers [default: one per GPU, or per processor]."),
]


def refuse(reason: str, **given: object) -> None:
    """Refuses options that would have no effect: those of `given` with a true value.

    Raises: JudgeError for the first of them, with the `reason`.
    """
    if found := next((name for name, value in given.items() if value), None):
        raise JudgeError(f"--{found.replace('_', '-')} {reason}: leave it out")


def ray_workers(engine: str, workers: int | None) -> "RayWorkers | None":
    """The workers of `--engine ray`, None for a local run. Raises: JudgeError for workers of a local run."""
    from judge_r1.core.ray_blocks import RayWorkers

    if engine == "ray":
        return RayWorkers(workers)
    if workers is not None:
        raise JudgeError("--workers is for --engine ray")
    return None


def locks_out(command: Callable[P, None]) -> Callable[P, None]:
    """A command that locks its folder --out while it runs."""

    @wraps(command)
    def locked(*arguments: P.args, **options: P.kwargs) -> None:
        with lock_folder(signature(command).bind(*arguments, **options).arguments["out"]):
            command(*arguments, **options)

    return locked
