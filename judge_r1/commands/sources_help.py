"""`build --help` ends with the sources, a line each: read when it is asked for, so that starting stays fast."""

from typing import Any

from typer.core import TyperCommand


class ListsSources(TyperCommand):
    """A command whose help lists the sources that there are."""

    def get_help(self, ctx: Any) -> str:
        from data_builders.sources import SOURCES

        names = SOURCES.names()
        width = max(map(len, names))
        lines = "\n".join(f"  {name:<{width}}  {SOURCES.get(name).help}" for name in names)
        return f"{super().get_help(ctx)}\nSources:\n{lines}\n"
