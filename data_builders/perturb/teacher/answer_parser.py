"""A teacher's answer as numbered variants. What cannot be read is rejected by name, never guessed at.

    Flawed Variant 1:                        header; number signs and bold face around it are allowed
    Violated Principles: [3, 1]              multi only; after the header or on its line, a comma may follow
    1. First, the court …                    the text, up to the next header; one pair of braces around it is left out,
                                             and so is a rule (---) or the end of a code block below it
What stands before the first header (a teacher that thinks aloud) is no variant and is left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from judge_r1.core.principles import NUMBERS

Kind = Literal["single", "multi"]


@dataclass(frozen=True)
class Rejection:
    """Why a variant is of no use: `reason` is counted, `detail` is told to the teacher."""

    number: int
    reason: str
    detail: str


@dataclass(frozen=True)
class Variant:
    """A variant as the teacher wrote it; `listed` are the principles of a multi variant in the order given."""

    number: int
    text: str
    listed: tuple[int, ...] = ()


_HEADER = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*)?[*_]{0,3}Flawed Variant[ \t]+(?P<number>\d{1,3})[*_]{0,3}[ \t]*(?::[*_]{0,3}|(?=\n|$))",
    re.IGNORECASE | re.MULTILINE,
)
_LISTED = re.compile(r"\s*[*_]{0,3}Violated Principles[*_]{0,3}[ \t]*:[*_]{0,3}[ \t]*(?P<list>[^\n]*)", re.IGNORECASE)
_NUMBERS = re.compile(r"\[\s*(?P<numbers>P?\d(?:\s*,\s*P?\d)*)\s*\][ \t]*[,.;]?[*_]{0,3}[ \t]*", re.IGNORECASE)
_RULE = re.compile(r"\s*(?:[-*_=]{3,}|```)?\s*")


def read_answer(
    text: str, wanted: Sequence[int], kind: Kind, *, finished: bool = True
) -> tuple[list[Variant], list[Rejection]]:
    """The variants of an answer, and a rejection for each number in `wanted` that has none: every wanted number comes
    out exactly once, in order. An answer that was cut (`finished` is False) loses the variant it was cut in."""
    found: dict[int, list[str]] = {}
    parts = list(_parts(text))
    for number, body in parts:
        found.setdefault(number, []).append(body)
    cut = parts[-1][0] if parts and not finished else None
    variants, rejections = [], []
    for number in wanted:
        read = _read(number, found.get(number, []), kind, number == cut or (not parts and not finished))
        if isinstance(read, Variant):
            variants.append(read)
        else:
            rejections.append(read)
    return variants, rejections


def unasked(text: str, wanted: Sequence[int]) -> list[int]:
    """The numbers of variants in an answer that nobody asked for."""
    return [number for number, _ in _parts(text) if number not in wanted]


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """(number, what follows its header) in the order of the answer."""
    headers = list(_HEADER.finditer(text))
    ends = [*(match.start() for match in headers[1:]), len(text)]
    for match, end in zip(headers, ends, strict=False):
        yield int(match["number"]), text[match.end() : end]


def _read(number: int, bodies: list[str], kind: Kind, cut: bool) -> Variant | Rejection:
    if cut:
        return Rejection(number, "the answer was cut", "the answer ended before it was complete")
    if not bodies:
        return Rejection(number, "the variant is missing", f"there was no line 'Flawed Variant {number}:' with a text")
    if len(bodies) > 1:
        return Rejection(number, "the variant is given twice", f"'Flawed Variant {number}:' must stand there once")
    [body] = bodies
    listed: tuple[int, ...] = ()
    if kind == "multi":
        read = _principles(number, body)
        if isinstance(read, Rejection):
            return read
        listed, body = read
    lines = body.strip("\n").split("\n")
    while lines and _RULE.fullmatch(lines[-1]):
        lines.pop()
    body = "\n".join(lines).rstrip()
    if re.fullmatch(r"\s*\{.*\}", body, re.DOTALL):
        body = body.strip()[1:-1].strip("\n").rstrip()
    if not body.strip():
        return Rejection(number, "the variant is empty", "its text is missing")
    return Variant(number, body.lstrip(" \t") if "\n" not in body else body, listed)


def _principles(number: int, body: str) -> tuple[tuple[int, ...], str] | Rejection:
    """The list of a multi variant and the text after it."""
    line = _LISTED.match(body)
    if line is None:
        detail = "a line 'Violated Principles: [numbers]' must follow its header"
        return Rejection(number, "no list of principles", detail)
    match = _NUMBERS.match(line["list"])
    if match is None:
        detail = "its list of principles must look like [2, 5]"
        return Rejection(number, "the list of principles cannot be read", detail)
    listed = tuple(int(n.strip().lstrip("Pp")) for n in match["numbers"].split(","))
    if len(set(listed)) != len(listed) or len(listed) < 2 or not set(listed) <= set(NUMBERS):
        detail = (
            f"[{', '.join(map(str, listed))}] is not two or more different numbers from {NUMBERS[0]} to {NUMBERS[-1]}"
        )
        return Rejection(number, "the list of principles is not two or more of the six", detail)
    return listed, line["list"][match.end() :] + body[line.end() :]
