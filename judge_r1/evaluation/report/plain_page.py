"""Pages without scripts, with tables and charts: one style and one table for all of them."""

from importlib.resources import files
from typing import Any


def plain_page(template: str, *, title: str, **fields: Any) -> str:
    """Renders a template that extends `plain.html` and may import `table` from `table.html` as one file."""
    from jinja2 import DictLoader, Environment, StrictUndefined

    static = files(__package__) / "static"
    shared = {name: (static / name).read_text(encoding="utf-8") for name in ("plain.html", "table.html", "plain.css")}
    environment = Environment(
        loader=DictLoader(shared), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(template).render(title=title, css=shared["plain.css"], **fields) + "\n"
