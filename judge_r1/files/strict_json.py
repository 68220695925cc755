"""Reads JSON (RFC 8259) strictly: what two readers could understand differently is an error."""

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from judge_r1.core.errors import JudgeError, explain, invalid_as
from judge_r1.files.text_file import read_bytes

M = TypeVar("M", bound=BaseModel)
MAX_DIGITS = 300
"""Longer numbers do not fit into a float."""
_SURROGATE = "it holds half of a surrogate pair (\\ud800 to \\udfff); remove it"
_FORMATS = {
    b"\xef\xbb\xbf": "it starts with a byte order mark; save it as UTF-8 without one",
    b"\xff\xfe": "it is UTF-16; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16; save it as UTF-8",
    b"\x1f\x8b": "it is compressed with gzip; unpack it first",
}
"""First bytes of other formats -> what is wrong."""
_REASONS = {
    "recursion limit exceeded": "it is nested more than 200 levels deep",
    "number out of range": f"a number has more than {MAX_DIGITS} digits",
    "invalid unicode code point": "it is not UTF-8",
    "unexpected end of hex escape": _SURROGATE,
    "lone leading surrogate": _SURROGATE,
    "EOF while parsing": "it ends in the middle of a value, so it may be cut off",
}
"""Errors of pydantic's parser -> what is wrong, in plain words."""


class BadJson(JudgeError, ValueError):
    """A text is not valid JSON. The message says where, and why; `reason` is the second part alone."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message


def parse_json(text: bytes | str, where: object) -> Any:
    """The value of a JSON text. `where` names the text in messages: a file, a file and line, a URL.

    Rejects repeated keys, NaN and Infinity, numbers that do not fit into a float, more than 200 levels, a byte order
    mark, lone surrogates, and encodings other than UTF-8.

    Raises:
        BadJson: The text is not valid.
    """
    try:
        text = text.encode() if isinstance(text, str) else text
        from_json(text, allow_inf_nan=False)  # checks depth, encoding and surrogates, which `json` does not
        return json.loads(text, object_pairs_hook=_unique, parse_float=_finite, parse_int=_bounded)
    except BadJson as error:
        reason = str(error)
    except UnicodeEncodeError:
        reason = _SURROGATE
    except ValueError as error:
        reason = _explain(text, str(error)) if isinstance(text, bytes) else str(error)
    raise BadJson(f"{where} is not valid JSON: {reason}", f"not valid JSON: {reason}")


def read_json(path: Path) -> Any:
    """The value of a JSON file. Raises JudgeError if it cannot be read, and BadJson."""
    return parse_json(read_bytes(path), path)


def parse_model(model: type[M], text: bytes | str, where: object) -> M:
    """A JSON text as `model`, checked like `parse_json`.

    Raises:
        BadJson: The text is not valid JSON, or does not match the model.
    """
    parse_json(text, where)
    try:
        # After parse_json, because pydantic takes the last of repeated keys and accepts NaN.
        return model.model_validate_json(text)
    except ValidationError as error:
        raise BadJson(f"{where}: {explain(error)}", explain(error)) from None


def is_json(text: bytes) -> bool:
    """Whether a text is one JSON value."""
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def read_model(model: type[M], path: Path) -> M:
    """A JSON file as `model`. Raises JudgeError if it cannot be read, and BadJson."""
    return parse_model(model, read_bytes(path), path)


def is_torn(line: bytes, model: type[BaseModel] | None = None) -> bool:
    """Whether a line is the beginning of a JSON object (with fields of `model`), as a kill during a write leaves it.
    Anything else is no torn line: it may be all of a file that somebody named by mistake."""
    try:
        from_json(line)
    except ValueError as error:
        if not line.startswith(b"{") or not str(error).startswith("EOF while parsing"):
            return False
        names = {field.alias or name for name, field in model.model_fields.items()} if model else ()
        return model is None or set(from_json(line, allow_partial=True)) <= set(names)
    return False


def read_checked(path: Path, shape: TypeAdapter[Any]) -> Any:
    """The value of a JSON file, as it is there, after a check of its shape.

    Raises:
        BadJson: The file is not valid JSON, or does not have this shape.
    """
    data = read_json(path)
    check_shape(data, shape, path)
    return data


def check_shape(data: Any, shape: TypeAdapter[Any], where: object) -> None:
    """Raises: BadJson if a value does not have this shape."""
    with invalid_as(BadJson, where):
        shape.validate_python(data, strict=True)


def _explain(text: bytes, error: str) -> str:
    """The reason why pydantic's parser rejects a text with `error`, and its position."""
    if not text.strip():
        return "it is empty"
    for start, problem in _FORMATS.items():
        if text.startswith(start):
            return problem
    # UTF-16 without a byte order mark: every other byte of ASCII is zero.
    if b"\0" in text[:2] and len(text) > 1:
        return _FORMATS[b"\xff\xfe"]
    reason, _, position = error.partition(" at ")
    if b"\n" not in text.strip():
        position = re.sub(r"^line \d+ (column 0)?", "", position)
    reason = next((words for start, words in _REASONS.items() if reason.startswith(start)), reason)
    return f"{reason} ({position})" if position else reason


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise BadJson(f"it repeats the key {repeated[:80]!r}; remove one of them")
    return found


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise BadJson(f"the number {digits[:20]} is too large")
    return number


def _bounded(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise BadJson(f"a number has more than {MAX_DIGITS} digits")
    return int(digits)
