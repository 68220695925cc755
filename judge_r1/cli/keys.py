"""keys: API keys of a served judge."""

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[Path, typer.Option("--file", help="The key file; it stores only hashes.")]
Name = Annotated[str, typer.Argument(help="Name of the key. It owns the cases uploaded with it.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="API keys of a served judge.", no_args_is_help=True)
    group.command()(add)
    group.command("list")(list_keys)
    group.command()(remove)
    app.add_typer(group, name="keys")


def add(
    name: Name,
    file: File,
    per_minute: Annotated[int, typer.Option(min=1, help="Judgments per minute.")] = 600,
) -> None:
    """Create a key and print it once. The file stores only its hash.

    Example: `judge-r1 keys add ana --file keys.json`
    """
    from judge_r1.serving.middleware.api_keys import add_key

    print(add_key(file, name, per_minute))


def list_keys(file: File) -> None:
    """List the names and rate limits of the keys.

    Example: `judge-r1 keys list --file keys.json`
    """
    from judge_r1.serving.middleware.api_keys import read_keys

    for key in read_keys(file):
        print(f"{key.name}\t{key.per_minute} per minute")


def remove(name: Name, file: File) -> None:
    """Remove a key. A running server rejects it from the next request on.

    Example: `judge-r1 keys remove ana --file keys.json`
    """
    from judge_r1.serving.middleware.api_keys import remove_key

    remove_key(file, name)
