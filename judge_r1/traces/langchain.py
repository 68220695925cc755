"""Messages of LangChain: as `model_dump` gives them, as `messages_to_dict` (`data`), and as `dumpd` (`kwargs`)."""

from collections.abc import Iterator
from typing import Any

from judge_r1.traces.base import FORMATS, BadTrace, Shape, TraceFile, TraceFormat, without
from judge_r1.traces.chat_messages import message_events, read_messages
from judge_r1.traces.content import lists_with, texts_at
from judge_r1.traces.trace import EventDraft

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
_HOLDERS = ("content", "data", "kwargs")


def _role(kind: str) -> str | None:
    return _ROLES.get(kind.removesuffix("Chunk").removesuffix("Message").lower())


def _key(shape: Shape) -> str | None:
    """The key of a record that holds the message, or its content."""
    for key in _HOLDERS:
        for path in lists_with(shape, key):
            start = f"{path}.".lstrip(".")
            named = texts_at(shape, [path], "id.item" if key == "kwargs" else "type")
            plain = key == "content" and not shape.has(f"{start}role")
            if (plain or shape.has(f"{start}{key}.content")) and any(map(_role, named)):
                return key
    return None


def _read(file: TraceFile) -> Iterator[EventDraft]:
    return read_messages(file, _events, str(_key(file.shape)))


def _events(record: Any, where: str) -> Iterator[EventDraft]:
    """The events of a message. Raises: BadTrace."""
    if not isinstance(record, dict):
        raise BadTrace(f"{where}: a message must be an object, not {str(record)[:80]}")
    held = next((record[name] for name in ("kwargs", "data") if isinstance(record.get(name), dict)), record)
    kind = record["id"][-1] if held is record.get("kwargs") else record.get("type")
    more = held.get("additional_kwargs") or {}
    message = {**without(more, "tool_calls"), **without(held, "type", "additional_kwargs")}
    message["role"] = _role(str(kind)) or str(held.get("role") or kind)
    broken = held.get("invalid_tool_calls") or []
    message["tool_calls"] = [*(held.get("tool_calls") or ()), *(without(call, "error") for call in broken)]
    yield from message_events(without(message, "invalid_tool_calls"), where)
    for call in broken:
        if error := call.get("error"):
            yield EventDraft("result", "tool", str(error), call.get("name"), call.get("id"), error=True)


FORMATS.register("langchain")(
    TraceFormat("messages of LangChain, as it dumps them", lambda shape: _key(shape) is not None, _read, 5)
)
