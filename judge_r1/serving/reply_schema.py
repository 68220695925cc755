"""The JSON object that a client asks for: by `response_format`, or as the arguments of the one function to call.

Frameworks ask their graders in this way (autoevals by a function, openevals by a schema). The judge's prompt gets the
schema, and its answer is checked here, so that the model needs no constrained decoding.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator, SchemaError

from judge_r1.episode.answer_text import answer_text
from judge_r1.episode.readable_json import readable_values
from judge_r1.serving.pairwise_prompt_formats import UnsupportedPrompt

_KEYWORDS = {
    *("type", "enum", "const", "properties", "required", "additionalProperties", "items", "anyOf"),
    *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"),
    *("title", "description", "default", "examples", "$schema"),
}
"""Without patterns and references, whose work a client could make arbitrarily long."""
_MAX_DEPTH = 20
_LABELS: list[tuple[str | bool, str | bool]] = [(True, False), ("Yes", "No"), ("Y", "N"), ("Correct", "Incorrect")]


@dataclass(frozen=True)
class ReplySchema:
    """The schema of an object (empty: any object), and the function whose arguments it describes, if the reply is to be
    a call.

    Raises: UnsupportedPrompt if the schema is not valid, or has a keyword that is not supported.
    """

    schema: Mapping[str, Any]
    function: str | None = None

    def __post_init__(self) -> None:
        _check_keywords(self.schema, 0)
        try:
            Draft202012Validator.check_schema(self.schema)
        except SchemaError as error:
            raise UnsupportedPrompt(f"the schema of the reply is not valid: {error.message[:200]}") from None

    def prompt(self, text: str) -> str:
        """A prompt with the request for the object."""
        what = f"the arguments of the function {self.function} as " if self.function else ""
        schema = f" that fits this JSON schema:\n{json.dumps(self.schema, ensure_ascii=False)}" if self.schema else "."
        return f"{text}\n\nWrite {what}one JSON object{schema}"

    def read(self, reply: str) -> str | None:
        """The last object of an answer that fits, as JSON; None if none does."""
        found = [value for value in readable_values(answer_text(reply)) if self._fits(value)]
        return json.dumps(found[-1], ensure_ascii=False) if found else None

    def labels(self) -> tuple[str | bool, str | bool] | None:
        """The values for yes and no, if the object says one of them and has texts besides."""
        return next(((yes, no) for yes, no in _LABELS if self.filled(yes, "") and self.filled(no, "")), None)

    def filled(self, label: str | bool, reason: str) -> str | None:
        """The object with `label` where it belongs (a boolean, or a property that lists it) and `reason` as its other
        texts. None if there is no such place, or more than one, or the object needs something else."""
        properties = self.schema.get("properties", {"answer": {"enum": [label]}})
        own = [name for name, one in properties.items() if _is_place(one, label)]
        value = {name: label if name in own else reason for name in properties}
        return json.dumps(value, ensure_ascii=False) if len(own) == 1 and self._fits(value) else None

    def _fits(self, value: Any) -> bool:
        return isinstance(value, dict) and bool(Draft202012Validator(self.schema).is_valid(value))


def requested_schema(response_format: Any, tools: Any, tool_choice: Any) -> ReplySchema | None:
    """The schema in a request of OpenAI's chat API; None for a reply in words. Raises: UnsupportedPrompt."""
    if tools and tool_choice != "none":
        match tools, tool_choice:
            case ([{"function": {"name": str(name), **function}}], "required" | {"function": {"name": str()}}):
                if tool_choice == "required" or tool_choice["function"]["name"] == name:
                    return ReplySchema(_object(function.get("parameters") or {}), name)
        raise UnsupportedPrompt("tools is not supported, except one function that tool_choice says to call")
    match response_format:
        case None | {"type": "text"}:
            return None
        case {"type": "json_object"}:
            return ReplySchema({})
        case {"type": "json_schema", "json_schema": {"schema": schema}}:
            return ReplySchema(_object(schema))
    raise UnsupportedPrompt("response_format must have the type text, json_object, or json_schema with its schema")


def _object(schema: Any) -> Mapping[str, Any]:
    if not isinstance(schema, Mapping):
        raise UnsupportedPrompt("the schema of the reply must be an object")
    return schema


def _is_place(schema: Any, label: str | bool) -> bool:
    if not isinstance(schema, Mapping):
        return False
    return schema.get("type") == "boolean" if isinstance(label, bool) else label in schema.get("enum", ())


def _check_keywords(schema: Any, depth: int) -> None:
    if not isinstance(schema, Mapping):
        return  # true and false are schemas, and check_schema finds everything else
    if unknown := schema.keys() - _KEYWORDS:
        raise UnsupportedPrompt(f"the schema of the reply has the keyword {min(unknown)!r}, which is not supported")
    if depth > _MAX_DEPTH:
        raise UnsupportedPrompt(f"the schema of the reply has more than {_MAX_DEPTH} levels")
    properties, choices = schema.get("properties"), schema.get("anyOf")
    inner = list(properties.values()) if isinstance(properties, Mapping) else []
    inner += choices if isinstance(choices, list) else []
    for one in [*inner, schema.get("items"), schema.get("additionalProperties")]:
        _check_keywords(one, depth + 1)
