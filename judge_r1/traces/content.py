"""The parts that formats of messages share: where a file has its messages, and the text of a content."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from typing import Any

from judge_r1.traces.accounting import holds_no_text, texts_of
from judge_r1.traces.base import Shape
from judge_r1.traces.trace import json_text

_LIST = re.compile(
    r"(?:|item|[^.]+\.item|(?:request|response|inputs?|outputs?|body|data)\.(?:body\.)?(?:messages|input|output|items|contents)\.item)"
)
_TEXT_PARTS = {"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"}
_DOCUMENT = re.compile(
    r"document|search_result|resource|resource_link|file|input_file|logs|container_upload|tool_reference|compaction"
    r"|(bash_)?code_execution_output|((server|mcp)_)?tool_result"
    r"|(web_(search|fetch)|tool_search|mcp_tool|advisor|(bash_|text_editor_|encrypted_)?code_execution)(_\w+)?_(result|error)"
)
"""Types of parts of Anthropic, OpenAI and MCP whose texts are shown with their keys."""
_NUMBERS = {
    "index", "size", "priority", "start_line", "num_lines", "total_lines", "old_start", "old_lines", "new_start",
    "new_lines", "is_file_update", "is_error", "enabled", "start_char_index", "end_char_index", "start_page_number",
    "end_page_number", "start_block_index", "end_block_index", "document_index", "search_result_index",
}  # fmt: skip
"""Keys of numbers and booleans in such parts that are no text. A part with others is a value."""
_OWN_TEXT = {"text", "data", "content", "stdout", "output", "logs"}
"""Keys of the text of a document: it is shown without its key."""
_CODES, _WITH_CODES = {"return_code", "exit_code", "returncode"}, {"outcome", "content", "output"}
_BYTES = re.compile(r"[A-Za-z0-9+/=_-]{200}")
_MEDIA = re.compile(
    r"((input|output|computer|local|generated|inline)[_-])?(image|audio|video|media|file|blob|screenshot)"
    r"([_-]?(url|file|data|content|id))?|(image|audio|video|application|text)/.+|uri",
    re.IGNORECASE,
)
"""Types of parts that are no text, also as a media type."""
_OF_TEXT = {"text", "annotations", "citations", "cache_control", "cachePoint", "id", "index"}
"""Keys of a part that is a text without a type. An object with others is a value."""
TIME_FIELDS = ("timestamp", "time", "created_at", "created")
_MILLISECONDS = 1e11
"""A larger number of seconds would be after the year 5138."""


def lists_with(shape: Shape, *keys: str) -> list[str]:
    """The paths of the records that have all these keys: "" for the values of JSON Lines, `item`, or `NAME.item`, also
    within `request` and the like. Definitions of tools are no records."""
    found = {path.rpartition(".")[0] for path in shape.paths if path.rpartition(".")[2] == keys[0]}
    found = {path for path in found if _LIST.fullmatch(path) and not any(map(holds_no_text, path.split(".")))}
    return sorted(path for path in found if shape.has(*(f"{path}.{key}".lstrip(".") for key in keys)))


def texts_at(shape: Shape, paths: Iterable[str], key: str) -> set[str]:
    """The short texts that records at these paths have under a key."""
    return {text for path in paths for text in shape.values(f"{path}.{key}".lstrip("."))}


def content_text(content: Any) -> tuple[str, list[Any]]:
    """The text of a message's content, and the parts of it that are not text. They stand in the text as `[image]`, with
    their addresses below."""
    if content is None or isinstance(content, str):
        return content or "", []
    if isinstance(content, dict) and isinstance(content.get("type"), str) and _part_text(content) is not None:
        content = [content]
    if not isinstance(content, list) or (content and not any(isinstance(part, str | dict) for part in content)):
        return json_text(content), []
    texts, other = [], []
    for part in content:
        text = part if isinstance(part, str) else _part_text(part)
        if text is None:
            other.append(part)
            text = f"[{part.get('type') or next(iter(part))}]\n{labelled_text(part)}".rstrip()
        texts.append(text)
    return "\n".join(texts), other


def labelled_text(value: Any) -> str:
    """The texts of a JSON value that `accounting.texts_of` finds, each with its key but the text of a document itself,
    and its exit codes."""
    lines = [text if key in _OWN_TEXT else f"{key}: {text}" for key, text in texts_of(value)]
    return "\n".join(lines + [f"{name}: {code}" for name, code in _exit_codes(value) if code not in (None, "")])


def has_failed(value: Any) -> bool:
    """Whether the content of a result says that it is an error: by the type of a part, or its exit code."""
    parts = value if isinstance(value, list) else [value]
    kinds = (str(part.get("type")) for part in parts if isinstance(part, dict))
    failed = any(kind.endswith("_error") and _DOCUMENT.fullmatch(kind) for kind in kinds)
    return failed or any(code not in (0, None, "") for _, code in _exit_codes(value))


def _exit_codes(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        for own in value:
            yield from _exit_codes(own)
    elif isinstance(value, dict):
        for name, own in value.items():
            if name in _CODES:
                yield name, own
            elif name == "outcome" and isinstance(own, dict) and own.get("type") == "timeout":
                yield name, "timeout"
            elif name in _WITH_CODES:
                yield from _exit_codes(own)


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
    """The text of a part, with its citations; the texts of a document or a result; None for an image and the like. Any
    other object is a value of JSON, as a tool returned it, whatever keys it has."""
    if not isinstance(part, dict):
        return json_text(part)
    kind, typed = str(part.get("type", "text")), "type" in part
    text = part.get("refusal") if kind == "refusal" else part.get("text")
    if kind in _TEXT_PARTS and isinstance(text, str) and (typed or part.keys() <= _OF_TEXT):
        cited = [one for name in ("annotations", "citations") for one in part.get(name) or () if isinstance(one, dict)]
        return "\n".join([text, *(f"[{one.get('type', 'citation')}]\n{labelled_text(one)}" for one in cited)])
    is_value = _has_numbers(part)
    if typed and _DOCUMENT.fullmatch(kind) and not is_value and (found := labelled_text(part)):
        return found
    value = json_text(part["json"] if part.keys() == {"json"} else part)
    is_media = _MEDIA.fullmatch(kind) and not is_value if typed else part.keys() == {"image"}
    return None if is_media or _BYTES.search(value) else value


def _has_numbers(value: Any, key: str = "") -> bool:
    """Whether a part has a number or a boolean that its texts would leave out."""
    if isinstance(value, dict):
        return any(_has_numbers(own, name) for name, own in value.items())
    if isinstance(value, list):
        return any(_has_numbers(own, key) for own in value)
    return isinstance(value, int | float) and key not in _NUMBERS | _CODES
