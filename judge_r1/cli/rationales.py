"""rationales: worked examples for the SFT warm-up, written by a teacher."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judge_r1.cli.key_help import Keys, KeysCommand
from judge_r1.core.text_check import counted

if TYPE_CHECKING:
    from pydantic import BaseModel

    from data_builders.teacher_session import SessionOptions
    from judge_r1.core.records import Case


class _Rationales(KeysCommand):
    def panels(self) -> "dict[str, type[BaseModel]]":
        from data_builders.build_recipe import RationalesPart, RationalesRecipe
        from data_builders.teacher_session import SessionOptions

        return {"Rationales": RationalesPart, "Teacher": RationalesRecipe, "Calls to the teacher": SessionOptions}


def register(app: typer.Typer) -> None:
    app.command(cls=_Rationales)(rationales)


def rationales(
    folder: Annotated[Path, typer.Argument(help="A folder with cases.jsonl and pairs.jsonl.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    overrides: Keys = None,
) -> None:
    """Have a teacher write full rationales for gold judgments; `train` reads them with `sft.rationales_file`.

    Example: `judge-r1 rationales runs/medical/train teacher=chat@anthropic:MODEL recipe=recipes/medical/sft.yaml
    count=2000 --out runs/medical/rationales`
    """
    from data_builders.build_recipe import RationalesRecipe
    from judge_r1.files.yaml_config import validated

    wanted = validated(RationalesRecipe, {}, overrides or [], "rationales").in_folder(out)
    rationales_writer(wanted.recipe, wanted.count)(folder, wanted.teacher, out, wanted)


def rationales_writer(
    recipe: Path, count: int, cases: "Iterable[Case]" = ()
) -> "Callable[[Path, str, Path, SessionOptions], None]":
    """Checks a recipe, its tokenizer, and that prompts about some of the `cases` fit it. The function that it returns
    writes rationales of the pairs in a folder, by a teacher, to another folder."""
    from data_builders.teacher_session import run_session
    from data_builders.write_rationales import RATIONALES_FILE, RationaleOptions, refuse_long_prompts, write_rationales
    from judge_r1.core.errors import JudgeError
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.files.pair_set import load_pairs
    from judge_r1.models.hub import text_tokenizer
    from judge_r1.training.recipe import load_recipe

    resolved = load_recipe(recipe)
    if resolved.episode.tools:
        raise JudgeError(
            f"{recipe} has episode.tools, which no teacher calls: remove them, or write rationales by rules"
        )
    tokenizer = SafeTokenizer(text_tokenizer(resolved.model))
    refuse_long_prompts(cases, resolved, tokenizer)

    def write(folder: Path, teacher: str, out: Path, session: "SessionOptions") -> None:
        spending = session.spending()
        wanted = RationaleOptions(load_pairs(folder), resolved, tokenizer, count)
        done = run_session(
            [teacher],
            lambda teachers: write_rationales(
                wanted, out, teachers[0], spending=spending, concurrency=session.concurrency
            ),
            session,
            spending,
        )
        console = Console(soft_wrap=True)
        console.print(done.message, markup=False)
        if done.value is not None:
            _print_counts(done.value, out / RATIONALES_FILE, console)

    return write


def _print_counts(counts: dict[str, Any], path: Path, console: Console) -> None:
    given = counts["accepted"] + sum(counts["rejected"].values())
    console.print(f"{counted(counts['accepted'], 'rationale')} of {counted(given, 'pair')} in {path}")
    if counts["accepted"] < counts["wanted"]:
        console.print(f"{counts['wanted']} were wanted: there are no more pairs")
    for title, key in (("pairs rejected", "rejected"), ("turns asked for again", "turns_rejected")):
        if counts[key]:
            table = Table(title, "")
            for reason, count in sorted(counts[key].items(), key=lambda item: -item[1]):
                table.add_row(reason, str(count))
            console.print(table)
