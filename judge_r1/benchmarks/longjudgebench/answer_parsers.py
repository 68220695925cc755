"""Extracts a JSON object from a judge's text, and scores and labels from the object.

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


class UnreadableAnswer(Exception):
    """The answer cannot be parsed; the message is the reason of the invalid verdict."""


def find_json(text: str, *keys: str) -> dict[str, Any]:
    """The last outermost JSON object after the thinking that holds one of `keys`, or else the last outermost object.

    For `Scores: {"A": {…}, "B": {…}}` this is the whole object; the release takes the rightmost one, B's."""
    objects = list(_outermost(_after_thinking(text)))
    if not objects:
        raise UnreadableAnswer("no_json")
    fitting = [found for found in objects if any(key in found for key in keys)]
    return (fitting or objects)[-1]


def released_json(text: str) -> dict[str, Any]:
    """The release's rule: a fenced object, else the whole text, else the rightmost substring that parses."""
    answer = _THINK.sub("", text).strip()
    for whole in (*_FENCE.findall(answer), answer):
        if (fitting := _loads(whole)) is not None:
            return fitting
    for start in reversed([position for position, letter in enumerate(answer) if letter == "{"]):
        if (found := _decode(answer, start)) is not None:
            return found[0]
    raise UnreadableAnswer("no_json")


def number(values: Mapping[str, Any], key: str, top: float) -> float:
    """A score in [0, top], given as a number or a string (`8`, or `8/10` if top is 10)."""
    if key not in values:
        raise UnreadableAnswer("missing_field")
    value = values[key]
    if isinstance(value, str) and (match := _NUMBER.fullmatch(value)) and match[2] in (None, f"{top:g}"):
        value = float(match[1])
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UnreadableAnswer("bad_value")
    if not 0 <= value <= top:
        raise UnreadableAnswer("out_of_range")
    return float(value)


def word(values: Mapping[str, Any], key: str, *known: str) -> str:
    """One of `known`, in any case."""
    if key not in values:
        raise UnreadableAnswer("missing_field")
    answer = str(values[key]).strip().casefold()
    for one in known:
        if answer == one.casefold():
            return one
    raise UnreadableAnswer("bad_value")


def _after_thinking(text: str) -> str:
    """The text after `</think>`. The opening tag may be part of the chat template and missing here."""
    return _THINK.sub("", text).rpartition("</think>")[2]


def _outermost(text: str) -> Iterator[dict[str, Any]]:
    position = 0
    while (position := text.find("{", position)) >= 0:
        if (found := _decode(text, position)) is None:
            position += 1
        else:
            yield found[0]
            position = found[1]


def _decode(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, dict) else None


def _loads(text: str) -> dict[str, Any] | None:
    found = _decode(text.strip(), 0)
    return found[0] if found and found[1] == len(text.strip()) else None


_DECODER = json.JSONDecoder()
