"""replay: score the saved outputs of an evaluation again, without a model."""

from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from judge_r1.cli.options import old_flags
from judge_r1.core.errors import JudgeError


def register(app: typer.Typer) -> None:
    app.command(context_settings=old_flags(rule="aggregation"))(replay)


def replay(
    evaluation: Annotated[Path, typer.Argument(help="A folder that `eval` wrote.")],
    path: Annotated[Path, typer.Option(help="The benchmark's files, for the labels.")],
    out: Annotated[Path, typer.Option("--out", help="A new folder to write.")],
    benchmark: Annotated[str | None, typer.Option(help="That of summary.json by default.")] = None,
    subset: Annotated[str | None, typer.Option(help="That of summary.json by default.")] = None,
    parser: Annotated[str | None, typer.Option(help="strict or tolerant; unchanged by default.")] = None,
    aggregation: Annotated[
        str,
        typer.Option(help="own: the benchmark's; first: the first vote of each item; all: every vote must be right."),
    ] = "own",
    reward: Annotated[str, typer.Option(help="paper, comparison or labels (of labelled pairs).")] = "paper",
) -> None:
    """Score saved outputs again with another parser, aggregation or reward. Writes OUT/summary.json and report.html.

    Example: `judge-r1 replay runs/eval --path runs/demo/data/test --parser tolerant --out runs/eval-tolerant`
    """
    from judge_r1.evaluation.rescore import Parser, Reward, Rule, rescore_evaluation

    for name, value, kind in (
        ("parser", parser, Parser),
        ("aggregation", aggregation, Rule),
        ("reward", reward, Reward),
    ):
        if value is not None and value not in get_args(kind):
            raise JudgeError(f"--{name} is {' or '.join(get_args(kind))}, not {value!r}")
    rescore_evaluation(
        evaluation,
        path,
        out,
        benchmark=benchmark,
        subset=subset,
        parser=cast("Parser | None", parser),
        rule=cast("Rule", aggregation),
        reward=cast("Reward", reward),
    )
