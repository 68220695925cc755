"""export: write pairs as files for other trainers."""

from pathlib import Path
from typing import Annotated, Literal, cast

import typer
from rich.console import Console

from judge_r1.core.errors import JudgeError


def register(app: typer.Typer) -> None:
    app.command()(export)


def export(
    path: Annotated[Path, typer.Argument(help="A folder of pairs, or one that `judge-r1 split` wrote.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    name: Annotated[str, typer.Option("--format", help="sft, dpo, trl or verl.")],
    recipe: Annotated[Path | None, typer.Option(help="Recipe of the prompts; the whole case by default.")] = None,
    answer: Annotated[str, typer.Option(help="sft, dpo, trl: json, or table6: two lines.")] = "json",
    preference: Annotated[
        str, typer.Option(help="dpo, trl: judgment, or reasoning: sound over flawed (Table 7).")
    ] = "judgment",
    seed: Annotated[int, typer.Option(help="Seed of the rejected judgments.")] = 0,
) -> None:
    """Write pairs for LLaMA-Factory (sft, dpo), TRL (trl) or verl, with a dataset card; `datasets` loads the folder.

    Example: `judge-r1 export runs/medical --format sft --out runs/medical-sft`
    """
    from data_builders.exports import Options
    from data_builders.exports.export import export as export_dataset
    from judge_r1.episode.config import EpisodeConfig
    from judge_r1.training.recipe import load_recipe

    for option, value, allowed in (
        ("--answer", answer, ("json", "table6")),
        ("--preference", preference, ("judgment", "reasoning")),
    ):
        if value not in allowed:
            raise JudgeError(f"{option} takes {allowed[0]} or {allowed[1]}, not {value}")
    options = Options(
        config=load_recipe(recipe).episode if recipe else EpisodeConfig(),
        answer=cast(Literal["json", "table6"], answer),
        preference=cast(Literal["judgment", "reasoning"], preference),
        seed=seed,
    )
    for split, stats in export_dataset(path, out, name, options).items():
        Console().print(f"{split}: {stats.describe()} in {out}")
