"""The `key=value` arguments of a command: help that lists the keys of a model."""

from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from typer.core import TyperCommand

Keys = Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE", help="The keys below.")]


class KeysCommand(TyperCommand):
    """A command whose help ends with the keys of models."""

    def panels(self) -> dict[str, type[BaseModel]]:
        """Title -> model, imported here, for the help alone. A panel has the keys that its model adds to those of its
        base classes."""
        raise NotImplementedError

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super().format_help(ctx, formatter)
        console = Console(highlight=False)
        for title, model in self.panels().items():
            table = Table.grid(padding=(0, 2), expand=True)
            for name, field in model.model_fields.items():
                if name in model.__annotations__:
                    table.add_row(f"[bold cyan]{name}[/]", *_described(field))
            console.print(Panel(table, title=title, title_align="left", border_style="dim"))


def _described(field: FieldInfo) -> tuple[str, str]:
    """The values that a field takes, and its text with its default."""
    default, kinds = field.default, "|".join(_kinds(field.annotation))
    shown = f"[dim]\\[default: {_text(default)}][/]" if default not in (None, PydanticUndefined, {}) else ""
    return f"[yellow]{kinds}[/]", " ".join(filter(None, (field.description, shown)))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _kinds(annotation: Any) -> Iterator[str]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        yield from map(str, arguments)
    elif origin in (Union, UnionType):
        for one in arguments:
            yield from _kinds(one)
    elif origin is tuple:
        yield from _kinds(arguments[0])
    elif annotation is not type(None):
        kind = origin or annotation
        yield {Path: "path", dict: "section"}.get(kind, kind.__name__ if kind in (str, int, float, bool) else "section")
