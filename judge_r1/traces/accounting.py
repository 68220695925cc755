"""Accounts for every text of a trace file: it is in an event, or under a key that holds no text, or it is unread.

A reader needs no code for this. `TraceFile.records` and `TraceFile.fields` note what they hand out, and `read_events`
notes the events. When the next record is handed out, the texts of the last one are looked for in the events since. A
reader that gathers all records before its first event is checked at the end. Unread text refuses the file, unless
`Unread` allows it. A reader that

* takes only part of a record asks for records with `noted=False`, and gives that part to `Unread.note`;
* shows a text in another form, such as the repr of a Python object, names it in `EventDraft.forms`;
* leaves out whole lines that are no message, call or result, gives them with `refuses=False`: their texts only count.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from judge_r1.core.text_check import short_name, valid_utf8
from judge_r1.traces.json_values import BadTrace
from judge_r1.traces.trace import EventDraft

NO_TEXT = (
    "id", "ids", "*_id", "*_ids", "status_code", "*.id", "*Id", "*ID", "*Ids", "uuid", "*Uuid", "parent", "sha*",
    "*hash", "*Hash", "*digest", "signature", "*_signature", "*Signature", "encrypted_content", "encrypted_index",
    "system_fingerprint", "role", "type", "subtype", "kind", "object", "index", "namespace", "channel", "model",
    "*_model", "*.model", "modelVersion", "model_version", "*.system", "status", "*.status", "state", "phase",
    "*finish_reason", "*finish_reasons", "finishReason", "*stop_reason", "stop_sequence", "stop_details", "level",
    "completed", "service_tier", "version", "*_version", "*.version", "schema_url", "*mime_type", "*mimeType",
    "media_type", "mediaType", "format", "detail", "encoding", "language", "*.operation.name", "*.kind", "truncation",
    "effort", "execution", "permissionMode", "userType", "entrypoint", "checkpoint_ns", "color",
    "tool_kind", "part_kind", "exception.type", "exception.escaped", "error.type", "*.tool.type", "source",
    "traceloop.entity.path", "logfire.json_schema", "logfire.span_type", "origin", "security_risk",
    "outcome", "toolType", "tool_type", "prompt_cache_key", "prompt_cache_retention", "safety_identifier",
)  # fmt: skip
"""Keys of ids, hashes and codes. Their own texts (also in a list) are no text if they have no white space and at most
200 characters. `*` stands for any characters."""
NAMES = (
    "name", "*.name", "*_name", "*Name", "*_label", "originator", "author", "sender", "recipient", "provider",
    "*_provider", "llm.provider", "span", "time", "timestamp", "date", "created", "*_at", "*At", "*_time", "*Time",
    "lastUpdated",
    "cwd", "gitBranch", "slug", "tags", "ls_*", "langgraph_*", "*.workflow.nodes", "*.workflow.edges", "langsmith.*",
    "pydantic_ai.*", "logfire.msg", "traceloop.association.*", "traceloop.workflow.*", "telemetry.*", "service.*",
    "server.*", "http.*", "url.*", "openai.api.*", "openai.request.*", "openai.response.*",
)  # fmt: skip
"""Keys of names and times. Their own texts (also in a list) are no text if they have at most five words and 200
characters, and are no sentence: several words that end with a full stop, a question mark or an exclamation mark."""
NO_TEXT_WITHIN = (
    "usage", "*_usage", "*Usage", "usageMetadata", "usage_metadata", "logprobs", "*.usage.*", "tools",
    "tool_definitions",
    "*.tool.definitions", "*.tool.json_schema", "*.tool.description", "*.agent.tools", "*.json_schema", "tool_choice",
    "response_format", "response_metadata", "safety_ratings", "safetyRatings", "image_url",
    "input_audio", "exception.stacktrace", "model_request_parameters", "view",
    "tool.description", "tool.parameters", "llm.invocation_parameters", "logfire.metrics",
    "*lc_versions", "searchEntryPoint", "search_entry_point", "nodeInfo", "node_info",
)  # fmt: skip
"""Keys that hold no text at any depth: counts, definitions of tools, settings of a request, images and sounds."""
_OBJECTS = {"usage", "logprobs", "tools", "tool_choice", "image_url", "input_audio", "view"}
"""Of these, the keys of objects and addresses: a text of several words under one is a text."""
_VALUES = {
    "usage", "usage_metadata", "usageMetadata", "logprobs", "response_metadata", "safety_ratings", "safetyRatings",
    "tool_choice", "image_url", "input_audio",
}  # fmt: skip
"""And the keys of counts, codes and bytes: a text of more than five words at any depth below one is a text."""
_LONGEST, _WORDS = 200, 5
_DATA = re.compile(r"data:[\w.+/-]+;base64,|[A-Za-z0-9+/=_-]{200,}\Z")
"""Texts that are bytes: data URLs and base64."""
_MEDIA = ("media_type", "mediaType", "mime_type", "mimeType")
_BYTES = ("base64", "redacted_thinking", "reasoning.encrypted")
"""Types of objects whose `data` are bytes or encrypted."""

_SHORT = 30
_BEFORE, _AFTER = r"""(?:\A|[\n\0"']|:)[ \t]*""", r"""[ \t\r]*(?:\Z|[\n\0"']|\\[nr])"""
"""What stands before and after a short text of an event."""


def _matcher(keys: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(key).replace(r"\*", ".*") for key in keys))


_CODE, _NAME, _WITHIN = _matcher(NO_TEXT), _matcher(NAMES), _matcher(NO_TEXT_WITHIN)


class _Noted(NamedTuple):
    place: str
    key: str
    text: str
    refuses: bool


class Unread:
    """The unread texts of one or more traces. `allowed` reads on where one is found; else the file is refused. `notes`
    say what else a reader of the result must know of a file, such as that its run was cancelled."""

    def __init__(self, *, allowed: bool = False) -> None:
        self.allowed, self.count = allowed, 0
        self.keys: dict[str, int] = {}
        self.notes: list[str] = []
        self.where = ""
        self._noted: list[_Noted] = []
        self._beside: list[_Noted] = []
        self._shown: list[str] = []
        self._empty = True  # no text was shown since the last time

    def note(self, value: Any, place: str, *, refuses: bool = True, beside: bool = False) -> None:
        """The texts of a value of the file, each of which an event must show: any of the trace for what stands
        `beside` its records."""
        self.settle()
        noted = self._beside if beside else self._noted
        noted += (_Noted(place, key, text, refuses) for key, text in texts_of(value))

    def show(self, *drafts: EventDraft) -> None:
        for draft in drafts:
            self._shown += [draft.text, *draft.forms, *(one for one in (draft.role, draft.tool) if one)]
            self._empty = self._empty and not draft.text.strip()

    def lose(self, sentence: str) -> None:
        """Counts a text whose end is not in the file. Raises: BadTrace with the sentence, unless it is allowed."""
        self.count += 1
        if not self.allowed:
            raise BadTrace(sentence)

    def settle(self, *, end: bool = False) -> None:
        """Looks for the noted texts in the events since the last time. Raises: BadTrace for one that no event has."""
        if not (self._shown or end):
            return
        missing = _missing(self._noted, self._shown)
        self._beside = _missing(self._beside, self._shown)
        missing += self._beside if end else []
        empty, self._empty = self._empty, True
        self._noted, self._shown = [], []
        for place, key, text, refuses in missing:
            self._count(f"{place} is an empty event" if empty else place, key, text, refuses=refuses)

    def _count(self, place: str, key: str, text: str, *, refuses: bool) -> None:
        self.count += 1
        self.keys[key] = self.keys.get(key, 0) + 1
        if refuses and not self.allowed:
            raise BadTrace(
                f"{self.where}, {place}: no event would show the text under the key {short_name(key)!r} "
                f"({short_name(text[:40])!r}): rename the key to one that the format has, or leave such texts out with "
                "--allow-unread (allow_unread=true over HTTP)"
            )


def is_bytes(text: str) -> bool:
    return bool(_DATA.match(text))


def texts_of(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """The texts of a JSON value with their keys, without those that are blank, bytes, or under keys without text. A key
    of more than five words is a text, too."""
    if isinstance(value, dict):
        for name, own in value.items():
            if name.count(" ") >= _WORDS:
                yield key, name
            none = holds_no_text(name) and not (name in _OBJECTS and isinstance(own, str) and len(own.split()) > 1)
            if none and name in _VALUES:
                yield from ((at, text) for at, text in texts_of(own, name) if len(text.split()) > _WORDS)
            elif not none and not (name in ("data", "blob") and _is_bytes(value, own)):
                yield from texts_of(own, name)
    elif isinstance(value, list):
        for own in value:
            yield from texts_of(own, key)
    elif isinstance(value, str) and value.strip() and not _is_plain(key, value) and not is_bytes(value):
        yield key, value


@lru_cache(4096)
def holds_no_text(key: str) -> bool:
    """Whether there is no text under a key at any depth."""
    return bool(_WITHIN.fullmatch(key))


@lru_cache(4096)
def _words(key: str) -> int:
    """How many words a text under a key may have that is no text."""
    return _WORDS if _NAME.fullmatch(key) else 1 if _CODE.fullmatch(key) else 0


def _is_plain(key: str, text: str) -> bool:
    """Whether a text is an id, a code, a name or a time by its key and its form."""
    most = _words(key)
    if not most or len(text) > _LONGEST or _json_in(text) is not None:
        return False
    count = len(text.split())
    return count == 1 or (count <= most and text.rstrip()[-1] not in ".?!")


def _is_bytes(value: dict[str, Any], own: Any) -> bool:
    """Whether the data of an object are bytes: its type says so, or its media type, which is not that of a text."""
    media = next((value[name] for name in _MEDIA if isinstance(value.get(name), str)), "text/")
    is_text = not isinstance(own, str) or len(own.split()) > 1 or value.get("type") == "text"
    return not is_text and (value.get("type") in _BYTES or not media.startswith("text/"))


def _missing(noted: list[_Noted], shown: list[str]) -> list[_Noted]:
    """The noted texts that no event has. JSON in a text counts with the texts in it."""
    whole, blob = {text.strip() for text in shown}, "\0".join(shown)
    known: dict[str, bool] = {}

    def missing(one: _Noted) -> Iterator[_Noted]:
        text = one.text.strip()
        if (found := known.get(text)) is None:
            found = known[text] = text in whole or _within(text, blob)
        if found:
            return
        inner = _json_in(text)
        if inner is None:
            yield one
        for key, own in texts_of(inner, one.key):
            yield from missing(one._replace(key=key, text=own))

    return [lost for one in noted for lost in missing(one)]


def _json_in(text: str) -> Any:
    """The list or object that a text holds as JSON, else None."""
    try:
        value = json.loads(text) if text[:1] in "[{" else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list | dict) else None


def _within(text: str, blob: str) -> bool:
    """Is a text part of an event, as it is or with the escapes of JSON?"""
    return _part_of(valid_utf8(text), blob) or _part_of(json.dumps(text, ensure_ascii=False)[1:-1], blob)


def _part_of(text: str, blob: str) -> bool:
    """A short text must be a line of an event, the value in such a line, or a quoted one: one that merely occurs in a
    longer text does not count."""
    if len(text) > _SHORT:
        return text in blob
    return text in blob and bool(re.search(rf"{_BEFORE}{re.escape(text)}{_AFTER}", blob))
