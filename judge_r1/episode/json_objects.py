"""Finds the JSON objects in a text, in time proportional to its length.

`json.JSONDecoder.raw_decode` at each `{` takes quadratic time on hostile replies. Here the objects are found from the
right to the left: an inner object is known before the object around it, and is skipped there as a whole.
"""

import json
import re
from typing import Any

# At most 1,000 digits: json.loads raises for an integer of more than 4,300.
_TOKEN = re.compile(
    r"""[ \t\n\r]*(?:
    (?P<string>"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*")
    |(?P<scalar>-?(?:0|[1-9][0-9]{0,999})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|NaN|-?Infinity)
    |(?P<mark>[][{}:,]))""",
    re.VERBOSE,
)
_MAX_DEPTH = 100
"""Deeper objects count as broken: recursive functions could not process them."""

_VALUES = {"string": "after value", "scalar": "after value", "object": "after value", "[": "value or ]"}
_STATES = {
    "key or }": {"string": ":", "}": "close"},
    "key": {"string": ":"},
    ":": {":": "value"},
    "value": _VALUES,
    "value or ]": _VALUES | {"]": "close"},
    "after value": {",": "next", "}": "close", "]": "close"},
}
"""State and token to the next state. `next` and `close` depend on the open container."""


def json_objects(text: str) -> list[dict[str, Any]]:
    """The outermost JSON objects of a text, in order. A broken object does not hide the whole ones in it."""
    objects, position = [], 0
    for start, (end, _) in reversed(_spans(text).items()):
        if start >= position:
            objects.append(json.loads(text[start:end]))
            position = end
    return objects


def whole_object(text: str) -> dict[str, Any] | None:
    """The JSON object that is the whole text, white space aside."""
    text = text.strip()
    end, _ = _spans(text).get(0, (0, 0))
    return dict(json.loads(text)) if end == len(text) > 0 else None


def last_started_object(text: str) -> dict[str, Any] | None:
    """The JSON object that starts last, which may be inside another one."""
    spans = _spans(text)
    if not spans:
        return None
    start, (end, _) = next(iter(spans.items()))
    return dict(json.loads(text[start:end]))


def _spans(text: str) -> dict[int, tuple[int, int]]:
    """Start -> (end, depth) of each whole object, the last one first."""
    spans: dict[int, tuple[int, int]] = {}
    start = text.rfind("{")
    while start >= 0:
        if (span := _span(text, start, spans)) is not None:
            spans[start] = span
        start = text.rfind("{", 0, start)
    return spans


def _span(text: str, start: int, inner: dict[int, tuple[int, int]]) -> tuple[int, int] | None:
    """End and depth of the object at `start`; None if it is broken. `inner` has the objects that start further on."""
    open_, state, position, depth = ["{"], "key or }", start + 1, 1
    while match := _TOKEN.match(text, position):
        token, position = match["mark"] or str(match.lastgroup), match.end()
        if token == "{":
            if (found := inner.get(match.start("mark"))) is None:
                return None
            token, position = "object", found[0]
            depth = max(depth, len(open_) + found[1])
        if (following := _STATES[state].get(token)) is None:
            return None
        if following == "value or ]":
            open_.append("[")
            depth = max(depth, len(open_))
        elif following == "next":
            following = "key" if open_[-1] == "{" else "value"
        elif following == "close":
            if open_.pop() + token not in ("{}", "[]"):
                return None
            following = "after value"
        if depth > _MAX_DEPTH:
            return None
        if not open_:
            return position, depth
        state = following
    return None
