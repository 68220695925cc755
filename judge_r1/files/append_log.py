"""Logs of JSON lines that are only appended to, with one rule: what is torn is owed again.

A line is written whole or not at all: a failed write is taken back. A kill may still tear the last line. Readers leave
that part out (`log_lines`), the next writer removes it, and what the line stood for is done again.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from judge_r1.core.errors import JudgeError, write_error
from judge_r1.files.jsonl import BadRecord, numbered_lines
from judge_r1.files.strict_json import is_json, is_torn

_BLOCK = 1 << 16


def log_lines(path: Path, model: type[BaseModel] | None = None) -> Iterator[tuple[int, int, bytes]]:
    """The lines of a log as `numbered_lines` yields them, without a torn one (of `model`) at the end. A missing log has
    none."""
    for number, offset, line in numbered_lines(path) if path.exists() else ():
        if line.endswith(b"\n") or not is_torn(line, model):
            yield number, offset, line


class AppendLog:
    """A log that is open to append to, by several threads.

    Args:
        path: Is created if it does not exist.
        private: Only the owner can read a new file.
        synced: A line is on disk, and not only with the operating system, before `append` returns.
        alone: No other process may have the log open in this way.
        outcome: What a failed write leaves, for its error.

    Raises:
        JudgeError: The file cannot be opened, or another process has it.
    """

    def __init__(
        self, path: Path, *, private: bool = False, synced: bool = False, alone: bool = False, outcome: str = ""
    ) -> None:
        self._path, self._synced, self._outcome = path, synced, outcome
        self._lock, self._whole = threading.Lock(), False
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600 if private else 0o644)
        except OSError as error:
            raise write_error(path, error) from error
        try:
            if alone:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise JudgeError(f"{path} is in use by another process: stop it, or name another file") from None

    def append(self, line: bytes) -> int:
        """Writes a line with its end and returns its byte offset. Raises: JudgeError, and the log is as before."""
        with self._lock:
            if not self._whole:
                self._mend()
            return self._write(line)

    def mend(self) -> int:
        """Removes a torn last line, as the first `append` does. Returns its size in bytes, 0 if there is none.

        Raises:
            BadRecord: The last line has no end and is not the beginning of a record, so no kill has left it.
        """
        with self._lock:
            return self._mend()

    def _mend(self) -> int:
        end = os.fstat(self._file).st_size
        start, line = end, b""
        # Backwards, because a log of many gigabytes ends in one torn line of some kilobytes.
        while start and b"\n" not in line:
            size = min(_BLOCK, start)
            start -= size
            line = os.pread(self._file, size, start) + line
        line = line.rpartition(b"\n")[2]
        torn = len(line) if is_torn(line) else 0
        if torn:
            os.ftruncate(self._file, end - torn)
        elif line:  # without a line feed at its end, which an editor may leave out
            if not line.startswith(b"{") or not is_json(line):
                raise BadRecord(f"{self._path}: its last line is no record, so no kill has left it: restore the file")
            self._write(b"\n")
        self._whole = True
        return torn

    def _write(self, line: bytes) -> int:
        start = written = 0
        try:
            start = os.fstat(self._file).st_size
            while written < len(line):  # a part fits on a full disk; the next write says why no more does
                written += os.write(self._file, line[written:])
            if self._synced:
                os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):  # no file on a disk, such as /dev/full
                if os.fstat(self._file).st_size == start + written:  # no other process has appended since
                    os.ftruncate(self._file, start)
            raise write_error(self._path, error, self._outcome) from error
        return start

    def close(self) -> None:
        with suppress(OSError):  # a failed write was reported by `append`
            os.close(self._file)

    def __enter__(self) -> "AppendLog":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
