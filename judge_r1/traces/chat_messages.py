"""Chat messages as OpenAI's chat API has them: a list, an object with a list, or one message a line. A content may have
the parts of Anthropic's API."""

import re
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from judge_r1.traces.base import FORMATS, BadTrace, Shape, TraceFile, TraceFormat, first_with, without
from judge_r1.traces.content import (
    TIME_FIELDS,
    content_text,
    has_failed,
    lists_with,
    other_parts,
    record_time,
)
from judge_r1.traces.trace import EventDraft, argument_text

_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "reasoning_details", "thinking_blocks", "tool_plan")
_KNOWN = (
    "role", "type", "content", "parts", "toolInvocations", "refusal", "audio", "annotations", "tool_calls",
    "tool_call_id", "function_call",
    *_THOUGHTS, *TIME_FIELDS,
)  # fmt: skip
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use", "tool-call", "tool_call", "server_tool_call")
_GIVEN = ("input", "args", "arguments")
"""Keys of the arguments of such a part."""
_BEDROCK = {"toolUse", "toolResult", "reasoningContent"}
"""Keys of the parts of Bedrock's Converse API."""
_THOUGHT_PARTS = ("thinking", "redacted_thinking", "reasoning")
"""Types of the parts of a content that are events of their own, beside results."""
_ANSWER = re.compile(
    r"(?:response|outputs?)(?:\.body)?(?:\.(?:output|messages|choices\.item\.message|candidates))?(?:\.item)?"
    r"|completion(?:\.item)?|choices\.item\.message|candidates\.item"
)
"""The paths of an answer to the messages beside it."""
_BEFORE = {
    "instructions": "system", "system": "system", "system_prompt": "system", "systemInstruction": "system",
    "system_instruction": "system", "input": "user", "prompt": "user",
}  # fmt: skip
_REQUEST = ("request", "body", "config")
_AFTER = ("output", "completion", "response", "final_output")
"""Fields beside the messages whose texts are messages before and after them."""
_SMOLAGENTS_ERROR = re.compile(r"(?:Call id: .*\n)?Error:\n")
Reader = Callable[[Any, str], Iterator[EventDraft]]
"""Yields the events of a record. The text says where the record stands, for messages."""


def message_events(record: Any, where: str) -> Iterator[EventDraft]:
    """The events of one message: its thoughts, its text, its tool calls, and the parts of its content that are events
    of their own; or the result of a call.

    Raises:
        BadTrace: It is not an object with a role.
    """
    role, content = _checked(record, where)["role"], _content(record)
    if role in ("tool-call", "tool-response"):
        yield from _smolagents(role, content_text(content)[0])
        return
    rest = without(record, *_KNOWN)
    drafts = [EventDraft("thought", role, text) for text in _thoughts(record)]
    if isinstance(content, list) and any(map(_is_event, content)):
        own = _part_events(role, content)
        said = {draft.text for draft in own if draft.kind == "thought"}
        drafts = [draft for draft in drafts if draft.text not in said] + own
    elif role in ("tool", "function"):
        text, other = content_text(content)
        name, call_id = rest.pop("name", None), record.get("tool_call_id")
        error = has_failed(content) or record.get("is_error") is True or record.get("status") == "error"
        drafts.append(EventDraft("result", role, text, name, call_id, error, meta=other_parts(other)))
    else:
        text, other = content_text(content)
        if text:
            drafts.append(EventDraft("message", role, text, meta=other_parts(other)))
    known = {draft.call_id for draft in drafts if draft.call_id}
    calls = [call for call in record.get("tool_calls") or () if isinstance(call, dict)]
    calls += [{"function": record["function_call"]}] if record.get("function_call") else []
    # LangChain has them also in the content
    drafts += [call for call in (_call(role, one) for one in calls) if call.call_id not in known]
    yield from first_with(drafts or [EventDraft("message", role, "")], rest, record_time(record))


def _content(record: dict[str, Any]) -> Any:
    """What a message says: its content with its citations, a refusal, or the words of its sound."""
    content = record.get("content", record.get("parts"))
    invocations = record.get("toolInvocations")
    if isinstance(invocations, list) and "parts" not in record:  # the AI SDK before its version 5
        return [
            *([content] if content else []),
            *({"type": "tool-invocation", "toolInvocation": i} for i in invocations),
        ]
    if isinstance(content, str) and record.get("annotations"):
        return [{"type": "text", "text": content, "annotations": record["annotations"]}]
    if content is None:
        content = record.get("refusal")
    audio = record.get("audio")
    return audio.get("transcript") if content is None and isinstance(audio, dict) else content


def _thoughts(record: dict[str, Any]) -> list[str]:
    """The thoughts of a message. Several fields may hold the same ones."""
    found: list[str] = []
    for name in _THOUGHTS:
        if not (value := record.get(name)):
            continue
        parts = [_thought(part) for part in value] if isinstance(value, list) else [content_text(value)[0]]
        text = "\n".join(part for part in parts if part)
        if text and not any(text in one or _joined(text) in _joined(one) for one in found):
            found.append(text)
    return found


def _thought(part: Any) -> str:
    """The text of a part of a thought: as the APIs of Anthropic, OpenRouter and Mistral have it."""
    if not isinstance(part, dict):
        return content_text([part])[0]
    value = next((part[name] for name in ("thinking", "text", "summary", "reasoning") if part.get(name)), None)
    return content_text(value)[0] if value else ""


def _joined(text: str) -> str:
    return "".join(text.split())


def _smolagents(role: str, text: str) -> Iterator[EventDraft]:
    """The calls or the result of a message of smolagents, whose calls are a list in Python's notation."""
    before, _, listed = text.partition("Calling tools:\n")
    try:
        calls = literal_eval(listed) if role == "tool-call" and listed else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        calls = None
    if role == "tool-call" and isinstance(calls, list) and all(isinstance(call, dict) for call in calls):
        if before.strip():
            yield EventDraft("message", "assistant", before.strip())
        for call in calls:
            yield _call("assistant", call)._replace(forms=(text,))
    elif role == "tool-response":
        failed = bool(_SMOLAGENTS_ERROR.match(text))
        yield EventDraft("result", "tool", text.removeprefix("Observation:\n"), error=failed, forms=(text,))
    else:
        yield EventDraft("message", "assistant", text)


def _checked(record: Any, where: str) -> dict[str, Any]:
    """Raises: BadTrace if a record is not an object with a role."""
    if not isinstance(record, dict) or not isinstance(record.get("role"), str):
        raise BadTrace(f"{where}: a message must be an object with a role, not {str(record)[:80]}")
    return record


def with_fields(fields: Mapping[str, Any], drafts: Iterable[EventDraft]) -> Iterator[EventDraft]:
    """The events of a trace. The first one gets the fields of the trace as a whole."""
    for draft in drafts:
        yield draft._replace(meta={**draft.meta, "trace": fields}) if fields else draft
        fields = {}


def _call(role: str, call: dict[str, Any]) -> EventDraft:
    function = call.get("function") or call.get("custom") or call
    arguments = function.get("arguments", function.get("input", function.get("args")))
    meta = without(call, "id", "type", "function", "custom", "name", "arguments", "input", "args")
    return EventDraft(
        "call", role, argument_text(arguments), tool=function.get("name"), call_id=call.get("id"), meta=meta
    )


def is_event_type(kind: str) -> bool:
    is_ui = kind.startswith("tool-") or kind == "dynamic-tool"  # of the AI SDK's messages for pages
    return is_ui or kind in (*_CALLS, *_THOUGHT_PARTS) or kind.endswith("tool_result")


def _is_event(part: Any) -> bool:
    return isinstance(part, dict) and (is_event_type(str(part.get("type"))) or bool(part.keys() & _BEDROCK))


def _part_events(role: str, parts: list[Any]) -> list[EventDraft]:
    """The events of a content: its texts, and the parts that are events of their own."""
    drafts: list[EventDraft] = []
    texts: list[Any] = []

    def message() -> None:
        if texts:
            text, other = content_text(texts)
            drafts.append(EventDraft("message", role, text, meta=other_parts(other)))
            texts.clear()

    for part in parts:
        if _is_event(part):
            message()
            drafts += _part(role, part)
        elif part not in (None, "") and not (isinstance(part, dict) and part.get("type") == "step-start"):
            texts.append(part)
    message()
    return drafts


def _part(role: str, part: dict[str, Any]) -> list[EventDraft]:
    """The events of a part that is not text, a document or an image."""
    kind = str(part.get("type"))
    if kind.startswith("tool-") or kind == "dynamic-tool":
        return _ai_sdk_part(role, kind, part)
    if kind in _CALLS:
        return [_used(role, part, "id")]
    if kind.endswith("tool_result"):
        return [_answered(part, "tool_call_id" if "tool_call_id" in part else "tool_use_id")]
    if kind in _THOUGHT_PARTS:
        rest = without(part, "type", "thinking", "text", "summary", "reasoning")
        return [EventDraft("thought", role, _thought(part) or f"[{kind}]", meta=rest)]
    if "toolUse" in part:
        return [_used(role, part["toolUse"], "toolUseId")]
    if "toolResult" in part:
        return [_answered(part["toolResult"], "toolUseId")]
    thought = part["reasoningContent"].get("reasoningText") or {}
    return [EventDraft("thought", role, str(thought.get("text") or "[redacted]"), meta=without(thought, "text"))]


def _used(role: str, call: dict[str, Any], key: str) -> EventDraft:
    rest = without(call, "type", key, "name", *_GIVEN)
    given = argument_text(next((call[name] for name in _GIVEN if name in call), None))
    return EventDraft("call", role, given, call.get("name"), call.get(key), meta=rest)


def _answered(result: dict[str, Any], key: str) -> EventDraft:
    content = result.get("content", result.get("output"))
    text, other = content_text(content)
    rest = {**without(result, "type", key, "content", "output", "is_error", "status"), **other_parts(other)}
    failed = bool(result.get("is_error")) or result.get("status") == "error" or has_failed(content)
    return EventDraft("result", "tool", text, call_id=result.get(key), error=failed, meta=rest)


def _ai_sdk_part(role: str, kind: str, part: dict[str, Any]) -> list[EventDraft]:
    """The call or the result of a part of the AI SDK, or both of a message for pages."""
    part = part.get("toolInvocation") or part
    name, call_id = part.get("toolName") or kind.removeprefix("tool-"), part.get("toolCallId")
    drafts = []
    if kind != "tool-result":
        drafts.append(EventDraft("call", role, argument_text(part.get("input", part.get("args"))), name, call_id))
    output = part.get("output", part.get("result", part.get("errorText")))
    if kind == "tool-call" or (output is None and kind != "tool-result"):
        return drafts
    form = str(output.get("type")) if isinstance(output, dict) else ""
    value = output["value"] if isinstance(output, dict) and "value" in output else output
    text, other = content_text(value)
    failed = form.startswith("error") or bool(part.get("isError") or part.get("errorText"))
    return [*drafts, EventDraft("result", "tool", text, name, call_id, failed, meta=other_parts(other))]


def read_messages(
    file: TraceFile, read: Reader, *keys: str, spare: str = "", noun: str = "message", settings: Sequence[str] = ()
) -> Iterator[EventDraft]:
    """The events of the records that have one of `keys`, or the key `spare` where none has: those of a list, or of a
    request and its response, with the texts beside them. Fields that are `settings` are left out.

    Raises:
        BadTrace: There are several lists or answers, other than those of a request and its response.
    """
    lists = sorted({path for key in keys for path in lists_with(file.shape, key)})
    lists = lists or lists_with(file.shape, spare)
    for plain in ("", "item"):  # other lists are then inside the records
        if plain in lists:
            yield from _events(file, file.records(plain), read, noun)
            return
    answers = answers_in(file.shape, lists)
    asked = [path for path in lists if path not in answers]
    if not asked and len(answers) == 1:
        asked, answers = answers, []
    if len(asked) > 1 or len(answers) > 1:
        names = ", ".join(path.removesuffix(".item") for path in (*asked, *answers))
        raise BadTrace(f"{file.path} holds several lists of messages ({names}): give a file with one of them")
    if not asked:
        raise BadTrace(f"{file.path} holds its {noun}s deeper than in one object: give a file with the list itself")
    last = (answers or asked)[0]
    if last.endswith(("choices.item.message", "candidates.item")) and len(list(file.records(last, noted=False))) > 1:
        raise BadTrace(f"{file.path} holds several choices of an answer: give a file with one of them")
    fields = file.fields(*asked, *answers, *settings)
    before = []
    holders = [fields, *(fields[name] for name in _REQUEST if isinstance(fields.get(name), dict))]
    for name, role in _BEFORE.items():
        before += [EventDraft("message", role, text) for one in holders if (text := _text_before(one.get(name)))]
    fields = {name: value for name, value in fields.items() if name not in _BEFORE or not _text_before(value)}
    drafts = list(_events(file, file.records(*asked), read, noun))
    drafts = [draft for draft in before if not any(map(_same(draft), drafts))] + drafts
    answered = list(_events(file, file.records(*answers), read, "answer")) if answers else []
    # an output may repeat the messages of its input
    repeats = all(_same(one)(two) for one, two in zip(drafts, answered, strict=False)) and len(answered) >= len(drafts)
    drafts += answered[len(drafts) :] if repeats else answered
    for name in (one for one in _AFTER if not any(path.partition(".")[0] == one for path in answers)):
        if (value := fields.get(name)) not in (None, "", [], {}):
            del fields[name]
            said = EventDraft("message", "assistant", content_text(value)[0])
            answer = next((one for one in reversed(drafts) if (one.kind, one.role) == said[:2]), None)
            drafts += [] if answer and _same(said)(answer) else [said]
    yield from with_fields(fields, drafts)


def _text_before(value: Any) -> str:
    """The text of an instruction or a prompt: a text, or a content with parts."""
    parts = value.get("parts") if isinstance(value, dict) else value
    return content_text(parts)[0] if isinstance(parts, str | list) else ""


def _same(draft: EventDraft) -> Callable[[EventDraft], bool]:
    return lambda other: draft[:3] == other[:3]


def answers_in(shape: Shape, lists: Iterable[str]) -> list[str]:
    """The paths of messages that answer a request beside them: `output`, `choices.item.message`, also in `response`."""
    found = {path.rpartition(".")[0] for path in shape.paths if path.endswith((".role", "candidates.item.content"))}
    return sorted(path for path in found.union(lists) if _ANSWER.fullmatch(path))


def _events(file: TraceFile, records: Iterable[Any], read: Reader, noun: str) -> Iterator[EventDraft]:
    for number, record in enumerate(records):
        for draft in read(record, f"{file.path}, {noun} {number}"):
            file.unread.show(draft)
            yield draft


def _read(file: TraceFile) -> Iterator[EventDraft]:
    return read_messages(file, message_events, "role")


FORMATS.register("chat-messages")(
    TraceFormat(
        "messages with role and content, as in OpenAI's chat API",
        lambda shape: bool(lists_with(shape, "role")),
        _read,
        9,
    )
)
