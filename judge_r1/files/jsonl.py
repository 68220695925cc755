"""Reads and writes JSON Lines. Errors name the file, the line and the field; writing is atomic."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from pydantic import BaseModel

from judge_r1.core.errors import JudgeError, read_error, write_error
from judge_r1.files.partial_files import open_partial
from judge_r1.files.strict_json import BadJson, parse_model

M = TypeVar("M", bound=BaseModel)


class BadRecord(JudgeError):
    """A line is not valid JSON or not a valid record."""


def read_jsonl(path: Path, model: type[M], *, unique: str | None = None) -> Iterator[M]:
    """Streams the records of a file. `unique` names a field whose values must be unique.

    Raises:
        BadRecord: A line is not a valid record, or repeats a unique value.
    """
    return (record for _, record in read_with_offsets(path, model, unique=unique))


def read_with_offsets(path: Path, model: type[M], *, unique: str | None = None) -> Iterator[tuple[int, M]]:
    """Like `read_jsonl`, with the byte offset of each record's line."""
    seen: dict[object, int] = {}
    for number, offset, line in numbered_lines(path):
        record = parse_line(model, line, path, number)
        if unique is not None:
            key = getattr(record, unique)
            if key in seen:
                raise BadRecord(
                    f"{path}, line {number}: {unique} {key} is already on line {seen[key]}; remove one of them"
                )
            seen[key] = number
        yield offset, record


def numbered_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """The lines of a file that are not blank, which editors leave at its end: number, byte offset and bytes."""
    offset = 0
    for number, line in enumerate(_lines(path), 1):
        start, offset = offset, offset + len(line)
        if line.strip():
            yield number, start, line


def parse_line(model: type[M], line: bytes, path: Path, number: int) -> M:
    """A line of a file as a record. Raises: BadRecord."""
    try:
        return parse_model(model, line, f"{path}, line {number}")
    except BadJson as error:
        raise BadRecord(f"{path}, line {number}: {error.reason}") from None


def ids_with_offsets(path: Path, field: str) -> Iterator[tuple[str, int]]:
    """The value of `field` in each record, with the byte offset of its line. The records are not validated.

    Raises:
        BadRecord: A line is not a JSON object with this field.
    """
    offset = 0
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            try:
                yield str(json.loads(line)[field]), offset
            except (ValueError, KeyError, TypeError, RecursionError):
                raise BadRecord(f"{path}, line {number}: not a record with {field}") from None
        offset += len(line)


def lines_at(path: Path, offsets: Iterable[int]) -> Iterator[str]:
    """The lines at these byte offsets of a file, each with a line feed."""
    with open_to_read(path) as file:
        for offset in offsets:
            file.seek(offset)
            # The last line of a file may have no line feed.
            yield file.readline().decode().rstrip("\r\n") + "\n"


def dump_line(record: BaseModel | dict[str, Any]) -> str:
    """One record as a line of JSON, with keys in declaration order."""
    data = record.model_dump(mode="json", by_alias=True) if isinstance(record, BaseModel) else record
    # Not `model_dump_json`, which writes NaN as null.
    return json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n"


def write_jsonl(path: Path, records: Iterable[BaseModel | dict[str, Any]]) -> int:
    """Writes all records atomically. Returns their number."""
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        for record in records:
            count += 1
            yield dump_line(record)

    write_atomic(path, lines())
    return count


def dump_json(data: Any) -> str:
    """A JSON value as the text of a file."""
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def write_json(path: Path, data: Any) -> None:
    """Writes a JSON value atomically."""
    write_atomic(path, [dump_json(data)])


def write_atomic(path: Path, parts: Iterable[str]) -> None:
    """Writes a temporary file, syncs it and renames it: a full disk or a kill never leaves a partial file."""
    with AtomicFiles(path) as out:
        for part in parts:
            out.write(path, part)


class AtomicFiles:
    """Writes several files together, like `write_atomic` for one. They are renamed at the end of the block, in their
    order. If the block raises, no file changes. Only the owner can read files that are `private`."""

    def __init__(self, *paths: Path, private: bool = False) -> None:
        self._paths, self._private = paths, private
        self._files: dict[Path, TextIOWrapper] = {}

    def __enter__(self) -> "AtomicFiles":
        for path in self._paths:
            try:
                self._files[path] = TextIOWrapper(open_partial(path), encoding="utf-8", newline="\n")
                if self._private:
                    os.fchmod(self._files[path].fileno(), 0o600)
            except OSError as error:
                self._discard()
                raise _write_error(path, error) from error
        return self

    def write(self, path: Path, part: str) -> None:
        """Append to one of the files."""
        try:
            self._files[path].write(part)
        except OSError as error:
            raise _write_error(path, error) from error

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            # All are synced before the first is renamed, so that a full disk changes no file.
            for step in (_sync, _rename) if kind is None else ():
                for path, file in self._files.items():
                    try:
                        step(file, path)
                    except OSError as error:
                        raise _write_error(path, error) from error
        finally:
            self._discard()

    def _discard(self) -> None:
        for file in self._files.values():
            with suppress(OSError):
                # Closed after this: with its lock gone, another process could take the file for a leftover.
                os.unlink(file.name)
            with suppress(OSError):
                file.close()


def _sync(file: TextIOWrapper, path: Path) -> None:
    file.flush()
    os.fsync(file.fileno())


def _rename(file: TextIOWrapper, path: Path) -> None:
    os.replace(file.name, path)


def _write_error(path: Path, error: OSError) -> JudgeError:
    return write_error(path, error, "it is unchanged")


@contextmanager
def open_to_read(path: Path) -> Iterator[BinaryIO]:
    """The file as bytes. Raises: JudgeError if it cannot be read."""
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise read_error(path, error) from None


def _lines(path: Path) -> Iterator[bytes]:
    with open_to_read(path) as file:
        yield from file
