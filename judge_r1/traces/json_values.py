"""The JSON values of a file: one value, JSON Lines, or values one after the other. Each is parsed once."""

import json
from collections.abc import Iterator
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import short_name
from judge_r1.files.jsonl import open_to_read

MAX_DEPTH = 200


class BadTrace(JudgeError):
    """A file is not a trace that can be read. The message says what was seen, and what to do."""


class JsonValues:
    """The values of a file in order. They stay in memory, so that they may be read again, unless `keep` is false."""

    def __init__(self, path: Path) -> None:
        self._read: list[Any] = []
        self._rest = _parsed(path)

    def values(self, *, keep: bool = True) -> Iterator[Any]:
        """Raises: JudgeError if the file cannot be read, BadTrace if it is not JSON."""
        if keep:
            position = 0
            while position < len(self._read) or self._more():
                yield self._read[position]
                position += 1
            return
        while self._read or self._more():
            yield self._read.pop(0)

    def _more(self) -> bool:
        before = len(self._read)
        self._read += islice(self._rest, 1)
        return len(self._read) > before


def _parsed(path: Path) -> Iterator[Any]:
    with open_to_read(path) as binary:
        file = TextIOWrapper(binary, encoding="utf-8-sig", newline="\n")
        before = -1
        decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number)
        try:
            for line in file:
                before += 1
                if not line.strip():
                    continue
                try:
                    value, end = decoder.raw_decode(line, _start(line, 0))
                except _Repeated:
                    raise
                except ValueError:
                    end = 0
                if not end or line[end:].strip():  # a value of several lines, or several values in a line
                    yield from _one_after_another(path, decoder, line + file.read())
                    return
                yield _checked(value, path)
        except RecursionError:
            raise _too_deep(path) from None
        except ValueError as error:
            raise BadTrace(f"{path} is not valid JSON ({_reason(error, before)}") from None


def _reason(error: ValueError, before: int) -> str:
    """Why a file is not valid, and what to do. `before` counts the lines before those that were parsed."""
    reason = short_name(" ".join(str(error).partition("\n")[0].split()))
    advice = "a trace is JSON, JSON Lines or an Inspect log"
    if isinstance(error, json.JSONDecodeError):
        reason = f"{short_name(error.msg)}: line {before + error.lineno} column {error.colno}"
        if error.msg.startswith("Unterminated") or error.pos >= len(error.doc.rstrip()) > 1:
            advice = "it is cut within a value: export it again, or remove what follows its last whole line"
    return f"{reason}): {advice}"


def _one_after_another(path: Path, decoder: json.JSONDecoder, text: str) -> Iterator[Any]:
    position = _start(text, 0)
    while position < len(text):
        value, end = decoder.raw_decode(text, position)
        yield _checked(value, path)
        position = _start(text, end)


def _start(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


class _Repeated(ValueError):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Repeated(f"an object has the key {short_name(twice)!r} twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _checked(value: Any, path: Path) -> Any:
    """Raises: BadTrace if a value is nested too deeply."""
    level, depth = [value] if isinstance(value, dict | list) else [], 0
    while level:
        if (depth := depth + 1) > MAX_DEPTH:
            raise _too_deep(path)
        inner = (own for one in level for own in (one.values() if isinstance(one, dict) else one))
        level = [own for own in inner if isinstance(own, dict | list)]
    return value


def _too_deep(path: Path) -> BadTrace:
    return BadTrace(f"{path}: a value is nested more than {MAX_DEPTH} levels")
