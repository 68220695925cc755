"""Messages in the attributes of spans: with parts as the GenAI conventions have them, or as a framework writes them."""

from collections.abc import Mapping
from typing import Any

from judge_r1.traces.chat_messages import message_events
from judge_r1.traces.content import content_text, other_parts
from judge_r1.traces.json_values import BadTrace
from judge_r1.traces.trace import EventDraft, argument_text, json_text

_REASONING = "reasoningContent"
_BLOCKS = {"toolUse", "toolResult", _REASONING}
_LANGCHAIN = {"human": "user", "ai": "assistant"}
"""Roles by the types of LangChain's messages."""


def nested(attributes: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The attributes below a prefix as nested objects, `message.tool_calls.0.tool_call.id` in five of them. Raises:
    BadTrace for a name below that of a value."""
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            *way, last = name.removeprefix(f"{prefix}.").split(".")
            place: Any = tree
            for key in way:
                place = place.setdefault(key, {}) if isinstance(place, dict) else None
            if not isinstance(place, dict) or last in place:
                raise BadTrace(f"the attribute {name!r} stands below or above another one that has a value")
            place[last] = value
    return tree


def flat_messages(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Messages in attributes such as `gen_ai.prompt.0.content`, as OpenLLMetry writes them."""
    tree, found = nested(attributes, prefix), []
    for number in sorted((key for key in tree if key.isdecimal()), key=int):
        message = dict(tree[number])
        calls = message.pop("tool_calls", None)
        if isinstance(calls, dict):
            message["tool_calls"] = [calls[key] for key in sorted(calls)]
        found.append({"role": "assistant", **message})
    return found


def messages_in(value: Any) -> Any:
    """The messages of the JSON in `gen_ai.prompt` or `gen_ai.completion`, as LangSmith writes it."""
    if not isinstance(value, dict):
        return value
    if isinstance(found := value.get("generations"), list):
        return [_chat_message(one.get("message") or one) for row in found for one in row]
    if isinstance(found := value.get("messages"), list):
        return [_chat_message(one) for row in found for one in (row if _is_batch(row) else [row])]
    updates = value["output"] if isinstance(value.get("output"), list) else []
    found = [
        one
        for update in updates
        if isinstance(update, dict)
        for one in (update.get("update") or {}).get("messages", ())
    ]
    return [_chat_message(one) for one in found] or ([value] if "role" in value else None)


def _is_batch(row: Any) -> bool:
    return isinstance(row, list) and all(isinstance(one, dict) for one in row)


def _chat_message(message: Any) -> Any:
    """A message of LangChain, also serialized or as a pair of role and text, as one of a chat API."""
    if isinstance(message, list) and len(message) == 2:
        message = {"type": message[0], "content": message[1]}
    if isinstance(message, dict) and "lc" in message and isinstance(message.get("kwargs"), dict):
        message = message["kwargs"]
    if not isinstance(message, dict) or "role" in message:
        return message
    content = message.get("content", message.get("text"))
    kept = {name: message[name] for name in ("name", "tool_calls", "tool_call_id", "status") if message.get(name)}
    return {"role": _LANGCHAIN.get(kind := str(message.get("type", "assistant")), kind), "content": content, **kept}


def tool_of_events(rest: dict[str, Any], events: list[Any], asked: Any, said: Any) -> None:
    """Sets arguments and result of a tool's span from its events, whose tool message is the call, or from JSON."""
    said = said.get("output", said) if isinstance(said, dict) else said
    said = _chat_message(said) if isinstance(said, dict) and "lc" in said else said
    if isinstance(said, dict) and "tool" in (said.get("type"), said.get("role")):
        rest |= {"error.type": "tool"} if said.get("status") == "error" else {}
        said = said.get("content")
    found = {"arguments": asked, "result": said}
    for one in events:
        found["result" if one.get("output") else "arguments"] = one.get("content")
    for name, value in found.items():
        if value is not None:
            rest.setdefault(f"gen_ai.tool.call.{name}", value)


def message_drafts(message: Any, where: str) -> list[EventDraft]:
    """The events of a message: with `parts` as the conventions have it, or as in a chat API."""
    if isinstance(message, dict):
        message = {name: value for name, value in message.items() if name != "output"}
        if isinstance(content := message.get("content"), list) and any(map(_is_block, content)):
            message = {"role": message.get("role"), "parts": [_block(one) for one in content]}
    if not isinstance(message, dict) or not isinstance(message.get("parts"), list):
        return list(message_events(message, where))
    role, drafts = str(message.get("role", "assistant")), []
    for part in map(_block, message["parts"]):
        kind, own = (part.get("type"), part) if isinstance(part, dict) else ("text", {"content": part})
        if kind == "tool_call":
            drafts.append(EventDraft("call", role, argument_text(own.get("arguments")), own.get("name"), own.get("id")))
        elif kind == "tool_call_response":
            result = own.get("response", own.get("result"))
            drafts.append(EventDraft("result", "tool", value_text(result), own.get("name"), own.get("id")))
        elif kind in ("text", "reasoning", "thinking"):
            text = value_text(own.get("content", own.get("text")))
            drafts.append(EventDraft("message" if kind == "text" else "thought", role, text))
        else:
            text, other = content_text([part])
            drafts.append(EventDraft("message", role, text, meta=other_parts(other)))
    return drafts


def _is_block(part: Any) -> bool:
    """Whether a part is a block of Bedrock's Converse API, as it is or with the key as its type (Strands)."""
    if not isinstance(part, dict) or "type" in part:
        return isinstance(part, dict) and part["type"] == _REASONING
    return part.keys() == {"text"} or bool(_BLOCKS & part.keys())


def _block(part: Any) -> Any:
    """A block as a part of the conventions."""
    if not _is_block(part):
        return part
    if thought := part.get(_REASONING, part.get("content") if "type" in part else None):
        return {"type": "reasoning", "content": (thought.get("reasoningText") or {}).get("text") or "[redacted]"}
    if use := part.get("toolUse"):
        return {"type": "tool_call", "name": use.get("name"), "id": use.get("toolUseId"), "arguments": use.get("input")}
    if result := part.get("toolResult"):
        return {"type": "tool_call_response", "id": result.get("toolUseId"), "response": result.get("content")}
    return {"type": "text", "content": part["text"]}


def value_text(value: Any) -> str:
    return content_text(value)[0] if isinstance(value, list | str | None) else json_text(value)
