"""Parses a teacher's answer into numbered variants. Unreadable variants are rejected with a reason, never guessed.

    Flawed Variant 1:                        number signs and bold around it are allowed
    Violated Principles: [3, 1]              multi only
    1. First, the court …                    the text, up to the next heading; or NO PLACE

Text before the first heading, braces or a code fence around a text and a rule below it are removed. Other clear layouts
are read, too (`answer_layouts`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from data_builders.perturb.teacher.answer_layouts import Unclear, asked_sections, find_sections, without_fence
from judge_r1.core.principles import NUMBERS

Kind = Literal["single", "multi"]


@dataclass(frozen=True)
class Rejection:
    """A rejected variant: `reason` is counted, `detail` becomes part of the next prompt to the teacher."""

    number: int
    reason: str
    detail: str


@dataclass(frozen=True)
class Variant:
    """A variant as written; `principles` are those that a multi variant lists, in its order."""

    number: int
    text: str
    principles: tuple[int, ...] = ()


_PRINCIPLES_LINE = re.compile(
    r"\s*[*_]{0,3}Violated Principles[*_]{0,3}[ \t]*:[*_]{0,3}[ \t]*(?P<list>[^\n]*)", re.IGNORECASE
)
_NUMBERS = re.compile(r"\[\s*(?P<numbers>P?\d(?:\s*,\s*P?\d)*)\s*\][ \t]*[,.;]?[*_]{0,3}[ \t]*", re.IGNORECASE)
_RULE = re.compile(r"(?:[-*_=]{3,}|```)?")
NO_PLACE, DECLINED = "no natural place", "the teacher declines the request"
"""The reasons where the teacher says that the reasoning has no place for such a flaw, or that it writes none."""
FINAL = (NO_PLACE, DECLINED)
"""The reasons after which nothing is requested again."""
_NO_PLACE = re.compile(r"[\W_]*(?:NO PLACE\b.*|(?i:no place)[\W_]*)")
_DECLINED = re.compile(
    r"\W*(?:(?:unfortunately|sorry|i(?:['’]m| am) sorry|i apologi[sz]e)\b[^.\n]{0,40}?)?"
    r"\b(?:i|we) (?:can(?:['’]t|not| not)|could not|won['’]t|will not|am (?:not able|unable)|must decline|decline)\b",
    re.IGNORECASE,
)


def parse_answer(
    text: str, wanted: Sequence[int], kind: Kind, *, finished: bool = True, reference: str = ""
) -> tuple[list[Variant], list[Rejection]]:
    """Return the variants of an answer, and a rejection for each number in `wanted` without a valid variant.

    Every wanted number is returned exactly once, in order. If the answer was truncated (`finished` is False), its
    last variant is rejected. Some layouts are clear only beside the `reference`.
    """
    if _says_no_place(text.strip().strip("`")):
        return [], [_no_place(number) for number in wanted]
    bodies: dict[int, list[str]] = {}
    try:
        sections = find_sections(text, wanted, reference)
    except Unclear as error:
        return [], [Rejection(number, "the answer is unclear", str(error)) for number in wanted]
    if not sections and _DECLINED.match(text):
        return [], [Rejection(number, DECLINED, "the request was declined") for number in wanted]
    for number, body in sections:
        bodies.setdefault(number, []).append(body)
    truncated = sections[-1][0] if sections and not finished else None
    variants, rejections = [], []
    for number in wanted:
        is_truncated = number == truncated or (not sections and not finished)
        parsed = _parse_variant(number, bodies.get(number, []), kind, is_truncated)
        if isinstance(parsed, Variant):
            variants.append(parsed)
        else:
            rejections.append(parsed)
    return variants, rejections


def unrequested_variants(text: str, wanted: Sequence[int]) -> list[int]:
    """Return the numbers of variants in an answer that are not in `wanted`."""
    return [number for number, _ in asked_sections(text) if number not in wanted]


def _parse_variant(number: int, bodies: list[str], kind: Kind, is_truncated: bool) -> Variant | Rejection:
    if is_truncated:
        return Rejection(number, "the answer was truncated", "the answer ended before it was complete")
    if not bodies:
        return Rejection(number, "the variant is missing", f"there was no line 'Flawed Variant {number}:' with a text")
    if len(bodies) > 1:
        return Rejection(number, "the variant is given twice", f"'Flawed Variant {number}:' must stand there once")
    body = without_fence(bodies[0])
    line = _PRINCIPLES_LINE.match(body)
    if _says_no_place(body) or (line and (_says_no_place(line["list"]) or _says_no_place(body[line.end() :]))):
        return _no_place(number)
    principles: tuple[int, ...] = ()
    if kind == "multi":
        parsed = _parse_principles(number, body)
        if isinstance(parsed, Rejection):
            return parsed
        principles, body = parsed[0], without_fence(parsed[1])
    lines = body.strip("\n").split("\n")
    while lines and _RULE.fullmatch(lines[-1].strip()):
        lines.pop()
    body = "\n".join(lines).rstrip()
    if re.fullmatch(r"\s*\{.*\}", body, re.DOTALL):
        body = body.strip()[1:-1].strip("\n").rstrip()
    if not body.strip():
        return Rejection(number, "the variant is empty", "its text is missing")
    return Variant(number, body.lstrip(" \t") if "\n" not in body else body, principles)


def _says_no_place(text: str) -> bool:
    """Whether the first line says so. A reason may follow."""
    return _NO_PLACE.fullmatch(text.lstrip().partition("\n")[0]) is not None


def _no_place(number: int) -> Rejection:
    return Rejection(number, NO_PLACE, "the reasoning has no natural place for such a flaw")


def _parse_principles(number: int, body: str) -> tuple[tuple[int, ...], str] | Rejection:
    """Return the principles that a multi variant lists, and the text after the list."""
    line = _PRINCIPLES_LINE.match(body)
    if line is None:
        detail = "a line 'Violated Principles: [numbers]' must follow its header"
        return Rejection(number, "no list of principles", detail)
    match = _NUMBERS.match(line["list"])
    if match is None:
        detail = "its list of principles must look like [2, 5]"
        return Rejection(number, "the list of principles cannot be read", detail)
    principles = tuple(int(n.strip().lstrip("Pp")) for n in match["numbers"].split(","))
    if len(set(principles)) != len(principles) or len(principles) < 2 or not set(principles) <= set(NUMBERS):
        listed = ", ".join(map(str, principles))
        detail = f"[{listed}] is not two or more different numbers from {NUMBERS[0]} to {NUMBERS[-1]}"
        return Rejection(number, "the list of principles is not two or more of the six", detail)
    return principles, line["list"][match.end() :] + body[line.end() :]
