"""The prompt templates of the builders (`$name` fields in the `*.txt` files of this package), and wording by domain."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template


@dataclass(frozen=True)
class DomainText:
    """The wording of one domain. `role` follows "You are"; `decision_name` follows "the"."""

    role: str
    decision_name: str


DOMAINS: dict[str, DomainText] = {
    "medical": DomainText(
        role="a senior physician who explains diagnoses and treatments step by step",
        decision_name="diagnosis or treatment",
    ),
    "legal": DomainText(
        role="an experienced lawyer who analyses human rights cases step by step",
        decision_name="ruling",
    ),
    "academic": DomainText(
        role="an experienced researcher who reviews papers for journals and conferences",
        decision_name="recommendation",
    ),
}
"""The wording by domain. A source with a new domain adds an entry."""


def domain_text(domain: str) -> DomainText:
    """The wording of a domain; a generic one if the domain is unknown."""
    default = DomainText(role=f"an expert in the field {domain!r}", decision_name="decision")
    return DOMAINS.get(domain, default)


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
