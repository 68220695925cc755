"""Scenarios: the hand-written part of a case, read from a text file.

    === slug
    key: value            (one per line)
    --- section
    paragraphs
    --- reasoning
    one step per line

Sections are in the order of the case. `reasoning` holds the steps of the reference.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from judge_r1.core.errors import JudgeError

TEXTS = Path(__file__).parent / "texts"
REASONING = "reasoning"


class ScenarioError(JudgeError):
    """A scenario file is malformed."""


@dataclass(frozen=True)
class Scenario:
    """`sections` maps a name to its text; `steps` are the steps of the reference, without numbers."""

    domain: str
    slug: str
    number: int
    fields: dict[str, str]
    sections: dict[str, str]
    steps: tuple[str, ...]
    generated: bool = False

    def field(self, name: str) -> str:
        """Returns a required field."""
        if name not in self.fields:
            raise ScenarioError(f"scenario {self.domain}/{self.slug}: field {name!r} is missing")
        return self.fields[name]

    def items(self, name: str) -> list[str]:
        """Returns the comma-separated entries of a field; empty if it is absent."""
        return [entry.strip() for entry in self.fields.get(name, "").split(",") if entry.strip()]


def scenarios(domain: str) -> list[Scenario]:
    """Reads the scenarios of a domain, in the order of file names and lines."""
    blocks: list[tuple[Path, str]] = []
    for path in sorted((TEXTS / domain).glob("*.txt")):
        head, *parts = re.split(r"(?m)^=== ", path.read_text("utf-8"))
        if head.strip():
            raise ScenarioError(f"{path}: the file must begin with '=== slug', not {head.strip()[:30]!r}")
        blocks += [(path, part) for part in parts]
    found = [_scenario(domain, path, number, block) for number, (path, block) in enumerate(blocks)]
    twice = sorted({s.slug for s in found if sum(t.slug == s.slug for t in found) > 1})
    if twice:
        raise ScenarioError(f"{domain}: two scenarios have the name {twice[0]!r}")
    return found


def _scenario(domain: str, path: Path, number: int, block: str) -> Scenario:
    head, *parts = re.split(r"(?m)^--- ", block)
    slug, *lines = head.strip().split("\n")
    fields: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(": ")
        if not colon or name in fields:
            raise ScenarioError(f"{path}, scenario {slug!r}: {line!r} is not a unique 'key: value' line")
        fields[name] = value.strip()
    sections = {}
    for part in parts:
        name, _, text = part.partition("\n")
        sections[name.strip()] = text.strip()
    steps = [line.strip() for line in sections.pop(REASONING, "").split("\n") if line.strip()]
    if not steps or not all(sections.values()):
        raise ScenarioError(f"{path}, scenario {slug!r}: a section is empty or {REASONING!r} is missing")
    return Scenario(domain, slug.strip(), number, fields, sections, tuple(steps))
