"""Templates of the builders' prompts: `$name` fields in the `*.txt` files beside this one."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template


@cache
def template(name: str) -> Template:
    """A file without the line ends around its text."""
    return Template((files(__package__) / f"{name}.txt").read_text(encoding="utf-8").strip("\n"))


def fill(name: str, fields: Mapping[str, str]) -> str:
    """A template with every field filled. Errors: KeyError for one that is not given."""
    return template(name).substitute(fields)


def guard(text: str, *tags: str) -> str:
    """Text of others with look-alike brackets where it writes one of the tags that part the material."""
    return re.sub(rf"<(/?(?:{'|'.join(tags)}))>", r"‹\1›", text)
