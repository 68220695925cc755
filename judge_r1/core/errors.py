"""The exit statuses of `judge-r1`, and the base class of errors that a user can cause."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

from judge_r1.core.folders import name_below

if TYPE_CHECKING:
    from pydantic import ValidationError


class ExitStatus(IntEnum):
    """Exit statuses of every command; 70, 74 and 75 are those of sysexits.h."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> "ExitStatus":
        status = int.__new__(cls, value)
        status._value_, status.meaning = value, meaning
        return status

    OK = 0, "success"
    INVALID_DATA = 1, "the command ran, and a check failed (validate), or the judge gave no answer (judge)"
    USAGE = 2, "an option, a file or a request is not valid; the message says what to do"
    UNDECIDED = 3, "the labels decide nothing about the judge (labels gate)"
    SOFTWARE = 70, "an unexpected error; the message names a log with the traceback"
    IO_ERROR = 74, "a file could not be written: the disk, a quota or a size limit is full"
    TRY_AGAIN = 75, "a temporary failure, such as a lost node: run the command again"
    INTERRUPTED = 130, "interrupted with Ctrl-C"
    BROKEN_PIPE = 141, "the reader of the output has ended, for example head"
    TERMINATED = 143, "ended by SIGTERM"


TRY_AGAIN = ExitStatus.TRY_AGAIN.value
"""A launched job retries a run with this status only."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a write that another attempt meets again until somebody frees space."""
_FULL_TEXTS = (
    "No space left on device", "File too large", "Disk quota exceeded", "database or disk is full", "disk I/O error",
    "PytorchStreamWriter failed writing", "inline_container.cc", "iostream error",
)  # fmt: skip
"""Messages of libraries that raise no OSError for a full disk: safetensors, SQLite, and torch without a reason."""


class JudgeError(Exception):
    """Invalid input or an impossible request. The message says what is wrong, where, and what to do."""

    exit_status: int = ExitStatus.USAGE


class StorageFull(JudgeError):
    """A file cannot be written for lack of space."""

    exit_status = ExitStatus.IO_ERROR


def read_error(path: Path, error: OSError) -> JudgeError:
    """The error to raise when a file cannot be read. For a missing one it names the folders below that hold it."""
    elsewhere = name_below(path.parent, path.name) if isinstance(error, FileNotFoundError) else ""
    return JudgeError(f"{path} cannot be read: {reason_of(path, error)}{elsewhere}")


def write_error(path: Path, error: OSError, outcome: str = "") -> JudgeError:
    """The error to raise when a file cannot be written. `outcome` says what became of the file."""
    message = f"{path} could not be written ({reason_of(path, error)})" + (f": {outcome}" if outcome else "")
    return StorageFull(f"{message}; {_space(path)}") if error.errno in FULL else JudgeError(message)


def is_full(error: BaseException | None) -> bool:
    """Did a full disk, a quota or a limit on the size of files cause this exception?"""
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        message = "" if isinstance(error, ValueError) else str(error)  # pydantic's message shows the whole input
        if any(text in message for text in _FULL_TEXTS):
            return True
        error = error.__cause__ or error.__context__
    return False


@contextmanager
def storage_full(path: Path, outcome: Callable[[], str] = str) -> Iterator[None]:
    """Turns every exception of the block that a full disk caused into StorageFull. `outcome` says what became of
    `path`."""
    try:
        yield
    except Exception as error:
        if isinstance(error, JudgeError) or not is_full(error):
            raise
        raise write_error(path, OSError(errno.ENOSPC, " ".join(str(error).split())), outcome()) from error


@contextmanager
def invalid_as(kind: type[JudgeError], where: object, advice: str = "") -> Iterator[None]:
    """Turns pydantic's error of the block into `kind`: `where`, the first problem, and `advice`."""
    from pydantic import ValidationError

    try:
        yield
    except ValidationError as error:
        raise kind(f"{where}: {explain(error)}{advice}") from None


def reason_of(path: Path, error: OSError) -> str:
    """Why a path cannot be read or written."""
    # Unlike Path.is_file, os.path.isfile does not raise for a name that is too long or a folder without permission.
    file = next((one for one in (path, *path.parents) if os.path.isfile(one)), None)
    if file and isinstance(error, NotADirectoryError | FileExistsError):
        return f"{file} is a file, not a folder"
    return error.strerror or str(error) or type(error).__name__


def _space(path: Path) -> str:
    """The free space on the file system of a path, and what to do."""
    advice = "free space or choose another folder, then run the command again"
    try:
        folder = next(folder for folder in (path, *path.absolute().parents) if folder.is_dir())
        return f"{shutil.disk_usage(folder).free / 2**20:,.1f} MiB are free there: {advice}"
    except (OSError, StopIteration):
        return advice


def explain(error: "ValidationError") -> str:
    """The first problem of a pydantic error as one sentence: the field, the reason, and a text that is no value."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ").partition(" or instance of ")[0]
    value = first["input"]
    if first["type"].endswith("_parsing") and isinstance(value, str) and len(value) < 40:
        message += f": {value!r}"
    if first["type"] in ("tuple_type", "list_type"):
        message = "Input should be a valid list, such as [a, b]"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"field {field}: {message}{more}" if field else f"{message}{more}"
