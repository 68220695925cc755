"""The JSON in a judge's text, and the numbers in the JSON.

Reasons of an invalid answer: `no_json`, `missing_field`, `bad_value`, `out_of_range`, `contradiction`.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

Values = Mapping[str, Any]
_THINK = re.compile(r"<think>.*?</think>", re.DOTALL)
_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:/\s*(\d+))?\s*")
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


class Unread(Exception):
    """An answer that is not what was asked; the message is the reason."""


def found_json(text: str, *keys: str) -> dict[str, Any]:
    """The last outermost JSON object of the text, thinking aside, that holds one of `keys`; the last of any without.

    Outermost: `Scores: {"A": {…}, "B": {…}}` is one object, where the release takes what stands rightmost, B's."""
    objects = list(_outermost(_said(text)))
    if not objects:
        raise Unread("no_json")
    fitting = [found for found in objects if any(key in found for key in keys)]
    return (fitting or objects)[-1]


def released_json(text: str) -> dict[str, Any]:
    """As the release reads it: fenced, else the whole text, else the rightmost substring that parses."""
    said = _THINK.sub("", text).strip()
    for whole in (*_FENCE.findall(said), said):
        if (fitting := _loads(whole)) is not None:
            return fitting
    for start in reversed([at for at, letter in enumerate(said) if letter == "{"]):
        if (found := _decoded(said, start)) is not None:
            return found[0]
    raise Unread("no_json")


def number(values: Mapping[str, Any], key: str, top: float) -> float:
    """A score in [0, top]: a number, or a string that is one (`8`, `8/10` where top is 10)."""
    if key not in values:
        raise Unread("missing_field")
    value = values[key]
    if isinstance(value, str) and (match := _NUMBER.fullmatch(value)) and match[2] in (None, f"{top:g}"):
        value = float(match[1])
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Unread("bad_value")
    if not 0 <= value <= top:
        raise Unread("out_of_range")
    return float(value)


def word(values: Mapping[str, Any], key: str, *known: str) -> str:
    """One of `known`, in any case."""
    if key not in values:
        raise Unread("missing_field")
    said = str(values[key]).strip().casefold()
    for one in known:
        if said == one.casefold():
            return one
    raise Unread("bad_value")


def _said(text: str) -> str:
    """What follows the thinking; a template may have opened it before the text begins."""
    return _THINK.sub("", text).rpartition("</think>")[2]


def _outermost(text: str) -> Iterator[dict[str, Any]]:
    at = 0
    while (at := text.find("{", at)) >= 0:
        if (found := _decoded(text, at)) is None:
            at += 1
        else:
            yield found[0]
            at = found[1]


def _decoded(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, dict) else None


def _loads(text: str) -> dict[str, Any] | None:
    found = _decoded(text.strip(), 0)
    return found[0] if found and found[1] == len(text.strip()) else None


_DECODER = json.JSONDecoder()
