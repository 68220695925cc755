"""The JSON values of a file: one value, JSON Lines, or values one after the other. Each is parsed once."""

import json
from collections.abc import Iterator
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from judge_r1.core.jsonl import open_to_read
from judge_r1.core.text_check import short_name
from judge_r1.core.trace_formats.errors import BadTrace

MAX_DEPTH = 200


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
        decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number)
        try:
            for line in file:
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
            reason = short_name(" ".join(str(error).partition("\n")[0].split()))
            raise BadTrace(
                f"{path} is not valid JSON ({reason}): a trace is JSON, JSON Lines or an Inspect log"
            ) from None


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
