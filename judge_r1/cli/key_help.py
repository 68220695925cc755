"""The `key=value` arguments of a command: help that lists the keys of a model."""

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from typer.core import TyperCommand

from judge_r1.core.errors import JudgeError


def once(overrides: list[str] | None) -> list[str] | None:
    """The overrides as they are. Raises: JudgeError if a key has two values, of which the second would win in
    silence."""
    names = [override.partition("=")[0] for override in dict.fromkeys(overrides or [])]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise JudgeError(f"there are two values of {repeated[0]}: give one of them")
    return overrides


Keys = Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE", help="The keys below.", callback=once)]


class KeysCommand(TyperCommand):
    """A command whose help ends with the keys of models."""

    def panels(self) -> dict[str, type[BaseModel]]:
        """Title -> model, imported here, for the help alone. A model's panel leaves out the keys of its base classes
        that have a panel."""
        raise NotImplementedError

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super().format_help(ctx, formatter)
        console, panels = Console(highlight=False), self.panels()
        for title, model in panels.items():
            bases = [other for other in panels.values() if other is not model and issubclass(model, other)]
            texts, table = _docstrings(model), Table.grid(padding=(0, 2), expand=True)
            for name, field in model.model_fields.items():
                if not any(name in base.model_fields for base in bases):
                    table.add_row(f"[bold cyan]{name}[/]", *_described(field, texts.get(name, "")))
            console.print(Panel(table, title=title, title_align="left", border_style="dim"))


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The texts below the fields of a model, for those without a description."""
    (definition,) = ast.parse(dedent(inspect.getsource(model))).body
    assert isinstance(definition, ast.ClassDef)
    return {
        field.target.id: " ".join(str(text.value.value).split())
        for field, text in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }


def _described(field: FieldInfo, text: str) -> tuple[str, str]:
    """The values that a field takes, and its text with its default."""
    default, kinds = field.default, "|".join(dict.fromkeys(_kinds(field.annotation)))
    known = default not in (None, PydanticUndefined, {}, ()) and not isinstance(default, BaseModel)
    shown = f"[dim]\\[default: {_text(default)}][/]" if known else ""
    return f"[yellow]{kinds}[/]", " ".join(filter(None, (escape(field.description or text), shown)))


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
