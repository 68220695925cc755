"""Spans with the attributes of OpenInference (openinference-semantic-conventions 0.1.42) as those of the GenAI
conventions: messages in `llm.input_messages.0.message.content` and the like, tools in `input.value` and `output.value`.
"""

import json
from collections.abc import Mapping
from typing import Any

from judge_r1.traces.json_values import BadTrace
from judge_r1.traces.otel_messages import nested

KIND = "openinference.span.kind"
VALUES = ("input.value", "output.value")
_SIDES = {"llm.input_messages": "gen_ai.input.messages", "llm.output_messages": "gen_ai.output.messages"}
_OPERATIONS = {"LLM": "chat", "TOOL": "execute_tool", "AGENT": "invoke_agent"}


def as_gen_ai(attributes: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The attributes of a span; what GenAI attributes of the same span say stays. Attributes of messages are taken out,
    and `input.value` and `output.value`, which repeat them, stay. Raises: BadTrace."""
    found = {name: value for name, value in attributes.items() if not name.startswith(tuple(f"{s}." for s in _SIDES))}
    instructions = _instructions(found.get("gen_ai.system_instructions"))
    operation = _OPERATIONS.get(str(attributes[KIND]).upper(), "chain")
    found.setdefault("gen_ai.operation.name", operation)
    for prefix, name in _SIDES.items():
        try:
            messages = [_message(one) for one in _listed(nested(attributes, prefix))]
        except (BadTrace, TypeError, ValueError):
            raise BadTrace(
                f"{where}: attributes {prefix}.… are not named as OpenInference does, such as {prefix}.0.message.role"
            ) from None
        if messages:
            found.setdefault(name, [one for one in messages if not _repeats(one, instructions)])
    if operation == "execute_tool":
        result = _json(attributes.get("output.value"))
        if isinstance(result, dict) and isinstance(own := result.get("data"), dict) and "content" in own:
            found.setdefault("gen_ai.tool.call.id", own.get("tool_call_id"))  # a message of LangChain
            found |= {"error.type": "tool"} if own.get("status") == "error" else {}
            result = own["content"]
        own_values = {"name": attributes.get("tool.name"), "call.id": attributes.get("tool.call_id"),
                      "call.arguments": attributes.get("input.value"), "call.result": result}  # fmt: skip
        for name, value in own_values.items():
            if value is not None:
                found.setdefault(f"gen_ai.tool.{name}", value)
    return found


def _instructions(given: Any) -> set[str]:
    """The texts of GenAI's instructions: a text, or parts with `content`."""
    parts = _json(given)
    return {_text(part) for part in (parts if isinstance(parts, list) else [parts])} - {""}


def _text(part: Any) -> str:
    return str((part.get("content") or part.get("text") or "") if isinstance(part, dict) else part or "").strip()


def _repeats(message: Mapping[str, Any], instructions: set[str]) -> bool:
    content = message.get("content")
    texts = {_text(part) for part in (content if isinstance(content, list) else [content])}
    return message["role"] == "system" and texts <= instructions


def _listed(tree: Any) -> list[Any]:
    return [tree[key] for key in sorted(tree, key=int)] if tree else []


def _message(tree: Any) -> dict[str, Any]:
    """A message as one of a chat API."""
    message = _inner(tree, "message")
    contents = _listed(message.pop("contents", None))
    # calls of Anthropic stand in both lists
    held = _listed(message.pop("tool_calls", None)) + [one for one in contents if "tool_call" in one]
    calls = list({one["tool_call"].get("id") or n: _inner(one, "tool_call") for n, one in enumerate(held)}.values())
    parts = [_inner(one, "message_content") for one in contents if "tool_call" not in one]
    if parts:
        own = message.get("content")
        alone = own and str(own).strip() not in map(_text, parts)
        message["content"] = ([{"type": "text", "text": own}] if alone else []) + parts
    if calls:
        message["tool_calls"] = calls
    message.pop("finish_reason", None)
    return {"role": "assistant", **message}


def _inner(tree: Any, key: str) -> dict[str, Any]:
    """The object under a key, with what stands beside it."""
    found = dict(tree)
    return found | dict(found.pop(key, {}))


def _json(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
