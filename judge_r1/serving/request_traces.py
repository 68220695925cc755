"""Traces of agents in requests: messages in a body, and files of any format.

`TraceLog` writes every episode to `traces.jsonl`. It is off by default: without it the server retains no request.
"""

import json
import logging
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from fastapi.concurrency import run_in_threadpool

from judge_r1.core.errors import JudgeError
from judge_r1.core.wire import JudgeRequestBody, JudgeResponse, TraceEvent, TraceFile
from judge_r1.files.append_log import AppendLog
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.trace_tasks import TraceTask, TraceText, describe, trace_result
from judge_r1.serving.middleware.body_limit import Limits
from judge_r1.serving.unpacking import UnpackBudget, repack
from judge_r1.traces import BadTrace, Masked, Unread, events_of_records, read_events
from judge_r1.traces.trace import trace_text

UNPACKED = 16
"""Times the largest body that an archive may have unpacked: a log of text packs to about a tenth."""


class AskedTrace(NamedTuple):
    trace: TraceText
    task: TraceTask


async def trace_of_body(body: JudgeRequestBody) -> AskedTrace | None:
    """The trace in a body and the question about it; None for a pair. Raises: BadTrace."""
    if body.messages is None or body.question is None:
        return None
    messages, unread = body.messages, Unread(allowed=body.allow_unread)
    text = await run_in_threadpool(lambda: trace_text(events_of_records(messages, unread=unread)))
    return AskedTrace(TraceText(text, unread.count), TraceTask.question(body.question))


def with_events(response: JudgeResponse, asked: AskedTrace | None, output: JudgeOutput) -> JudgeResponse:
    """The response with the answer to the question about a trace, and the events that it rests on."""
    if asked is None:
        return response
    found = trace_result(response.judge, *asked, [output])
    events = [
        TraceEvent(
            event=one.event.label, kind=one.event.kind, name=one.event.name, time=one.event.time,
            error=one.event.error, cited=one.cited, text=one.event.text,
        )
        for one in found.events
    ]  # fmt: skip
    return response.model_copy(
        update={"answer": found.findings[0].answer, "events": events, "unread": asked.trace.unread}
    )


def read_upload(
    data: bytes, limits: Limits, budget: UnpackBudget, *, number: int | None, mask: bool, allow_unread: bool
) -> TraceFile:
    """The trace in a file of any format.

    Raises:
        BadTrace: The file is no trace, or an archive that is too large unpacked.
        UnpackingBusy: Other uploads take the memory for unpacking at the moment.
    """
    masked, unread = Masked() if mask else None, Unread(allowed=allow_unread)
    with TemporaryDirectory(prefix="trace-") as folder, budget.share(UNPACKED * limits.body) as share:
        file = Path(folder) / "upload"
        file.write_bytes(data)
        if zipfile.is_zipfile(file):
            repack(file, packed := Path(folder) / "counted", share)
            packed.replace(file)
        try:
            events = read_events(file, number=number, masked=masked, unread=unread)
            text = trace_text(events)
        except BadTrace as error:
            raise BadTrace(str(error).replace(str(file), "the file")) from None
    trace = TraceText(text)
    return TraceFile(
        context=text,
        events=len(trace.events),
        about="; ".join([describe(trace), *(note.replace(str(file), "the file") for note in unread.notes)]),
        masked=masked.count if masked else 0,
        unread=unread.count,
    )


_log = logging.getLogger(__name__)


class TraceLog:
    """One line per request: its id, tenant, item, verdict and whole trajectory.

    A trace that cannot be written (full disk) does not fail the request. Only the first such failure is logged.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise JudgeError(f"--traces {folder}: {error.strerror}") from None
        self._log = AppendLog(folder / "traces.jsonl", private=True)  # it contains the texts of all clients
        self._log.mend()
        self._warned = False

    def close(self) -> None:
        self._log.close()

    def write(self, output: JudgeOutput, tenant: str) -> bool:
        """Appends one line. Returns False if it could not be written."""
        record = {
            "id": output.request.item.item_id,
            "owner": tenant,
            "item": output.request.item.model_dump(mode="json"),
            "verdict": output.verdict.model_dump(mode="json"),
            "confidence": output.confidence,
            "trajectory": output.trajectory.model_dump(mode="json"),
        }
        try:
            self._log.append(json.dumps(record).encode() + b"\n")
        except JudgeError as error:
            if not self._warned:
                _log.error("%s; later failures are only counted", error)
            self._warned = True
            return False
        return True
