"""The parts that formats of messages share: where a file has its messages, and the text of a content."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from judge_r1.core.trace import json_text
from judge_r1.core.trace_formats.base import Shape

_LIST = re.compile(r"(?:|item|[^.]+\.item)")
_TEXT_PARTS = {"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"}
TIME_FIELDS = ("timestamp", "time", "created_at", "created")
_MILLISECONDS = 1e11
"""A larger number of seconds would be after the year 5138."""


def lists_with(shape: Shape, *keys: str) -> list[str]:
    """The paths of the records that have all these keys: "" for the values of JSON Lines, `item`, or `NAME.item`."""
    found = {path.rpartition(".")[0] for path in shape.paths if path.rpartition(".")[2] == keys[0]}
    return sorted(p for p in found if _LIST.fullmatch(p) and shape.has(*(f"{p}.{key}".lstrip(".") for key in keys)))


def texts_at(shape: Shape, paths: Iterable[str], key: str) -> set[str]:
    """The short texts that records at these paths have under a key."""
    return {text for path in paths for text in shape.values(f"{path}.{key}".lstrip("."))}


def content_text(content: Any) -> tuple[str, list[Any]]:
    """The text of a message's content, and the parts of it that are not text. They stand in the text as `[image]`."""
    if content is None or isinstance(content, str):
        return content or "", []
    if not isinstance(content, list):
        return json_text(content), []
    texts, other = [], []
    for part in content:
        text = part if isinstance(part, str) else _part_text(part)
        if text is None:
            other.append(part)
            text = f"[{part.get('type', 'part') if isinstance(part, dict) else type(part).__name__}]"
        texts.append(text)
    return "\n".join(texts), other


def record_time(record: Mapping[str, Any]) -> str | None:
    """The time of a record, in ISO 8601 where it is a number of seconds or milliseconds."""
    return next((time_text(record[name]) for name in TIME_FIELDS if record.get(name) not in (None, "")), None)


def time_text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    seconds = value / 1000 if value > _MILLISECONDS else value
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return str(value)


def other_parts(parts: Iterable[Any]) -> dict[str, Any]:
    """The parts of a content that are not text, for the `meta` of an event."""
    return {"parts": found} if (found := list(parts)) else {}


def _part_text(part: Any) -> str | None:
    if not isinstance(part, dict):
        return None
    kind = part.get("type", "text")
    text = part.get("refusal") if kind == "refusal" else part.get("text")
    return text if kind in _TEXT_PARTS and isinstance(text, str) else None
