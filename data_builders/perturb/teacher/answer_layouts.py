"""Finds the variants in a teacher's answer: (number, text) for each of them, from the first layout that the answer has.

    Flawed Variant 1:                  the headings that prompts ask for
    ### Variant 1 / **Version #1:**    other headings with a number
    {"variants": [{"number": 1, …}]}   JSON, alone or in the answer's only code fence
    1. …                               a numbered list, if the reference has no numbers of its own
    …                                  the text alone, if one variant is wanted and it has the lines of the reference

An answer that can be read in two ways is not read. A wrong reading makes no false pair, because a variant must equal
the reference except for its flaws.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from data_builders.text_units.steps import numbering

Section = tuple[int, str]

_SIGNS = r"[*_]{0,3}"
_HEADING_END = rf"{_SIGNS}[ \t]*(?::{_SIGNS}|(?=\n|$))"
_ASKED = re.compile(
    rf"^[ \t]*(?:#{{1,6}}[ \t]*)?{_SIGNS}Flawed Variant[ \t]+(?P<number>\d{{1,3}}){_HEADING_END}",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(
    rf"^[ \t]*(?:#{{1,6}}[ \t]{{0,4}})?(?:(?:\d{{1,3}}[.)]|[-*•])[ \t]{{1,4}})?{_SIGNS}"
    r"(?:(?:flawed|altered|modified|changed|incorrect|corrupted|perturbed)[ \t]{1,4})?"
    r"(?:variant|variation|version|reasoning|copy)[ \t]{0,4}(?:#|no\.?|number)?[ \t]{0,4}\(?(?P<number>\d{1,3})\)?"
    rf"{_SIGNS}(?:[ \t]{{1,4}}\([^()\n]{{1,200}}\))?{_HEADING_END}",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM = re.compile(r"^[ \t]{0,8}(?P<number>\d{1,3})[.)](?=\s)", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*$", re.MULTILINE)
_LIST_LINE = re.compile(r"[ \t]*[*_]{0,3}Violated Principles", re.IGNORECASE)
_TEXT_KEYS = ("text", "reasoning", "variant", "content", "flawed_reasoning", "flawed_variant")


class Unclear(ValueError):
    """An answer with two readings. The message says why."""


def find_sections(text: str, wanted: Sequence[int], reference: str = "") -> list[Section]:
    """The numbers of an answer's variants and the texts below them, in order. Raises: Unclear."""
    return (
        asked_sections(text)
        or _json_sections(text, wanted)
        or _below(text, list(_HEADING.finditer(text)))
        or _unnamed_sections(text, wanted, reference)
    )


def asked_sections(text: str) -> list[Section]:
    """The sections under the headings that prompts ask for."""
    return _below(text, list(_ASKED.finditer(text)))


def without_fence(body: str) -> str:
    """A text without the code fence in its first line. A fence below it is removed with other rules."""
    head, line_end, rest = body.lstrip("\n").partition("\n")
    return rest if line_end and _FENCE.fullmatch(head) else body


def _below(text: str, headings: Sequence[re.Match[str]]) -> list[Section]:
    ends = [*(match.start() for match in headings[1:]), len(text)]
    return [(int(match["number"]), text[match.end() : end]) for match, end in zip(headings, ends, strict=False)]


def _unnamed_sections(text: str, wanted: Sequence[int], reference: str) -> list[Section]:
    """A numbered list of texts, or the one text that is wanted."""
    body = "\n".join(line for line in text.strip().split("\n") if not _FENCE.fullmatch(line))
    as_long = _lines(body) - bool(_LIST_LINE.match(body)) == _lines(reference)
    if len(wanted) == 1 and body and as_long and numbering(body) == numbering(reference):
        return [(wanted[0], body)]
    items = list(_ITEM.finditer(body))
    numbers = [int(item["number"]) for item in items]
    if any(mark.strip()[:1].isdigit() for mark in numbering(reference)):
        if numbers:
            raise Unclear("its numbers may be those of variants or of steps: put a heading above each variant")
        return []
    if numbers not in (list(wanted), list(range(1, len(wanted) + 1))):
        return []
    return [(number, section.lstrip(" \t")) for number, (_, section) in zip(wanted, _below(body, items), strict=True)]


def _lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.split("\n"))


def _json_sections(text: str, wanted: Sequence[int]) -> list[Section]:
    """The variants of an answer in JSON: an object or list of texts, or of objects with a number and a text."""
    if (value := _parsed(text)) is None:
        return []
    while isinstance(value, dict) and len(value) == 1 and not re.search(r"\d", next(iter(value))):
        [inner] = value.values()
        if isinstance(inner, str):
            break
        value = inner
    entries: list[tuple[int | None, Any]]
    if isinstance(value, list):
        entries = [(_own_number(item), item) for item in value]
    elif isinstance(value, dict) and all(re.search(r"\d", key) for key in value):
        entries = [(_number(key), item) for key, item in value.items()]
    else:
        entries = [(_own_number(value), value)]
    sections = [(number, _text(item)) for number, item in entries]
    if all(number is not None for number, _ in sections):
        return [(number, body) for number, body in sections if number is not None]
    if any(number is not None for number, _ in sections) or len(sections) != len(wanted):
        raise Unclear(f"its JSON has {len(sections)} texts for {len(wanted)} variants and does not number each")
    return [(number, body) for number, (_, body) in zip(wanted, sections, strict=True)]


def _parsed(text: str) -> Any:
    """The JSON object or list that an answer is, or that its only code fence holds; None without one."""
    bare = text.strip()
    fences = list(_FENCE.finditer(bare))
    if len(fences) == 2:
        bare = bare[fences[0].end() : fences[1].start()].strip()
    if not bare.startswith(("{", "[")):
        return None
    try:
        # Not strict: models write line breaks into JSON strings as they are.
        value = json.loads(bare, strict=False, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        if isinstance(error, Unclear):
            raise
        return None
    return value if isinstance(value, dict | list) and value else None


def _unique(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(fields)
    if len(found) < len(fields):
        raise Unclear("its JSON has a key twice")
    return found


def _number(value: Any) -> int | None:
    digits = re.findall(r"\d+", value) if isinstance(value, str) else [value] if type(value) is int else []
    return int(digits[0]) if len(digits) == 1 and len(str(digits[0])) <= 3 else None


def _own_number(item: Any) -> int | None:
    """The number that an object of one variant gives itself."""
    if not isinstance(item, dict):
        return None
    numbers = [_number(value) for key, value in item.items() if re.search("number|variant|^id$|^index$", key.lower())]
    found = {number for number in numbers if number is not None}
    return found.pop() if len(found) == 1 else None


def _text(item: Any) -> str:
    """The text of one variant, below the list of its principles if it has one. Raises: Unclear."""
    if not isinstance(item, dict):
        return _joined(item)
    listed = {key: value for key, value in item.items() if "principle" in key.lower()}
    texts = {key: value for key, value in item.items() if key not in listed and _number(value) is None}
    named = [key for key in texts if key.lower().replace(" ", "_") in _TEXT_KEYS]
    if len(listed) > 1 or len(keys := named or list(texts)) != 1:
        raise Unclear(f"its JSON has the fields {', '.join(item)}: give each variant a number, principles and a text")
    lines = [f"Violated Principles: {str(value).replace(chr(39), '')}\n" for value in listed.values()]
    return "".join(lines) + _joined(texts[keys[0]])


def _joined(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if isinstance(value, str):
        return value
    raise Unclear("its JSON has something other than a text for a variant")
