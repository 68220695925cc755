"""JSON Lines in and out. Reading names the file, the line and the field of a mistake; writing is all or nothing."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeVar

from pydantic import BaseModel, ValidationError

from judge_r1.core.errors import JudgeError

M = TypeVar("M", bound=BaseModel)


class BadRecord(JudgeError):
    """A line that is not JSON, or not the record it should be."""


def read_jsonl(path: Path, model: type[M], *, unique: str | None = None) -> Iterator[M]:
    """The records of a file, checked one by one. `unique` names an id that must not repeat."""
    return (record for _, record in read_with_offsets(path, model, unique=unique))


def read_with_offsets(path: Path, model: type[M], *, unique: str | None = None) -> Iterator[tuple[int, M]]:
    """As `read_jsonl`, each record with the byte at which its line begins."""
    seen: dict[object, int] = {}
    with _open(path) as lines:
        place = 0
        for number, line in enumerate(lines, 1):
            start, place = place, place + len(line)
            if not line.strip():
                continue
            try:
                record = model.model_validate_json(line)
            except ValidationError as error:
                raise BadRecord(f"{path}, line {number}: {explain(error)}") from None
            if unique is not None:
                key = getattr(record, unique)
                if key in seen:
                    raise BadRecord(
                        f"{path}, line {number}: {unique} {key} stands on line {seen[key]} already; "
                        "remove one of the two"
                    )
                seen[key] = number
            yield start, record


def lines_at(path: Path, places: Iterable[int]) -> Iterator[str]:
    """The lines that begin at these bytes of a file, as they stand there, each with its line feed."""
    with _open(path) as file:
        for place in places:
            file.seek(place)
            yield file.readline().decode().rstrip("\n") + "\n"


def explain(error: ValidationError) -> str:
    """A pydantic error as one sentence: the field and what is wrong with it."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"field {field}: {message}{more}" if field else f"{message}{more}"


def dump_line(record: BaseModel | dict[str, Any]) -> str:
    """One record as one line of JSON, keys in declaration order."""
    data = record.model_dump(mode="json", by_alias=True) if isinstance(record, BaseModel) else record
    return json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n"


def write_jsonl(path: Path, records: Iterable[BaseModel | dict[str, Any]]) -> int:
    """Write all records or leave the path as it was; returns how many were written."""
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        for record in records:
            count += 1
            yield dump_line(record)

    write_atomic(path, lines())
    return count


def write_json(path: Path, data: Any) -> None:
    write_atomic(path, [json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"])


def write_atomic(path: Path, parts: Iterable[str]) -> None:
    """Write beside the target, sync, then rename: a full disk or a kill leaves the old file, or none, never half."""
    with AtomicFiles(path) as out:
        for part in parts:
            out.write(path, part)


class AtomicFiles:
    """Several files written at once, each beside its target, and put in place together at the end of the block: as
    `write_atomic` for files that grow side by side. A block that raises changes nothing."""

    def __init__(self, *paths: Path) -> None:
        self._partial = {path: path.with_name(f".{path.name}.{os.getpid()}.partial") for path in paths}
        self._files: dict[Path, TextIO] = {}

    def __enter__(self) -> "AtomicFiles":
        try:
            for path, partial in self._partial.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                self._files[path] = partial.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            self._drop()
            raise _unwritten(path, error) from error
        return self

    def write(self, path: Path, part: str) -> None:
        """Append to one of the files."""
        try:
            self._files[path].write(part)
        except OSError as error:
            raise _unwritten(path, error) from error

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                for file in self._files.values():
                    file.flush()
                    os.fsync(file.fileno())
                for path, partial in self._partial.items():
                    partial.replace(path)
        except OSError as error:
            raise _unwritten(next(iter(self._partial)), error) from error
        finally:
            self._drop()

    def _drop(self) -> None:
        for file in self._files.values():
            with suppress(OSError):
                file.close()
        for partial in self._partial.values():
            with suppress(OSError):
                partial.unlink()


def remove_partial_files(*paths: Path) -> None:
    """Remove what `Writing` began beside these paths in processes of this machine that were killed since."""
    for path in paths:
        for partial in path.parent.glob(f".{path.name}.*.partial"):
            owner = partial.name.split(".")[-2]
            if owner.isdigit() and not _runs(int(owner)):
                partial.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's
        return True
    return True


def _unwritten(path: Path, error: OSError) -> JudgeError:
    return JudgeError(f"{path} could not be written ({error.strerror}): nothing was changed there")


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise JudgeError(f"{path} cannot be read: {error.strerror}") from None
