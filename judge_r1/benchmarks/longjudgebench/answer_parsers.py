"""Extracts a JSON object from a judge's text, and scores and labels from the object.

Reasons of an invalid answer: `no_json`, `missing_field`, `bad_value`, `out_of_range`, `contradiction`.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from judge_r1.episode.answer_text import answer_text
from judge_r1.episode.json_objects import last_started_object, whole_object
from judge_r1.episode.readable_json import readable_values

Values = Mapping[str, Any]
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)(?:\s*/\s*(\d+))?")
_FENCE = re.compile(r"```(?:json)?(.*?)```", re.DOTALL)


class UnreadableAnswer(Exception):
    """The answer cannot be parsed; the message is the reason of the invalid verdict."""


def find_json(text: str, *keys: str) -> dict[str, Any]:
    """The last outermost JSON object after the thinking that holds one of `keys`, or else the last outermost object.

    For `Scores: {"A": {…}, "B": {…}}` this is the whole object; the release takes the rightmost one, B's."""
    objects = readable_values(answer_text(text))
    if not objects:
        raise UnreadableAnswer("no_json")
    fitting = [found for found in objects if any(key in found for key in keys)]
    return (fitting or objects)[-1]


def released_json(text: str) -> dict[str, Any]:
    """The release's rule: a fenced object, else the whole text, else the rightmost substring that parses."""
    answer = answer_text(text).strip()
    for whole in (*_FENCE.findall(answer), answer):
        if (found := whole_object(whole)) is not None:
            return found
    if (last := last_started_object(answer)) is None:
        raise UnreadableAnswer("no_json")
    return last


def number(values: Mapping[str, Any], key: str, top: float) -> float:
    """A score in [0, top], given as a number or a string (`8`, or `8/10` if top is 10)."""
    if key not in values:
        raise UnreadableAnswer("missing_field")
    value = values[key]
    if isinstance(value, str) and (match := _NUMBER.fullmatch(value.strip())) and match[2] in (None, f"{top:g}"):
        value = float(match[1])
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableAnswer("bad_value")
    if isinstance(value, float) and not math.isfinite(value):  # isfinite fails for an integer beyond all floats
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
