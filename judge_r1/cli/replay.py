"""replay: score the saved outputs of an evaluation again, without a model."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def register(app: typer.Typer) -> None:
    app.command()(replay)


def replay(
    evaluation: Annotated[Path, typer.Argument(help="A folder that `eval` wrote.")],
    out: Annotated[Path, typer.Option("--out", help="A new folder to write.")],
    path: Annotated[
        Path | None, typer.Option(help="The benchmark's files, for the labels, if they are not in the package.")
    ] = None,
    benchmark: Annotated[str | None, typer.Option(help="That of summary.json by default.")] = None,
    subset: Annotated[str | None, typer.Option(help="That of summary.json by default.")] = None,
    parser: Annotated[Literal["strict", "tolerant"] | None, typer.Option(help="Unchanged by default.")] = None,
    aggregation: Annotated[
        Literal["own", "first", "all"],
        typer.Option(help="own: the benchmark's; first: the first vote of each item; all: every vote must be right."),
    ] = "own",
    reward: Annotated[
        Literal["paper", "comparison", "labels"], typer.Option(help="The terms of the reward of labelled pairs.")
    ] = "paper",
) -> None:
    """Score saved outputs again with another parser, aggregation or reward. Writes OUT/summary.json and report.html.

    Example: `judge-r1 replay runs/eval --path runs/demo/data/test --parser tolerant --out runs/eval-tolerant`
    """
    from judge_r1.evaluation.rescore import rescore_evaluation

    options = {"benchmark": benchmark, "subset": subset}
    rescore_evaluation(evaluation, path, out, **options, parser=parser, rule=aggregation, reward=reward)
