"""Writes requests to a file for a vendor's batch service, and imports the results into the cache.

Later requests (a retry, the next turn) depend on earlier answers, so batches take several rounds: export, process,
import, and export again until no request is left.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_builders.teachers import BatchPending, TeacherError, TeacherReply, TeacherRequest
from data_builders.teachers.answer_cache import Cache, Entry, Tokens, request_key
from data_builders.teachers.endpoint import EndpointTeacher, FailedRow
from judge_r1.files.jsonl import AtomicFiles, dump_line
from judge_r1.files.partial_files import remove_partial_files
from judge_r1.files.strict_json import parse_json

MAX_ROWS, MAX_BYTES = 50_000, 100_000_000
"""Limits of one batch file at both vendors."""
CHARACTERS_PER_TOKEN = 4
"""A rough value for English: vendors do not publish the tokenizers of all models."""


class BatchExport:
    """A teacher that writes every new request to a batch file, and to `NAME-2.jsonl` and so on when a file is full. A
    block that raises leaves no file."""

    def __init__(self, teacher: EndpointTeacher, cache: Cache, path: Path) -> None:
        self._teacher, self._cache, self._path = teacher, cache, path
        self._keys: set[str] = set()
        self._stack = ExitStack()
        self._writing: AtomicFiles | None = None
        self._rows = self._bytes = 0
        self.files: list[Path] = []
        self.reused = 0
        self.repeated = 0
        """Requests that are also in an earlier export whose results were not imported."""
        self._characters = self._max_tokens = 0

    @property
    def name(self) -> str:
        return self._teacher.name

    @property
    def rows(self) -> int:
        return len(self._keys)

    @property
    def most(self) -> Tokens:
        """An estimate of the input, and the output if every answer has its `max_tokens`."""
        return Tokens(self.rows, round(self._characters / CHARACTERS_PER_TOKEN), self._max_tokens)

    def __enter__(self) -> "BatchExport":
        remove_partial_files(self._path.parent)
        self._stack.__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            self._stack.__exit__(kind, error, trace)
            return
        with self._stack:  # marked before the files appear, so that every result is known at import
            self._cache.mark_exported(sorted(self._keys), self.name, self._path.name)

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        """Raises: BatchPending for a request that the cache cannot answer."""
        key = request_key(self.name, request)
        if (answer := self._cache.get(key)) is not None:
            self.reused += 1
            return answer
        if key not in self._keys:
            self.repeated += self._cache.exported(key, self.name)
            self._append(dump_line(self._teacher.batch_row(key, request)))
            self._keys.add(key)
            self._characters += len(request.system) + len(request.user)
            self._max_tokens += request.max_tokens
        raise BatchPending(f"{self.name} has not answered yet: the request is in {self.files[-1]}")

    def _append(self, line: str) -> None:
        size = len(line.encode())
        if self._writing is None or self._rows == MAX_ROWS or self._bytes + size > MAX_BYTES:
            number = len(self.files) + 1
            part = self._path if number == 1 else self._path.with_stem(f"{self._path.stem}-{number}")
            self._writing = self._stack.enter_context(AtomicFiles(part))
            self.files.append(part)
            self._rows = self._bytes = 0
        self._writing.write(self.files[-1], line)
        self._rows, self._bytes = self._rows + 1, self._bytes + size


@dataclass(frozen=True)
class Imported:
    """The number of new answers and of known ones, and failed rows by the vendor's reason."""

    new: int
    known: int
    failed: Counter[str]


def check_results(path: Path, cache: Path) -> None:
    """Check a result file before any file is written. Raises: TeacherError, also if no cache has exported a batch."""
    for _ in _results(path):
        pass
    if not cache.exists():
        raise TeacherError(f"{cache} does not exist: import {path} with the cache that its batch was exported with")


def import_batch(teacher: EndpointTeacher, cache: Cache, path: Path) -> Imported:
    """Import a result file, in any order. Failed rows are counted; the next export requests them again.

    Raises: TeacherError, before anything is imported, for a line that is no result of an export from this cache.
    """
    found = list(_answers(teacher, cache, path))
    failed = Counter(" ".join(str(answer).split())[:120] for _, answer in found if isinstance(answer, FailedRow))
    answers = {key: answer for key, answer in reversed(found) if isinstance(answer, TeacherReply)}  # the first counts
    new = [Entry(key, teacher.name, answer, "batch") for key, answer in answers.items() if cache.get(key) is None]
    cache.put_all(new)
    return Imported(len(new), len(found) - failed.total() - len(new), failed)


def _answers(teacher: EndpointTeacher, cache: Cache, path: Path) -> Iterator[tuple[str, TeacherReply | FailedRow]]:
    """The keys in a result file and their answers or errors. Raises: TeacherError, as above."""
    for where, row in _results(path):
        key = row["custom_id"]
        if not cache.exported(key, teacher.name):
            raise TeacherError(
                f"{where}: custom_id {key!r} is in no batch of {teacher.name} that was exported with the cache "
                f"{cache.path}: nothing was imported"
            )
        try:
            yield key, teacher.batch_result(row)
        except FailedRow as error:
            yield key, error
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise TeacherError(
                f"{where} is no result for {teacher.name} ({type(error).__name__}: {error}): nothing was imported"
            ) from None


def _results(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of a result file, each with its location. Raises: TeacherError, also if there are none."""
    empty = True
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                where = f"{path}, line {number}"
                try:
                    row = parse_json(line, where)
                except ValueError:
                    raise TeacherError(f"{where} is not JSON: download the result file again") from None
                if not isinstance(row, dict) or not isinstance(row.get("custom_id"), str):
                    raise TeacherError(f"{where} has no custom_id: this is not a result file of a batch")
                empty = False
                yield where, row
    except OSError as error:
        raise TeacherError(f"{path} cannot be read: {error.strerror}") from None
    if empty:
        raise TeacherError(f"{path} has no results: download the result file again")
