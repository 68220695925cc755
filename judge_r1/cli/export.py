"""export: write pairs as files for other trainers."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from judge_r1.cli.options import refuse


def export(
    path: Annotated[Path, typer.Argument(help="A folder of pairs, or one that `judge-r1 split` wrote.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    name: Annotated[str, typer.Option("--format", help="sft, dpo, trl or verl.")],
    recipe: Annotated[Path | None, typer.Option(help="Recipe of the prompts; the whole case by default.")] = None,
    answer: Annotated[
        Literal["json", "table6"], typer.Option(help="sft, dpo, trl: JSON, or the two lines of Table 6.")
    ] = "json",
    preference: Annotated[
        Literal["table7", "judgment", "reasoning"],
        typer.Option(help="dpo, trl: principles of the flawed reasoning (Table 7), judgments, or the two reasonings."),
    ] = "judgment",
    seed: Annotated[int, typer.Option(help="Seed of the rejected judgments.")] = 0,
    tokenizer: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Measure the longest example in tokens of this model.")
    ] = None,
) -> None:
    """Write pairs for LLaMA-Factory (sft, dpo), TRL (trl) or verl, with a dataset card; `datasets` loads the folder.

    Example: `judge-r1 export runs/medical --format sft --out runs/medical-sft`
    """
    from data_builders.export import export as export_dataset
    from data_builders.exports import USER_OPTIONS, Options
    from data_builders.generators import dataset_of
    from judge_r1.episode.config import EpisodeConfig
    from judge_r1.training.recipe import load_recipe

    unused = set(USER_OPTIONS) - set(dataset_of(path).format(name).reads)
    given = {"config": recipe, "answer": answer != "json", "preference": preference != "judgment", "seed": seed}
    refuse(
        f"has no effect on --format {name} of {path}",
        **{"recipe" if option == "config" else option: given[option] for option in unused},
    )
    config = load_recipe(recipe).episode if recipe else EpisodeConfig()
    options = Options(config=config, answer=answer, preference=preference, seed=seed)
    exported = export_dataset(path, out, name, options, tokenizer)
    for split, stats in exported.splits.items():
        Console().print(f"{split}: {stats.describe()} in {out}")
    for line in exported.lengths:
        Console().print(line, soft_wrap=True, markup=False, highlight=False)
