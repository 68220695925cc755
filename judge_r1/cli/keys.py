"""keys: who may ask a served judge."""

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[Path, typer.Option("--file", help="The file of keys; it holds hashes alone.")]
Name = Annotated[str, typer.Argument(help="Whose key it is; it owns the cases that are put with it.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Keys of a served judge.", no_args_is_help=True)
    group.command()(add)
    group.command("list")(list_keys)
    group.command()(remove)
    app.add_typer(group, name="keys")


def add(
    name: Name,
    file: File,
    per_minute: Annotated[int, typer.Option(min=1, help="Judgments that it may ask for in a minute.")] = 600,
) -> None:
    """Make a key and show it, once: the file keeps its hash alone.

    Example: `judge-r1 keys add ana --file keys.json`
    """
    from judge_r1.serving.middleware.api_keys import add_key

    print(add_key(file, name, per_minute))


def list_keys(file: File) -> None:
    """Names and rates of the keys.

    Example: `judge-r1 keys list --file keys.json`
    """
    from judge_r1.serving.middleware.api_keys import read_keys

    for key in read_keys(file):
        print(f"{key.name}\t{key.per_minute} per minute")


def remove(name: Name, file: File) -> None:
    """Take a key back; a running server knows it with the next request.

    Example: `judge-r1 keys remove ana --file keys.json`
    """
    from judge_r1.serving.middleware.api_keys import remove_key

    remove_key(file, name)
