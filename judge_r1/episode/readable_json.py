"""Reads the JSON objects of an answer as a person does, for evaluations. Rewards and the strict parser do not use it.

Besides JSON it takes the usual slips of language models: any white space between tokens, comments, a comma too many,
keys and words without quotes, single and curly quotes, line breaks, tabs, backslashes and quotes inside a text,
Python's constants, and numbers such as `.9`. An object that is not closed, or lacks a comma or a colon, is not read.
"""

import json
import re
from bisect import bisect_left
from contextlib import suppress
from typing import Any, NamedTuple

_SPACE = re.compile(r"(?:[\s\u200b\ufeff]|//[^\n]{0,300}\n|/\*[^*]{0,300}\*/)*")
_NUMBER = re.compile(r"[+-]?(?:\d{1,1000}\.?\d{0,300}|\.\d{1,300})(?:[eE][+-]?\d{1,300})?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_][\w.+/<>= -]{0,80}?(?=[\s\u200b\ufeff]*[,:}\]])")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "/": "/", "\\": "\\"}
_CLASSES = ('"', "'", "\u201c\u201d\u201e\u201f", "\u2018\u2019\u201a\u201b")
"""Quotes that close each other: what is typed straight, and what is typed curly."""
_CLASS = {quote: quotes for quotes in _CLASSES for quote in quotes}
_QUOTES = re.compile(rf"\\.|[{''.join(_CLASS)}]", re.DOTALL)
_AFTER_TEXT = re.compile(rf"{_SPACE.pattern}[,:}}\]]")
_OBJECT = re.compile(rf"\{{(?=[\s\u200b\ufeff]*[A-Za-z_}}/{''.join(_CLASS)}])")
"""The start of what may be an object: a key, a comment or the end follows."""
_MAX_DEPTH = 100
_STEPS = 30
"""Values and their characters to read for each character of an answer, so that hostile text takes no quadratic time."""


class Repeated(tuple[Any, ...]):
    """Two different values of a key that an object repeats."""


class Found(NamedTuple):
    """An object and its place, `text[start:end]`."""

    value: dict[str, Any]
    start: int
    end: int


def readable_objects(text: str) -> list[Found]:
    """The outermost objects of a text, in order. A broken object does not hide the whole ones in it."""
    found, position = list[Found](), 0
    for start, (value, end, _) in reversed(_Reader(text).objects.items()):
        if start >= position:
            found.append(Found(value, start, end))
            position = end
    return found


def readable_values(text: str) -> list[dict[str, Any]]:
    """The outermost objects of a text, in order, without their places."""
    return [found.value for found in readable_objects(text)]


def number_within(value: Any, lowest: float, highest: float) -> float | None:
    """A value that is a number and within the bounds; None for others. `true` is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not lowest <= value <= highest:
        return None
    return float(value)


class _Broken(Exception):
    pass


class _Reader:
    """Reads the objects from the right to the left: an inner object is known before the one around it."""

    def __init__(self, text: str) -> None:
        self._text, self._left = text, _STEPS * len(text) + 1000
        self._ends: dict[str, list[int]] = {quotes: [] for quotes in _CLASSES}
        for match in _QUOTES.finditer(text):
            if match[0] in _CLASS and _AFTER_TEXT.match(text, match.end()):
                self._ends[_CLASS[match[0]]].append(match.start())
        self.objects: dict[int, tuple[dict[str, Any], int, int]] = {}
        """Start -> (object, end, depth) of each whole object, the last one first."""
        for start in reversed([match.start() for match in _OBJECT.finditer(text)]):
            with suppress(_Broken):
                self.objects[start] = self._object(start)

    def _object(self, start: int) -> tuple[dict[str, Any], int, int]:
        members: dict[str, Any] = {}
        depth, position = 1, self._skip(start + 1)
        while not self._at(position, "}"):
            name, position, _ = self._value(position, 1)
            if not isinstance(name, str) or not self._at(position := self._skip(position), ":"):
                raise _Broken
            value, position, inner = self._value(self._skip(position + 1), 1)
            depth = max(depth, inner + 1)
            # Kept as a contradiction: Python's parser would take the last value, a person would ask which one counts.
            if isinstance(known := members.get(name, value), Repeated):
                value = known
            elif known is not value and repr(known) != repr(value):
                value = Repeated((known, value))
            members[name] = value
            position = self._next(position, "}")
        if depth > _MAX_DEPTH:
            raise _Broken
        return members, position + 1, depth

    def _array(self, start: int, level: int) -> tuple[list[Any], int, int]:
        values: list[Any] = []
        depth, position = 1, self._skip(start + 1)
        while not self._at(position, "]"):
            value, position, inner = self._value(position, level + 1)
            depth = max(depth, inner + 1)
            values.append(value)
            position = self._next(position, "]")
        return values, position + 1, depth

    def _value(self, position: int, level: int) -> tuple[Any, int, int]:
        """A value, its end and its depth. `level` counts the arrays around it."""
        self._left -= 1
        char = self._text[position : position + 1]
        if self._left < 0 or level > _MAX_DEPTH:
            raise _Broken
        if char == "{" and position in self.objects:
            return self.objects[position]
        if char == "[":
            return self._array(position, level)
        if char in _CLASS:
            return self._quoted(position, self._ends[_CLASS[char]])
        if match := _NUMBER.match(self._text, position):
            return (float if set(match[0]) & set(".eE") else int)(match[0]), match.end(), 0
        if match := _WORD.match(self._text, position):
            return _WORDS.get(match[0], match[0]), match.end(), 0
        raise _Broken

    def _quoted(self, start: int, ends: list[int]) -> tuple[str, int, int]:
        """A text ends at the first quote with a comma, a colon or a bracket behind it."""
        if (index := bisect_left(ends, start + 1)) == len(ends):
            raise _Broken
        self._left -= ends[index] - start
        return _content(self._text[start + 1 : ends[index]]), ends[index] + 1, 0

    def _next(self, position: int, closing: str) -> int:
        """The start of the next member, or of the closing bracket."""
        position = self._skip(position)
        if self._at(position, ","):
            return self._skip(position + 1)
        if not self._at(position, closing):
            raise _Broken
        return position

    def _skip(self, position: int) -> int:
        match = _SPACE.match(self._text, position)
        return match.end() if match else position

    def _at(self, position: int, char: str) -> bool:
        return self._text[position : position + 1] == char


def _content(written: str) -> str:
    """A text as JSON reads it, and with the slips that JSON does not allow."""
    try:
        return str(json.loads(f'"{written}"'))
    except ValueError:
        text = _ESCAPE.sub(_unescaped, written)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # joins escaped pairs


def _unescaped(match: re.Match[str]) -> str:
    r"""The character of an escape; `\(` and the like stay as they are."""
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, match[0])
