"""Logs of Inspect (`.eval`, `.json`), through Inspect's own reader. A trace is one sample: `number` counts them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import counted
from judge_r1.core.trace import EventDraft, argument_text
from judge_r1.core.trace_formats.base import FORMATS, BadTrace, Shape, TraceFile, TraceFormat, first_with, without
from judge_r1.core.trace_formats.chat_messages import with_fields
from judge_r1.core.trace_formats.content import content_text, other_parts

_SAMPLE = ("id", "epoch", "target", "metadata", "scores", "error", "model_usage", "total_time", "started_at")


def _recognises(shape: Shape) -> bool:
    return shape.archive or shape.has("eval.task", "samples.item.messages")


def _read(file: TraceFile) -> Iterator[EventDraft]:
    sample = _sample(file)
    times: dict[str, str] = {}
    for event in sample.events:
        if event.event == "tool" and event.message_id:
            times[event.message_id] = event.timestamp.isoformat(timespec="milliseconds")
        elif event.event == "model" and event.output.choices and event.output.message.id:
            times[event.output.message.id] = event.timestamp.isoformat(timespec="milliseconds")
    fields = sample.model_dump(mode="json", include=set(_SAMPLE), exclude_none=True)
    yield from with_fields(fields, _messages(file, sample.messages, times))


def _messages(file: TraceFile, messages: Sequence[Any], times: Mapping[str, str]) -> Iterator[EventDraft]:
    for number, message in enumerate(messages):
        record = message.model_dump(mode="json", exclude_none=True)
        file.unread.note(record, f"message {number}")
        yield from _message(record, times.get(message.id or ""))


def _sample(file: TraceFile) -> Any:
    try:
        from inspect_ai.log import read_eval_log_sample, read_eval_log_sample_summaries
    except ImportError as error:
        raise JudgeError(f"an Inspect log needs inspect-ai ({error}): pip install 'judge-r1[inspect]'") from error
    path: Any = str(file.path)
    kind: Any = "eval" if file.shape.archive else "json"  # whatever the name of the file is
    try:
        samples = read_eval_log_sample_summaries(path, format=kind)
        if file.number is None and len(samples) > 1:
            raise BadTrace(f"{file.path} holds {len(samples)} samples: choose one by its number, from 1 (--number 1)")
        if not 0 < (number := file.number or 1) <= len(samples):
            raise BadTrace(f"{file.path} holds {counted(len(samples), 'sample')}: there is no number {number}")
        chosen = samples[number - 1]
        return read_eval_log_sample(path, id=chosen.id, epoch=chosen.epoch, resolve_attachments=True, format=kind)
    except BadTrace:
        raise
    except Exception as error:  # Inspect raises errors of zip files, of JSON and its own
        raise BadTrace(
            f"{file.path} is no Inspect log that can be read: {' '.join(str(error).split())[:200]}"
        ) from error


def _message(record: dict[str, Any], time: str | None) -> Iterator[EventDraft]:
    content = record.get("content")
    parts = content if isinstance(content, list) else [content]
    thoughts = [part for part in parts if isinstance(part, dict) and part.get("type") == "reasoning"]
    text, other = content_text([part for part in parts if part not in thoughts and part is not None])
    rest = {
        **without(record, "role", "content", "tool_calls", "tool_call_id", "function", "error"),
        **other_parts(other),
    }
    if record["role"] == "tool":
        failed = record.get("error")
        shown = "\n".join(part for part in (text, (failed or {}).get("message")) if part)
        drafts = [EventDraft("result", "tool", shown, record.get("function"), record.get("tool_call_id"), bool(failed),
                             meta={"error": failed} if failed else {})]  # fmt: skip
    else:
        drafts = [
            EventDraft("thought", record["role"], str(part.get("summary") or part.get("reasoning") or ""))
            for part in thoughts
        ]
        calls = record.get("tool_calls") or []
        if text or not (drafts or calls):
            drafts.append(EventDraft("message", record["role"], text))
        drafts += [EventDraft("call", "assistant", argument_text(call["arguments"]), call["function"], call["id"],
                              meta=without(call, "arguments", "function", "id", "type")) for call in calls]  # fmt: skip
    yield from first_with(drafts, rest, time)


FORMATS.register("inspect")(TraceFormat("a log of Inspect, .eval or .json", _recognises, _read, 1))
