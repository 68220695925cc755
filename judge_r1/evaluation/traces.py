"""The traces of an evaluation on disk: one line of `traces.jsonl` per vote, read back on demand."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from judge_r1.core.errors import JudgeError, explain, read_error, write_error
from judge_r1.core.items import Item, Vote
from judge_r1.core.jsonl import BadRecord, lines_at, read_jsonl, read_with_offsets
from judge_r1.core.memory import DocumentMemory
from judge_r1.core.record_base import NonEmpty, Record, content_hash_of_list
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import Verdict

TRACES = "traces.jsonl"


class EvaluationError(JudgeError):
    """An evaluation that cannot start or resume; the message says why."""


class Trace(Record):
    """One line of `traces.jsonl`: a vote with its trajectory. `row` is the name of the panel, `member` the index of
    the judge in it, and `usage` the cost at an endpoint (calls, tokens, seconds). `memory` holds the notes behind an
    invalid verdict; a judgment holds its own."""

    row: NonEmpty
    item_id: NonEmpty
    order: tuple[int, ...]
    sample: int
    member: int
    verdict: Verdict
    trajectory: Trajectory
    usage: dict[str, float] | None = None
    memory: tuple[DocumentMemory, ...] = ()

    @property
    def key(self) -> tuple[int, str, tuple[int, ...], int]:
        return self.member, self.item_id, self.order, self.sample

    @property
    def place(self) -> tuple[int, int, tuple[int, ...]]:
        """The position of the vote among those of its item."""
        return self.member, self.sample, self.order

    @property
    def vote(self) -> Vote:
        judgment = self.trajectory.judgment
        return Vote(
            order=self.order,
            sample=self.sample,
            member=self.member,
            verdict=self.verdict,
            ended=self.trajectory.ended,
            searches=self.trajectory.searches,
            confidence=judgment.confidence if judgment else None,
        )


class _TraceId(BaseModel):
    """The fields of a trace that an index needs."""

    model_config = ConfigDict(extra="ignore")
    row: str
    item_id: str


class StoredTraces(Mapping[str, list[Trace]]):
    """The traces of a panel by item id. Only the byte offsets of their lines are in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offsets: dict[str, list[int]] = {}

    def add(self, item_id: str, offset: int) -> None:
        self._offsets.setdefault(item_id, []).append(offset)

    def __getitem__(self, item_id: str) -> list[Trace]:
        offsets = self._offsets[item_id]
        return [self._parse(line, at) for line, at in zip(lines_at(self.path, offsets), offsets, strict=True)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)

    def count(self, item_id: str) -> int:
        """The number of traces of an item, without reading them."""
        return len(self._offsets.get(item_id, ()))

    def _parse(self, line: str, offset: int) -> Trace:
        try:
            return Trace.model_validate_json(line)
        except ValidationError as error:
            raise BadRecord(f"{self.path}, byte {offset}: {explain(error)}") from None


def stored_traces(out: Path) -> dict[str, StoredTraces]:
    """The traces in `out/traces.jsonl` by panel, indexed in one pass over the file."""
    path = out / TRACES
    panels: dict[str, StoredTraces] = {}
    for offset, trace in read_with_offsets(path, _TraceId):
        panels.setdefault(trace.row, StoredTraces(path)).add(trace.item_id, offset)
    return panels


def read_traces(out: Path, row: str | None = None) -> Iterator[Trace]:
    """Streams `out/traces.jsonl`, of one panel or of all, in the order of the file."""
    return (trace for trace in read_jsonl(out / TRACES, Trace) if row is None or trace.row == row)


@contextmanager
def append_traces(path: Path) -> Iterator[Callable[[Trace], int]]:
    """Yields a function that appends a trace and returns the byte offset of its line.

    Every line is flushed to the operating system, so a kill tears the last line at most.
    """

    def append(trace: Trace) -> int:
        line = trace.model_dump_json(by_alias=True).encode() + b"\n"
        offset = log.tell()
        try:
            log.write(line)
            log.flush()
        except OSError as error:
            raise write_error(path, error, "the finished traces are kept for a run with --resume") from error
        return offset

    try:
        log = path.open("ab")
    except OSError as error:
        raise EvaluationError(f"{path} cannot be written ({error.strerror}): choose another --out") from error
    try:
        yield append
    finally:
        with suppress(OSError):  # a failed write was reported above
            log.close()


def drop_torn_line(path: Path) -> bool:
    """Truncates the file after its last complete line; True if that removed something.

    Raises:
        JudgeError: The file cannot be read, or what would be removed is not the beginning of a trace.
    """
    if not path.exists():
        return False
    try:
        with path.open("r+b") as log:
            position = end = log.seek(0, 2)
            while position and (log.seek(position - 1), log.read(1))[1] != b"\n":
                position -= 1
            log.seek(position)
            if (torn := log.read(1)) not in (b"", b"{"):
                raise BadRecord(f"{path}: its last line is no trace, so no kill has left it: restore the file")
            if torn:
                log.truncate(position)
    except OSError as error:
        raise read_error(path, error) from None
    return position < end


def total_usage(usages: Iterable[Mapping[str, float] | None]) -> dict[str, float] | None:
    """The sum of endpoint usage by name; None if no trace has any."""
    total: dict[str, float] = {}
    for usage in usages:
        for name, value in (usage or {}).items():
            total[name] = total.get(name, 0) + value
    return {name: round(value, 3) for name, value in total.items()} or None


def items_hash(items: Sequence[Item]) -> str:
    """The hash of a panel's items in `rows.json`."""
    ids = {item.item_id: index for index, item in enumerate(items)}

    def described() -> Iterator[list[Any]]:
        for _, index in sorted(ids.items()):
            item = items[index]
            yield [item.item_id, item.model_dump()["candidates"], item.gold]

    return content_hash_of_list(described())
