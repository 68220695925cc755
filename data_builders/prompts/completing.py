"""The prompts by which a teacher completes a case: the reasoning that a case lacks, the paper that is too long."""

import re
from collections.abc import Mapping
from importlib.resources import files
from string import Template

from data_builders.domains import domain_text

_TAG = re.compile(r"<(/?(?:facts|articles|paper|review))>")


def prompt(name: str, domain: str, material: Mapping[str, str], wanted: Mapping[str, str | int]) -> tuple[str, str]:
    """(system, user) of the templates `name`_system and `name`: `material` is text of others, which cannot write the
    tags that part it; `wanted` is ours."""
    shown = {field: _TAG.sub(r"‹\1›", text) for field, text in material.items()}
    system = _template(f"{name}_system").substitute(role=domain_text(domain).role)
    return system, _template(name).substitute({**shown, **{field: str(value) for field, value in wanted.items()}})


def _template(name: str) -> Template:
    return Template((files("data_builders.prompts") / f"{name}.txt").read_text(encoding="utf-8").strip("\n"))
