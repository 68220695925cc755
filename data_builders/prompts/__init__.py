"""Fills the prompt templates of the builders: `$name` fields in the `*.txt` files of this package."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template

from data_builders.domain_wording import domain_text

_COMPLETION_TAGS = ("facts", "articles", "paper", "review")


@cache
def template(name: str) -> Template:
    """The template of a file, without surrounding line ends."""
    return Template((files(__package__) / f"{name}.txt").read_text(encoding="utf-8").strip("\n"))


def fill(name: str, fields: Mapping[str, str]) -> str:
    """A template with all fields filled. Raises: KeyError for a missing field."""
    return template(name).substitute(fields)


def guard(text: str, *tags: str) -> str:
    """Untrusted text with look-alike brackets in place of the given tags, which delimit parts of the prompt."""
    return re.sub(rf"<(/?(?:{'|'.join(tags)}))>", r"‹\1›", text)


def shared_beginning(user: str, tag: str) -> str:
    """The text up to the end of a part, which all prompts on the same material share; empty without such a part. As
    `guard` neutralises tags in the parts, the first one ends it."""
    before, end, _ = user.partition(f"</{tag}>")
    return before + end if end else ""


def completion_prompt(
    name: str, domain: str, material: Mapping[str, str], wanted: Mapping[str, str | int]
) -> tuple[str, str]:
    """(system, user) of the templates `name`_system and `name`, by which a teacher completes a case. `material` is
    untrusted text, in which tags are neutralised; `wanted` is trusted."""
    shown = {field: guard(text, *_COMPLETION_TAGS) for field, text in material.items()}
    system = fill(f"{name}_system", {"role": domain_text(domain).role})
    return system, fill(name, {**shown, **{field: str(value) for field, value in wanted.items()}})
