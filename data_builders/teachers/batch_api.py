"""Batches: asks written to a file for a vendor's batch service, and its results taken into the cache.

    with BatchExport(wire, cache, path) as teacher:  # a teacher that answers from the cache, writes down
        ...                                          # what is not there and raises Pending instead
    import_batch(wire, cache, results)

A later ask (a retry with a reason, the next turn) depends on earlier answers, so batches go round by round: export, let
the vendor work, import, and export again until nothing is left to ask.
"""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_builders.teachers import BatchPending, TeacherError, TeacherReply, TeacherRequest
from data_builders.teachers.answer_cache import Cache, Entry, ask_key
from data_builders.teachers.provider import FailedRow, Provider
from judge_r1.core.jsonl import Writing, dump_line

MAX_ROWS, MAX_BYTES = 50_000, 100_000_000
"""Of one file: what both vendors take."""
_AT_ONCE = 500


class BatchExport:
    """A teacher whose every new ask becomes a line of a batch file; a block that raises leaves no file. Where one file
    is not enough, `NAME-2.jsonl` and so on follow."""

    def __init__(self, wire: Provider, cache: Cache, path: Path) -> None:
        self._wire, self._cache, self._path = wire, cache, path
        self._keys: set[str] = set()
        self._stack = ExitStack()
        self._writing: Writing | None = None
        self._rows = self._bytes = 0
        self.files: list[Path] = []
        self.reused = 0
        self.again = 0
        """Asks that an earlier export holds, too, and whose results were never imported."""

    @property
    def name(self) -> str:
        return self._wire.name

    @property
    def rows(self) -> int:
        return len(self._keys)

    def __enter__(self) -> "BatchExport":
        self._stack.__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            self._stack.__exit__(kind, error, trace)
            return
        with self._stack:  # marked before the files appear: their results must be known when they come back
            self._cache.mark_exported(sorted(self._keys), self.name, self._path.name)

    async def ask(self, ask: TeacherRequest) -> TeacherReply:
        """Errors: Pending for what the cache does not hold."""
        key = ask_key(self.name, ask)
        if (answer := self._cache.get(key)) is not None:
            self.reused += 1
            return answer
        if key not in self._keys:
            self.again += self._cache.exported(key, self.name)
            self._append(dump_line(self._wire.batch_row(key, ask)))
            self._keys.add(key)
        raise BatchPending(f"{self.name} has not answered yet: the ask stands in {self.files[-1]}")

    def _append(self, line: str) -> None:
        size = len(line.encode())
        if self._writing is None or self._rows == MAX_ROWS or self._bytes + size > MAX_BYTES:
            number = len(self.files) + 1
            part = self._path if number == 1 else self._path.with_stem(f"{self._path.stem}-{number}")
            self._writing = self._stack.enter_context(Writing(part))
            self.files.append(part)
            self._rows = self._bytes = 0
        self._writing.write(self.files[-1], line)
        self._rows, self._bytes = self._rows + 1, self._bytes + size


@dataclass(frozen=True)
class Imported:
    """Answers taken into the cache, answers that it had already, and failed rows by the vendor's reason."""

    kept: int
    known: int
    failed: Counter[str]


def import_batch(wire: Provider, cache: Cache, path: Path) -> Imported:
    """Take a result file into the cache, whatever its order. Failed rows are counted; the next export asks them again.

    Errors: TeacherError, before anything is taken, for a line that is no result, or of no export from this cache.
    """
    for _ in _answers(wire, cache, path):
        pass
    kept = known = 0
    failed: Counter[str] = Counter()
    waiting: dict[str, Entry] = {}
    for key, answer in _answers(wire, cache, path):
        if isinstance(answer, FailedRow):
            failed[" ".join(str(answer).split())[:120]] += 1
            continue
        if key in waiting or cache.get(key) is not None:
            known += 1
            continue
        waiting[key] = Entry(key, wire.name, answer, "batch")
        if len(waiting) == _AT_ONCE:
            kept += len(cache.put_all(list(waiting.values())))
            waiting = {}
    kept += len(cache.put_all(list(waiting.values())))
    return Imported(kept, known, failed)


def _answers(wire: Provider, cache: Cache, path: Path) -> Iterator[tuple[str, TeacherReply | FailedRow]]:
    """The keys of the asks in a result file and what came of them. Errors: TeacherError, as above."""
    for where, row in _results(path):
        key = row["custom_id"]
        if not cache.exported(key, wire.name):
            raise TeacherError(
                f"{where}: custom_id {key!r} stands in no batch of {wire.name} that was exported with the cache "
                f"{cache.path}: nothing was imported"
            )
        try:
            yield key, wire.batch_result(row)
        except FailedRow as error:
            yield key, error
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise TeacherError(
                f"{where} is no result for {wire.name} ({type(error).__name__}: {error}): nothing was imported"
            ) from None


def _results(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of a result file, and where each stands."""
    try:
        lines = path.open(encoding="utf-8")
    except OSError as error:
        raise TeacherError(f"{path} cannot be read: {error.strerror}") from None
    with lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            where = f"{path}, line {number}"
            try:
                row = json.loads(line)
            except ValueError:
                raise TeacherError(f"{where} is not JSON: fetch the result file again") from None
            if not isinstance(row, dict) or not isinstance(row.get("custom_id"), str):
                raise TeacherError(f"{where} has no custom_id: this is no result file of a batch")
            yield where, row
