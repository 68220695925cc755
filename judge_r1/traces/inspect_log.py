"""Logs of Inspect (`.eval`, `.json`), through Inspect's own reader. A trace is one sample: `number` counts them.

`sample.messages` is what the conversation held at its end. What was truncated, and what sub-agents did, stands only in
`sample.events`. So these are read in order, each message once by its id, and then the messages that no event has.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash
from judge_r1.core.text_check import beginning
from judge_r1.traces.accounting import Unread, is_bytes, texts_of
from judge_r1.traces.base import (
    FORMATS,
    BadTrace,
    Shape,
    TraceFile,
    TraceFormat,
    first_with,
    of_sub_agent,
    without,
)
from judge_r1.traces.chat_messages import with_fields
from judge_r1.traces.trace import EventDraft, argument_text, json_text

_SAMPLE = {"id", "epoch", "target", "metadata", "scores", "error", "limit", "model_usage", "total_time", "started_at"}
_ASIDE = ("metadata", "internal")
"""Fields of a message that a model does not see."""
_TOLD = {"info": "data", "input": "input", "error": "error", "sample_limit": "message"}
"""Events that become messages of this role, with the field that holds their text."""
_COUNTED: dict[str, Any] = {
    "subtask": {"input", "result"}, "approval": {"explanation"}, "review": {"explanation"},
    "logger": {"message": {"message"}}, "sentinel": {"explanation", "message", "error"},
}  # fmt: skip
"""Events whose texts are counted where no event of the trace has them."""
ENDED = {"started": "has not ended", "cancelled": "was cancelled", "error": "ended with an error"}
"""What is said of a log by its status."""
_MEDIA = ("image", "audio", "video", "document")


def _recognises(shape: Shape) -> bool:
    return shape.archive or shape.has("eval.task", "samples.item.messages")


def _read(file: TraceFile) -> Iterator[EventDraft]:
    sample = _sample(file)
    file.unread.note(sample.model_dump(mode="json", include={"input"}), "the sample", beside=True, refuses=False)
    fields = sample.model_dump(mode="json", include=_SAMPLE, exclude_none=True)
    yield from with_fields(fields, _Story(file.unread).drafts(sample))


def _sample(file: TraceFile) -> Any:
    try:
        from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries
    except ImportError as error:
        raise JudgeError(f"an Inspect log needs inspect-ai ({error}): pip install 'judge-r1[inspect]'") from error
    path: Any = str(file.path)
    kind: Any = "eval" if file.shape.archive else "json"  # whatever the name of the file is
    try:
        chosen = file.chosen(read_eval_log_sample_summaries(path, format=kind), "sample")
        sample = read_eval_log_sample(path, id=chosen.id, epoch=chosen.epoch, resolve_attachments="core", format=kind)
        status = read_eval_log(path, header_only=True, format=kind).status
    except BadTrace:
        raise
    except Exception as error:  # Inspect raises errors of zip files, of JSON and its own
        raise BadTrace(
            f"{file.path} is no Inspect log that can be read: {beginning(' '.join(str(error).split()), 200)}"
        ) from error
    if status in ENDED:
        file.unread.notes.append(f"{file.path}: the run {ENDED[status]}")
    if sample.invalidation is not None:
        reason = f": {sample.invalidation.reason}" if sample.invalidation.reason else ""
        file.unread.notes.append(f"{file.path}: sample {sample.id} is invalidated{reason}")
    return sample


class _Step(NamedTuple):
    """An event of Inspect with the types of the spans around it. That of a tool has a second one at its end."""

    event: Any
    around: list[str]
    nested: bool
    ended: bool = False

    @property
    def of_sub_agent(self) -> bool:
        return self.nested or "tool" in self.around or self.around.count("agent") > 1


def _steps(events: Iterable[Any], *, nested: bool = False) -> Iterator[_Step]:
    spans: dict[str | None, list[str]] = {}
    tools: dict[str, str] = {}
    running: dict[str, _Step] = {}
    for event in events:
        if event.event == "span_begin":
            spans[event.id] = [str(event.type), *spans.get(event.parent_id, [])]
            tools |= {event.id: event.name} if event.type == "tool" else {}
        elif event.event == "span_end":
            yield from [running.pop(event.id)] if event.id in running else ()
        else:
            yield (step := _Step(event, spans.get(event.span_id, []), nested))
            if event.event == "tool":
                yield from _steps(event.events, nested=True)  # as Inspect wrote them before it had spans
                span = next((one for one, name in tools.items() if name == event.function), None)
                if span is None:
                    yield step._replace(ended=True)
                else:
                    running[span] = step._replace(ended=True)
                    del tools[span]
    yield from running.values()


class _Story:
    """Turns the events and messages of a sample into events of the trace."""

    def __init__(self, unread: Unread) -> None:
        self._unread = unread
        self._emitted: Counter[str] = Counter()  # messages, by their id
        self._versions: dict[str, Any] = {}
        self._texts: set[str] = set()
        self._said = ""
        self._asked: dict[str, str] = {}  # arguments of the calls in messages, by their ids
        self._ran: set[tuple[str, str | int | None, str]] = set()  # calls and results of the events of tools

    def drafts(self, sample: Any) -> Iterator[EventDraft]:
        for number, step in enumerate(_steps(sample.events)):
            if not {"scorer", "scorers"} & set(step.around):
                for draft in self._of_step(step, f"event {number}"):
                    yield self._shown(of_sub_agent(draft) if step.of_sub_agent else draft)
        yield from map(self._shown, self._messages(sample.messages, "messages"))
        yield from self._answer(sample.messages[-1:])

    def _shown(self, draft: EventDraft) -> EventDraft:
        self._texts.add(draft.text.strip())
        if (draft.kind, draft.role) == ("message", "assistant"):
            self._said = draft.text
        return draft

    def _answer(self, messages: Iterable[Any]) -> Iterator[EventDraft]:
        """The last message, if what it says was only submitted: agents replace it by the answer."""
        for message in messages:
            if message.role == "assistant" and message.text not in ("", self._said):
                yield EventDraft("message", "assistant", message.text)

    def _of_step(self, step: _Step, where: str) -> Iterator[EventDraft]:
        event, kind = step.event, step.event.event
        time = event.timestamp.isoformat(timespec="milliseconds")
        if kind == "model":
            answers = [choice.message for choice in event.output.choices]
            yield from self._messages(event.input, where)
            yield from self._messages(answers[:1], where, time, new=True)
            self._count([one.model_dump(mode="json", exclude_none=True) for one in answers[1:]], where)
            yield from self._told("error", event.error, where, time)
        elif kind == "tool":
            yield from (self._result if step.ended else self._call)(event, where, time)
        elif kind in _TOLD:
            value = event.model_dump(mode="json", include={_TOLD[kind]})[_TOLD[kind]]
            yield from self._told(kind, value["message"] if kind == "error" else value, where, time)
        elif kind in _COUNTED:
            self._count(event.model_dump(mode="json", include=_COUNTED[kind]), where)

    def _count(self, value: Any, where: str) -> None:
        """Counts texts that no event shows."""
        new = [{key: text} for key, text in texts_of(value) if text.strip() not in self._texts]
        self._unread.note(new, where, refuses=False)

    def _told(self, role: str, value: Any, where: str, time: str) -> Iterator[EventDraft]:
        if value:
            self._unread.note({role: value}, where)
            yield EventDraft("message", role, value if isinstance(value, str) else json_text(value), time=time)

    def _call(self, event: Any, where: str, time: str) -> Iterator[EventDraft]:
        """The call of a tool, if no message has it, or an approver has changed its arguments."""
        text = argument_text(event.arguments)
        self._ran.add(("call", event.id, text))
        self._ran.update(("result", event.id, draft.text) for draft in _message(_result_of(event), None))
        if self._asked.get(event.id) != text:
            self._unread.note(event.arguments, where)
            yield EventDraft("call", "assistant", text, event.function, event.id, time=time)

    def _result(self, event: Any, where: str, time: str) -> Iterator[EventDraft]:
        record = _result_of(event)
        self._unread.note(record, where)
        if event.message_id:
            self._emitted[event.message_id] += 1
        yield from _message(record, time)

    def _messages(
        self, messages: Iterable[Any], where: str, time: str | None = None, *, new: bool = False
    ) -> Iterator[EventDraft]:
        """The messages that were not shown. What a model answers is always `new`. Of another version of a message that
        was shown, as a filter writes it, the texts are counted."""
        seen: Counter[str] = Counter()
        for number, message in enumerate(messages):
            key = message.id or content_hash(message.model_dump(mode="json", exclude={"id"}))
            seen[key] += 1
            known = not new and seen[key] <= self._emitted[key]
            if known and ((before := self._versions.get(key)) is message or before == message):
                continue
            self._versions[key] = message
            dumped, place = message.model_dump(mode="json", exclude_none=True), f"{where}, message {number}"
            self._count({name: dumped[name] for name in _ASIDE if name in dumped}, place)
            record = without(dumped, *_ASIDE)
            drafts = list(_message(record, time))
            if known:
                self._count({"content": [draft.text for draft in drafts]}, place)
                continue
            self._emitted[key] += 1
            self._asked |= {call["id"]: argument_text(call["arguments"]) for call in record.get("tool_calls", ())}
            kept = [one for one in drafts if new or (one.kind, one.call_id, one.text) not in self._ran]
            self._unread.note(record if kept == drafts else without(record, "tool_calls") if kept else None, place)
            yield from kept


def message_text(message: Any) -> str:
    """A message of Inspect with its calls, images and files, each of its parts with the role or the tool."""
    record = without(message.model_dump(mode="json", exclude_none=True), *_ASIDE)
    return "\n\n".join(
        f"{f'call {draft.tool}' if draft.kind == 'call' else draft.role}: {draft.text}"
        for draft in _message(record, None)
        if draft.kind != "thought"
    )


def _result_of(event: Any) -> dict[str, Any]:
    """The message that a tool answers with."""
    found = event.model_dump(mode="json", include={"result", "error", "truncated"}, exclude_none=True)
    content = found.pop("result")
    content = content if isinstance(content, str | list) else [content]
    return {"role": "tool", "tool_call_id": event.id, "function": event.function, "content": content, **found}


def _message(record: dict[str, Any], time: str | None) -> Iterator[EventDraft]:
    """The events of a message, in the order of its parts."""
    role, error, calls = record["role"], record.get("error") or {}, record.get("tool_calls") or []
    rest = without(record, "role", "content", "tool_calls", "tool_call_id", "function")
    content = record.get("content")
    drafts: list[EventDraft] = []
    for part in content if isinstance(content, list) else [content] if content else []:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "reasoning":
            thoughts = dict.fromkeys(filter(None, (part.get("reasoning"), part.get("summary"))))
            drafts += [EventDraft("thought", role, text) for text in thoughts if not is_bytes(text)]
        elif kind == "tool_use":
            drafts += _server_tool(role, part)
        elif drafts and drafts[-1].kind == "message":
            drafts[-1] = drafts[-1]._replace(text=f"{drafts[-1].text}\n{_part_text(part)}")
        else:
            drafts.append(EventDraft("message", role, _part_text(part)))
    if role == "tool":
        text = "\n".join(filter(None, (*(draft.text for draft in drafts), error.get("message"))))
        drafts = [EventDraft("result", role, text, record.get("function"), record.get("tool_call_id"), bool(error))]
    for call in calls:
        text = "\n".join(filter(None, (argument_text(call["arguments"]), call.get("parse_error"))))
        more = without(call, "arguments", "function", "id", "type", "parse_error")
        drafts.append(EventDraft("call", "assistant", text, call["function"], call["id"], meta=more))
    yield from first_with(drafts or [EventDraft("message", role, "")], rest, time)


def _server_tool(role: str, part: dict[str, Any]) -> list[EventDraft]:
    """The call and the result of a tool that the model's provider ran."""
    name, call_id, error = part["name"], part["id"], part.get("error")
    text = "\n".join(filter(None, (part.get("result"), error)))
    rest = without(part, "type", "id", "name", "arguments", "result", "error")
    call = EventDraft("call", role, argument_text(part["arguments"]), name, call_id, meta=rest)
    return [call, EventDraft("result", "tool", text, name, call_id, bool(error))]


def _part_text(part: Any) -> str:
    """A part of a content as text: citations below their text, and of images and files their kind and address."""
    if not isinstance(part, dict):
        return part if isinstance(part, str) else json_text(part)
    kind, rest = part.get("type"), without(part, "type", "internal")
    if kind == "text":
        cited = [one.get(name) for one in part.get("citations") or () for name in ("title", "url", "cited_text")]
        return "\n".join(filter(None, (part["text"], *(text for text in cited if isinstance(text, str)))))
    if kind in _MEDIA:
        names = [part[name] for name in ("filename", kind) if part.get(name) and not is_bytes(part[name])]
        return " ".join([f"[{kind}]", *dict.fromkeys(names)])
    return f"[{kind}] {json_text(rest)}"


FORMATS.register("inspect")(TraceFormat("a log of Inspect, .eval or .json", _recognises, _read, 1))
