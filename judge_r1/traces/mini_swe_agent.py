"""Trajectories of mini-swe-agent: messages of a chat API, or whole responses of the Responses API and outputs of calls.

`extra` holds what the agent did not see, such as the raw output: its texts only count as unread, but the answer of a
model that the agent refused is an event. The settings in `info` are left out.
"""

from collections.abc import Iterator
from typing import Any

from judge_r1.traces.base import FORMATS, Shape, TraceFile, TraceFormat, without
from judge_r1.traces.chat_messages import with_fields
from judge_r1.traces.openai_responses import SETTINGS, item_events
from judge_r1.traces.trace import EventDraft


def _recognises(shape: Shape) -> bool:
    named = any(name.startswith("mini-swe-agent") for name in shape.values("trajectory_format"))
    return named and shape.has("messages.item")


def _read(file: TraceFile) -> Iterator[EventDraft]:
    yield from with_fields(file.fields("messages", "info.config", "trajectory_format", refuses=False), _events(file))


def _events(file: TraceFile) -> Iterator[EventDraft]:
    for number, record in enumerate(file.records("messages.item", noted=False)):
        where, extra = f"message {number}", record.get("extra") or {}
        if extra.get("interrupt_type") and (refused := extra.get("response")):
            said = refused if isinstance(refused, dict) else {"role": "assistant", "content": str(refused)}
            file.unread.note(said, where)
            for draft in _of_message(said, f"{file.path}, {where}"):
                file.unread.show(draft)
                yield draft
        own = without(record, "extra")
        file.unread.note(without(own, *SETTINGS) if own.get("object") == "response" else own, where)
        file.unread.note(without(extra, "response", "interrupt_type"), where, refuses=False)
        for draft in _of_message(own, f"{file.path}, {where}"):
            failed = draft.kind == "result" and extra.get("returncode") not in (0, None)
            yield draft._replace(error=draft.error or failed)
        if record.get("role") == "exit" and (status := extra.get("exit_status")):
            yield EventDraft("message", "exit", str(status))


def _of_message(message: dict[str, Any], where: str) -> list[EventDraft]:
    """The events of a message, an item, a response, or a chat completion."""
    choices, items = message.get("choices"), message.get("output")
    if message.get("object") == "response" and isinstance(items, list):
        return [draft for item in items for draft in item_events(item, where)]
    if isinstance(choices, list):
        return [draft for choice in choices for draft in item_events(choice.get("message"), where)]
    is_end = message.get("role") == "exit" and not message.get("content")
    return [] if is_end else list(item_events(message, where))


FORMATS.register("mini-swe-agent")(TraceFormat("a trajectory of mini-swe-agent", _recognises, _read, 1))
