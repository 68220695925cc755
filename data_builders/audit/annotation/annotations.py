"""Stores annotators' answers as JSON Lines, synced to disk before they are acknowledged.

The file is append-only. A changed choice is a new line, and the last line counts. An incomplete last line, left by a
kill or a full disk, was never acknowledged; it is removed when the file is opened for writing.
"""

import fcntl
import os
import threading
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Annotated, Literal

from pydantic import Field, field_validator

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import dump_line
from judge_r1.core.record_base import NonEmpty, PrincipleNumber, Record
from judge_r1.core.strict_json import BadJson, parse_model
from judge_r1.core.verdicts import Preference

MAX_NAME_LENGTH, MAX_NOTE_LENGTH = 40, 2_000
Round = Literal[1, 2]


class AnswerFileError(JudgeError):
    """A file of answers cannot be read or written, or does not belong to the pairs."""


class Answer(Record):
    """One choice. `choice` and `shown_first` are sides of the pair in its file, not on the page."""

    schema_: Literal[1] = Field(1, alias="schema")
    annotator: Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)]
    round: Round
    pair_id: NonEmpty
    choice: Preference
    shown_first: Preference
    principles: tuple[PrincipleNumber, ...] = ()
    note: Annotated[str, Field(max_length=MAX_NOTE_LENGTH)] = ""
    at: NonEmpty

    @field_validator("annotator")
    @classmethod
    def _is_normalized(cls, name: str) -> str:
        normalized = unicodedata.normalize("NFC", name).strip()
        if name != normalized or not name.isprintable():
            raise ValueError("must be plain text without spaces around it")
        return name

    @field_validator("principles")
    @classmethod
    def _sorted_unique(cls, principles: tuple[int, ...]) -> tuple[int, ...]:
        if list(principles) != sorted(set(principles)):
            raise ValueError(f"must be sorted and without repeats, not {list(principles)}")
        return principles


def read_answers(path: Path) -> list[Answer]:
    """Return the answers of a file in order, without an incomplete last line. A missing file has no answers."""
    return _parse(path, _bytes(path))[0]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise AnswerFileError(f"{path} cannot be read: {error.strerror}") from None


def _parse(path: Path, data: bytes) -> tuple[list[Answer], int]:
    """Return the answers and the number of bytes up to the end of the last one."""
    answers, end = [], 0
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        if line.strip():
            try:
                answers.append(parse_model(Answer, line, f"{path}, line {number}"))
            except BadJson as error:
                if not line.endswith(b"\n"):
                    break
                raise AnswerFileError(f"{path}, line {number}: {error.reason}") from None
        end += len(line)
    return answers, end


class AnswerLog:
    """A file of answers, locked for writing by this process. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise AnswerFileError(f"{path} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise AnswerFileError(f"{path} is in use by another audit: stop it, or pass another file") from None
        try:
            data = _bytes(path)
            self._answers, self._end = _parse(path, data)
            self.dropped = len(data) - self._end
            os.ftruncate(self._file, self._end)
            if data[: self._end] and not data[: self._end].endswith(b"\n"):
                self._write(b"\n")
            _sync_folder(path.parent)
        except BaseException:
            os.close(self._file)
            raise

    @property
    def answers(self) -> Sequence[Answer]:
        with self._lock:
            return tuple(self._answers)

    def append(self, answer: Answer) -> None:
        """Append an answer and sync it to disk.

        Raises:
            AnswerFileError: writing failed; the file is unchanged.
        """
        with self._lock:
            self._write(dump_line(answer).encode())
            self._answers.append(answer)

    def _write(self, line: bytes) -> None:
        try:
            if os.write(self._file, line) != len(line):
                raise OSError(0, "the disk is full")
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._end)
            raise AnswerFileError(
                f"{self.path} could not be written ({error.strerror}): the answer was not saved"
            ) from None
        self._end += len(line)

    def __enter__(self) -> "AnswerLog":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)


def _sync_folder(folder: Path) -> None:
    """Sync the folder, so that the name of a new file survives a crash."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
