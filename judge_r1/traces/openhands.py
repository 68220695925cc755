"""OpenHands: a list of the events of a conversation (`events/event-*.json` of its SDK, joined), and a trajectory or the
`history` of an evaluation of its versions 0.

Captions for the user's screen (`message` of an action or an observation), and texts of the state of files and of the
model's raw response, only count as unread where no event has them. Events without a text stand in the meta of the trace
as `other_lines`.
"""

from collections.abc import Iterator
from typing import Any

from judge_r1.traces.base import FORMATS, Shape, TraceFile, TraceFormat, without
from judge_r1.traces.chat_messages import message_events, with_fields
from judge_r1.traces.content import content_text, has_failed, labelled_text, record_time
from judge_r1.traces.trace import EventDraft, argument_text

_LISTS = ("", "item", "history.item", "trajectory.item", "events.item")
_READ = (
    "system_prompt", "dynamic_context", "llm_message", "extended_content", "thought", "reasoning_content",
    "thinking_blocks", "responses_reasoning_item", "tool_call", "error", "rejection_reason", "summary",
    "code", "detail",
)  # fmt: skip
"""Fields of an event of the SDK whose texts are read."""


def _lists(shape: Shape, *keys: str) -> list[str]:
    return [path for path in _LISTS if shape.has(*(f"{path}.{key}".lstrip(".") for key in keys))]


def _paths(shape: Shape) -> list[str]:
    sdk = [
        path
        for path in _lists(shape, "kind", "source", "id")
        if any(kind.endswith("Event") for kind in shape.values(f"{path}.kind".lstrip(".")))
    ]
    return sdk or _lists(shape, "source", "action", "args") or _lists(shape, "source", "observation", "extras")


def _recognises(shape: Shape) -> bool:
    return bool(_paths(shape))


def _read(file: TraceFile) -> Iterator[EventDraft]:
    path = _paths(file.shape)[0]
    fields = file.fields(path.removesuffix(".item"), refuses=False) if "." in path else {}
    drafts: list[EventDraft] = []
    other = []
    for number, record in enumerate(file.records(path, noted=False)):
        found = _of_sdk(file, record, number) if "kind" in record else _of_version_0(file, record, number)
        file.unread.show(*found)
        drafts += (draft._replace(time=draft.time or record_time(record)) for draft in found)
        other += [] if found else [record]
    yield from with_fields({**fields, **({"other_lines": other} if other else {})}, drafts)


def _of_sdk(file: TraceFile, record: dict[str, Any], number: int) -> list[EventDraft]:
    kind, where = str(record.get("kind")), f"event {number}"
    observed = record.get("observation") or {}
    read = {name: record[name] for name in _READ if record.get(name)}
    file.unread.note(
        [read, {name: observed[name] for name in ("content", "output", "error") if name in observed}], where
    )
    file.unread.note(without(record, *read, "action", "observation"), where, refuses=False)
    file.unread.note(without(observed, "content", "output", "error", "kind"), where, refuses=False)
    more = [part for name in ("dynamic_context", "extended_content") for part in _parts(record.get(name))]
    name, call_id = record.get("tool_name"), record.get("tool_call_id")
    if kind == "SystemPromptEvent":
        return [EventDraft("message", "system", content_text([*_parts(record.get("system_prompt")), *more])[0])]
    if message := record.get("llm_message"):
        drafts = list(message_events(_with_thoughts(message), where))
        return drafts + ([EventDraft("message", "system", content_text(more)[0])] if more else [])
    if "tool_call" in record:
        call = record["tool_call"] or {}
        said = {**record, "role": "assistant", "content": record.get("thought")}
        said = {key: said[key] for key in ("role", "content", *_THOUGHTS) if said.get(key)}
        drafts = list(message_events(_with_thoughts(said), where)) if len(said) > 1 else []
        arguments = argument_text(call.get("arguments"))
        if (summary := record.get("summary")) and summary not in arguments:
            drafts.append(EventDraft("message", "assistant", summary))
        return [*drafts, EventDraft("call", "assistant", arguments, name, call_id)]
    text = "\n".join(
        part
        for part in (
            *(content_text(observed.get(key))[0] for key in ("content", "output", "error")),
            *(content_text(record.get(key))[0] for key in ("error", "rejection_reason", "summary", "code", "detail")),
            content_text(more)[0],
        )
        if part
    )
    if call_id:
        failed = kind != "ObservationEvent" or bool(observed.get("is_error")) or has_failed(observed)
        return [EventDraft("result", "tool", text, name, call_id, failed)]
    return [EventDraft("message", "system", text)] if text else []


_THOUGHTS = ("reasoning_content", "thinking_blocks", "responses_reasoning_item")


def _with_thoughts(message: dict[str, Any]) -> dict[str, Any]:
    """A message whose item of the Responses API stands among the thoughts that other formats have."""
    item = message.get("responses_reasoning_item") or {}
    texts = [*(item.get("summary") or ()), *(item.get("content") or ())]
    calls = [{"id": one.get("id"), "function": one} for one in message.get("tool_calls") or ()]
    return {**without(message, "responses_reasoning_item", "tool_calls"), "reasoning": texts, "tool_calls": calls}


def _parts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _of_version_0(file: TraceFile, record: dict[str, Any], number: int) -> list[EventDraft]:
    where, about = f"event {number}", record.get("tool_call_metadata") or {}
    args, extras = record.get("args") or {}, record.get("extras") or {}
    tool, call_id = about.get("function_name"), about.get("tool_call_id")
    role = "user" if record.get("source") == "user" else "assistant"
    file.unread.note(without(record, "action", "observation", "message", "args", "extras", "tool_call_metadata"), where)
    response = about.get("model_response")
    read = without(args, "thought") if any(message.get("tool_calls") for message in _messages(response)) else {}
    file.unread.note(without(args, *read), where)
    caption = {"message": record.get("message")}
    file.unread.note([extras, response if "action" in record else None, read, caption], where, refuses=False)
    if "observation" in record:
        text = content_text(record.get("content"))[0] or (labelled_text(extras) if not tool else "")
        failed = record["observation"] == "error" or record.get("success") is False or has_failed(extras)
        failed = failed or has_failed(extras.get("metadata"))
        if not (text or tool):
            return []
        return [EventDraft("result", "tool", text, tool or record["observation"], call_id, failed)]
    action = str(record.get("action"))
    if action in ("message", "system"):
        return [EventDraft("message", "system" if action == "system" else role, content_text(args.get("content"))[0])]
    said = [draft for one in _messages(response) for draft in message_events({"role": "assistant", **one}, where)]
    drafts = [draft for draft in said if draft.kind == "thought"]
    thought = str(args.get("thought") or "")
    if action == "finish":
        text = args.get("final_thought") or args.get("message") or labelled_text(args.get("outputs")) or thought
        drafts += [EventDraft("thought", role, thought)] if thought and thought != text else []
        return [*drafts, EventDraft("message", role, str(text))]
    drafts += [EventDraft("thought", role, thought)] if thought else []
    raw = [draft for draft in said if draft.kind == "call" and draft.call_id == call_id]
    shown = argument_text(without(args, "thought"))
    if not raw and (shown or tool) and not (action == "think" and not shown):
        raw = [EventDraft("call", role, shown, tool or action, call_id)]
    return drafts + raw


def _messages(response: Any) -> list[dict[str, Any]]:
    """The messages in the response of a model that an action keeps."""
    choices = response.get("choices") if isinstance(response, dict) else None
    messages = [one.get("message") for one in choices or () if isinstance(one, dict)]
    return [message for message in messages if isinstance(message, dict)]


FORMATS.register("openhands")(TraceFormat("events of OpenHands", _recognises, _read, 1))
