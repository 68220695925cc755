"""The grammar of a SPEC, for judges and teachers: `[ROW=]NAME[:key=value,…][@BACKEND]`.

A joint SPEC holds others in brackets, separated by `|`: `NAME[:key=value,…](SPEC|SPEC)`. `SPEC|SPEC` alone is a panel.
Lists in a value are separated by `/`.
"""

import re
from dataclasses import dataclass

from judge_r1.core.errors import JudgeError

PANEL = "panel"
_FORM = re.compile(
    r"(?:(?P<row>[\w .+-]+)=)?(?P<name>[a-z][a-z0-9-]*)(?::(?P<options>[^@(]*))?"
    r"(?:@(?P<backend>.*)|\((?P<members>.*)\))?"
)


class BadSpec(JudgeError):
    """A SPEC that does not follow the grammar."""


@dataclass(frozen=True)
class Spec:
    """A parsed SPEC. `row` is None, `backend` "" and `members` empty where it has none; `options` are as written."""

    row: str | None
    name: str
    options: tuple[str, ...] = ()
    backend: str = ""
    members: tuple[str, ...] = ()

    def __str__(self) -> str:
        options = f":{','.join(self.options)}" if self.options else ""
        backend = f"({'|'.join(self.members)})" if self.members else f"@{self.backend}" if self.backend else ""
        return f"{self.row + '=' if self.row else ''}{self.name}{options}{backend}"


def parse_spec(text: str) -> Spec:
    """Raises: BadSpec."""
    first, *others = split_members(text)
    if others:
        row = _FORM.fullmatch(first)
        name = row["row"] if row else None
        return Spec(name, PANEL, members=(first[len(name) + 1 :] if name else first, *others))
    if not (found := _FORM.fullmatch(text)):
        raise BadSpec(
            f"{text!r} must read [ROW=]NAME[:option=value,...][@MODEL], or NAME(SPEC|SPEC), ROW with letters, digits, "
            "spaces and _ . + - alone"
        )
    if found["backend"] == "":
        raise BadSpec(f"{text!r} names nothing after its @: write a MODEL there, or leave out the @")
    options = [] if found["options"] is None else found["options"].split(",")
    if not all(options):
        raise BadSpec(
            f"{text!r} has an empty option: write NAME=VALUE there, or leave out the {':' if options == [''] else ','}"
        )
    # The same option twice is harmless. Two values of one option are not: the second would win in silence.
    names = [option.partition("=")[0] for option in dict.fromkeys(options)]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise BadSpec(f"{text!r} has two values of {repeated[0]}: give one of them")
    members = tuple(split_members(found["members"] or "")) if found["members"] else ()
    return Spec(found["row"], found["name"], tuple(options), found["backend"] or "", members)


def split_members(text: str) -> list[str]:
    """The parts between the `|` that stand in no brackets. Raises: BadSpec if one of several is empty."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    if len(parts) > 1 and (empty := [number for number, part in enumerate(parts, 1) if not part.strip()]):
        raise BadSpec(f"{text!r}: part {empty[0]} of {len(parts)} is empty: write a SPEC there, or leave out its |")
    return parts
