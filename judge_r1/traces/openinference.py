"""Spans with the attributes of OpenInference (openinference-semantic-conventions 0.1.42) as those of the GenAI
conventions: messages in `llm.input_messages.0.message.content` and the like, tools in `input.value` and `output.value`.
"""

import json
from collections.abc import Mapping
from typing import Any

KIND = "openinference.span.kind"
VALUES = ("input.value", "output.value")
_SIDES = {"llm.input_messages": "gen_ai.input.messages", "llm.output_messages": "gen_ai.output.messages"}
_OPERATIONS = {"LLM": "chat", "TOOL": "execute_tool", "AGENT": "invoke_agent"}


def as_gen_ai(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a span; what GenAI attributes of the same span say stays. Attributes of messages are taken out,
    and `input.value` and `output.value`, which repeat them, stay."""
    found = {name: value for name, value in attributes.items() if not name.startswith(tuple(_SIDES))}
    operation = _OPERATIONS.get(str(attributes[KIND]).upper(), "chain")
    found.setdefault("gen_ai.operation.name", operation)
    for prefix, name in _SIDES.items():
        if messages := [_message(one) for one in _listed(_tree(attributes, prefix))]:
            if "gen_ai.system_instructions" in found and messages[0]["role"] == "system":
                del messages[0]
            found.setdefault(name, messages)
    if operation == "execute_tool":
        result = _json(attributes.get("output.value"))
        if isinstance(result, dict) and isinstance(own := result.get("data"), dict) and "content" in own:
            found.setdefault("gen_ai.tool.call.id", own.get("tool_call_id"))  # a message of LangChain
            result = own["content"]
        own_values = {"name": attributes.get("tool.name"), "call.id": attributes.get("tool.call_id"),
                      "call.arguments": attributes.get("input.value"), "call.result": result}  # fmt: skip
        for name, value in own_values.items():
            if value is not None:
                found.setdefault(f"gen_ai.tool.{name}", value)
    return found


def _tree(attributes: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The attributes below a prefix as nested objects, `message.tool_calls.0.tool_call.id` in five of them."""
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            *way, last = name.removeprefix(f"{prefix}.").split(".")
            place = tree
            for key in way:
                place = place.setdefault(key, {})
            place[last] = value
    return tree


def _listed(tree: Any) -> list[Any]:
    return [tree[key] for key in sorted(tree, key=int)] if isinstance(tree, dict) else []


def _message(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A message as one of a chat API."""
    message = dict(tree.get("message", {}))
    calls = [one.get("tool_call", {}) for one in _listed(message.pop("tool_calls", None))]
    parts = [one.get("message_content", {}) for one in _listed(message.pop("contents", None))]
    if parts and not message.get("content"):
        message["content"] = parts
    if calls:
        message["tool_calls"] = calls
    message.pop("finish_reason", None)
    return {"role": "assistant", **message}


def _json(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
