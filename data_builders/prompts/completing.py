"""The prompts by which a teacher completes a case: the reasoning that a case lacks, the paper that is too long."""

from collections.abc import Mapping

from data_builders.domain_wording import domain_text
from data_builders.prompts.templates import fill, guard

_TAGS = ("facts", "articles", "paper", "review")


def prompt(name: str, domain: str, material: Mapping[str, str], wanted: Mapping[str, str | int]) -> tuple[str, str]:
    """(system, user) of the templates `name`_system and `name`: `material` is text of others, which cannot write the
    tags that part it; `wanted` is ours."""
    shown = {field: guard(text, *_TAGS) for field, text in material.items()}
    system = fill(f"{name}_system", {"role": domain_text(domain).role})
    return system, fill(name, {**shown, **{field: str(value) for field, value in wanted.items()}})
