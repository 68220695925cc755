"""Matters: what a generated case may contain. A matter is stated in the case and judged in the reference.

    === topic
    key: value // another value
    section: statement // the same in other words => judgment
    matter 2 section: statement => judgment => flaw => what to do ## statement => judgment => merit

Lines with `=>` are matters. Those that begin with `matter` have two sides, for the worse and for the better, and a
weight (1 if it is left out). Each text is a template of `Filling`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge_r1.core.errors import JudgeError

FOLDER = Path(__file__).parent / "matters"
GENERAL = "any"
"""The topic whose matters fit all others."""
_LINE = re.compile(r"(?:matter (?:(\d) )?)?([a-z_]+): (.+)")


class MatterError(JudgeError):
    """A file of matters is malformed."""


@dataclass(frozen=True)
class Side:
    """How a matter is stated (in one of several ways) and judged, and what the judgment says in short."""

    statements: tuple[str, ...]
    judged: str
    point: str = ""
    request: str = ""


@dataclass(frozen=True)
class Matter:
    """A matter of a section. `better` is None if it has one side only."""

    section: str
    worse: Side
    better: Side | None = None
    weight: int = 1


@dataclass(frozen=True)
class Topic:
    """`fields` maps a key to its alternatives."""

    name: str
    fields: Mapping[str, tuple[str, ...]]
    matters: Sequence[Matter]

    def of(self, section: str) -> list[Matter]:
        """Returns the matters of a section that have one side."""
        return [matter for matter in self.matters if matter.section == section and matter.better is None]

    @property
    def two_sided(self) -> list[Matter]:
        """Returns the matters that may speak for either side."""
        return [matter for matter in self.matters if matter.better is not None]


def topics(domain: str) -> dict[str, Topic]:
    """Reads `matters/DOMAIN.txt`."""
    path = FOLDER / f"{domain}.txt"
    _, *blocks = re.split(r"(?m)^=== ", path.read_text("utf-8"))
    found = [_topic(path, *block.strip().split("\n")) for block in blocks]
    return {topic.name: topic for topic in found}


def _topic(path: Path, name: str, *lines: str) -> Topic:
    fields: dict[str, tuple[str, ...]] = {}
    matters = []
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None:
            raise MatterError(f"{path}, topic {name!r}: {line[:40]!r} is not a 'key: value' line")
        weight, key, text = match.groups()
        if "=>" in text:
            sides = [_side(path, side) for side in text.split(" ## ")]
            matters.append(Matter(key, sides[0], sides[1] if len(sides) > 1 else None, int(weight or 1)))
        else:
            fields[key] = tuple(text.split(" // "))
    return Topic(name, fields, matters)


def _side(path: Path, text: str) -> Side:
    parts = [part.strip() for part in text.split("=>")]
    if not 2 <= len(parts) <= 4 or not all(parts):
        raise MatterError(f"{path}: {text[:40]!r} must be 'statement => judgment', with up to two more parts")
    return Side(tuple(parts[0].split(" // ")), *parts[1:])
