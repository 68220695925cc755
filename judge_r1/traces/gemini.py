"""Contents of Gemini's API, whose texts, calls and results are `parts`: a list, a request with its response, and events
or a session of the Agent Development Kit (ADK). Keys may be in camel case or in snake case."""

from collections.abc import Iterator, Mapping
from typing import Any

from judge_r1.traces.base import FORMATS, BadTrace, Shape, TraceFile, TraceFormat, first_with, without
from judge_r1.traces.chat_messages import read_messages
from judge_r1.traces.content import content_text, labelled_text, other_parts, record_time
from judge_r1.traces.trace import EventDraft, argument_text

_PARTS = {
    "text", "functionCall", "function_call", "functionResponse", "function_response", "inlineData", "inline_data",
    "fileData", "file_data", "executableCode", "executable_code", "codeExecutionResult", "code_execution_result",
}  # fmt: skip
_GROUNDS = ("groundingMetadata", "urlContextMetadata", "citationMetadata")
_ANSWERS = ({"result"}, {"output"}, {"error"})
_ROLES = {"model": "assistant", "function": "user"}


def _recognises(shape: Shape) -> bool:
    parts = {path.rpartition(".")[0] for path in shape.paths if path.rpartition(".")[2] in _PARTS}
    return any(path.endswith("parts.item") and not shape.has(f"{path}.type") for path in parts)


def _read(file: TraceFile) -> Iterator[EventDraft]:
    return read_messages(file, _events, "parts", "content", spare="candidates", noun="content")


def _events(record: Any, where: str) -> Iterator[EventDraft]:
    """The events of a content, or of what holds one: a candidate, a response, or an event of ADK. Raises: BadTrace."""
    if isinstance(record, str):
        yield EventDraft("message", "user", record)
        return
    if not isinstance(record, dict):
        raise BadTrace(f"{where}: a content must be an object with parts, not {str(record)[:80]}")
    candidates = record.get("candidates")
    if isinstance(candidates, list):
        if len(candidates) > 1:
            raise BadTrace(f"{where} has {len(candidates)} candidates of an answer: give a file with one of them")
        yield from first_with(
            [draft for one in candidates for draft in _events(one, where)], without(record, "candidates"), None
        )
        return
    content = record if "parts" in record else record.get("content")
    content = content if isinstance(content, dict) else {"parts": content or []}
    drafts = part_events(_ROLES.get(role := str(content.get("role") or "user"), role), content.get("parts"))
    drafts += [
        EventDraft("result", "tool", text, tool=name.removesuffix("Metadata"))
        for name in _GROUNDS
        if (text := labelled_text(_of(record, name)))
    ]
    if transcript := labelled_text([_of(record, "inputTranscription"), _of(record, "outputTranscription")]):
        drafts.append(EventDraft("message", drafts[0].role if drafts else "assistant", transcript))
    if failed := labelled_text({"error": _of(record, "errorMessage")}):
        drafts.append(EventDraft("message", "system", failed))
    if changed := argument_text(without(record.get("actions") or {})):
        drafts.append(EventDraft("message", "actions", changed))
    rest = without(record, "parts", "role", "content", "timestamp")
    yield from first_with(drafts, rest, record_time(record))


def part_events(role: str, parts: Any) -> list[EventDraft]:
    """The events of the parts of a content."""
    drafts: list[EventDraft] = []
    said: list[Any] = []

    def message() -> None:
        if said:
            text, other = content_text(said)
            drafts.append(EventDraft("message", role, text, meta=other_parts(other)))
            said.clear()

    for part in [parts] if isinstance(parts, str | dict) else parts or []:
        draft = _part(role, part) if isinstance(part, dict) else None
        if draft is not None:
            message()
            drafts.append(draft)
        elif isinstance(part, dict) and not isinstance(part.get("text"), str):
            said.append(_other(part))
        else:
            said.append(part if isinstance(part, str) else {"type": "text", "text": part["text"]})
    message()
    return drafts


def _part(role: str, part: dict[str, Any]) -> EventDraft | None:
    if isinstance(text := part.get("text"), str) and part.get("thought"):
        return EventDraft("thought", role, text, meta=without(part, "text", "thought"))
    if call := _of(part, "functionCall") or _of(part, "toolCall"):
        tool = call.get("name") or _of(call, "toolType")
        return EventDraft("call", role, argument_text(call.get("args")), tool, call.get("id"))
    if answer := _of(part, "functionResponse") or _of(part, "toolResponse"):
        text, failed = _answer(answer.get("response"))
        more = content_text([_other(one) for one in answer.get("parts") or ()])[0]
        tool = answer.get("name") or _of(answer, "toolType")
        return EventDraft("result", "tool", "\n".join(filter(None, (text, more))), tool, answer.get("id"), failed)
    if code := _of(part, "executableCode"):
        return EventDraft("call", role, str(code.get("code", "")), "code_execution", code.get("id"))
    if ran := _of(part, "codeExecutionResult"):
        failed = str(ran.get("outcome", "OUTCOME_OK")) != "OUTCOME_OK"
        return EventDraft("result", "tool", str(ran.get("output") or ""), "code_execution", ran.get("id"), failed)
    return None


def _answer(response: Any) -> tuple[str, bool]:
    """The text of a function's response, and whether it is an error."""
    if not isinstance(response, dict) or response.keys() not in _ANSWERS:
        return content_text(response)[0], isinstance(response, dict) and bool(response.get("error"))
    [(name, value)] = response.items()
    return content_text(value)[0], name == "error"


def _other(part: Any) -> Any:
    """A part that is no text, with a type: the media type of its data."""
    if not isinstance(part, dict):
        return part
    data = _of(part, "inlineData")
    kind = next(iter(without(part)), "part") if not data else str(_of(data, "mimeType"))
    return {"type": "file" if _of(part, "fileData") else kind, **part}


def _of(value: Mapping[str, Any], name: str) -> Any:
    """The value under a key in camel case or in snake case."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return value.get(name, value.get(snake))


FORMATS.register("gemini")(
    TraceFormat("contents with parts, as in Gemini's API, and events of ADK", _recognises, _read, 4)
)
