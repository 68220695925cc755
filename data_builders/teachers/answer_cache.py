"""Caches teachers' answers on disk, so that no request is paid for twice and a killed build can be resumed.

The cache is one SQLite file in WAL mode with full synchronisation: an answer survives a kill and a power cut once `put`
has returned. It holds answers and hashes of requests, no prompts and no API keys. WAL needs a local disk.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Literal

from data_builders.teachers import TeacherError, TeacherReply, TeacherRequest
from judge_r1.core.errors import is_full
from judge_r1.core.record_base import content_hash

Via = Literal["live", "batch"]
_APPLICATION, _VERSION, _BUSY_S = 0x4A523143, 1, 30.0
_SCHEMA = f"""
    CREATE TABLE IF NOT EXISTS answers (
        key TEXT PRIMARY KEY, teacher TEXT NOT NULL, via TEXT NOT NULL,
        input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, answer TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS exported (key TEXT PRIMARY KEY, teacher TEXT NOT NULL, file TEXT NOT NULL) WITHOUT ROWID;
    PRAGMA application_id = {_APPLICATION};
    PRAGMA user_version = {_VERSION};
"""


def request_key(teacher: str, request: TeacherRequest) -> str:
    """The key of a request to the teacher of that name, and its `custom_id` in batches: 40 hex digits."""
    return content_hash("ask", teacher, request.model_dump(mode="json"), length=40)


@dataclass(frozen=True)
class Entry:
    """An answer to store, and how it was obtained."""

    key: str
    teacher: str
    answer: TeacherReply
    via: Via = "live"


@dataclass(frozen=True)
class Tokens:
    """The tokens that some calls used. Of the input, the provider read `cached` from its cache and stored `stored`."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    stored: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(*(mine + more for mine, more in zip(astuple(self), astuple(other), strict=True)))

    @classmethod
    def of(cls, answer: TeacherReply) -> "Tokens":
        """The tokens of one call."""
        return cls(1, answer.input_tokens, answer.output_tokens, answer.cached_tokens, answer.stored_tokens)


class Cache:
    """One cache file, used as a context manager. Tasks of a process share the object. Several processes may share the
    file: a writer waits for the other writers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._writer = ThreadPoolExecutor(1, "answer cache")
        try:
            with self._readable_errors():
                path.parent.mkdir(parents=True, exist_ok=True)
                # Two connections: a read sees committed answers alone while a thread writes.
                self._write, self._read = (
                    sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
                    for _ in range(2)
                )
                self._prepare()
        except TeacherError as error:
            if is_full(error) and path.exists() and not path.stat().st_size:
                path.unlink()  # a new file without content
            raise

    def __enter__(self) -> "Cache":
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.shutdown()  # waits for the answers that are still to be stored
        self._read.close()
        self._write.close()

    def get(self, key: str) -> TeacherReply | None:
        """The answer of a key, or None. Raises: TeacherError if the file cannot be read."""
        with self._readable_errors():
            row = self._read.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return TeacherReply.model_validate_json(row[0]) if row else None

    async def put(self, entry: Entry) -> TeacherReply:
        """Store an answer; return when it is on disk. If the key has an answer already, that one is returned. The
        answer was paid for, so it is also stored if the task is cancelled."""
        [stored] = await asyncio.shield(asyncio.wrap_future(self._writer.submit(self.put_all, [entry])))
        return stored

    def put_all(self, entries: Sequence[Entry]) -> list[TeacherReply]:
        """Store many answers in one transaction. Returns the stored answers, in order."""
        stored = []
        with self._readable_errors(), self._transaction():
            for entry in entries:
                answer, tokens = entry.answer, (entry.answer.input_tokens, entry.answer.output_tokens)
                row = (entry.key, entry.teacher, entry.via, *tokens, answer.model_dump_json())
                if not self._write.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?)", row).rowcount:
                    [text] = self._write.execute("SELECT answer FROM answers WHERE key = ?", (entry.key,)).fetchone()
                    answer = TeacherReply.model_validate_json(text)
                stored.append(answer)
        return stored

    def tokens(self, teacher: str, via: Via = "live") -> Tokens:
        """The tokens of all answers of a teacher in this file."""
        fields = ("input_tokens", "output_tokens", "cached_tokens", "stored_tokens")
        totals = ", ".join(f"total(json_extract(answer, '$.{field}'))" for field in fields)
        query = f"SELECT count(*), {totals} FROM answers WHERE teacher = ? AND via = ?"
        with self._readable_errors():
            return Tokens(*map(int, self._read.execute(query, (teacher, via)).fetchone()))

    def mark_exported(self, keys: Iterable[str], teacher: str, file: str) -> None:
        """Record that requests were written to a batch file."""
        with self._readable_errors(), self._transaction():
            rows = ((key, teacher, file) for key in keys)
            self._write.executemany("INSERT OR REPLACE INTO exported VALUES (?, ?, ?)", rows)

    def exported(self, key: str, teacher: str) -> bool:
        """Whether a request to this teacher was written to a batch file."""
        query = "SELECT 1 FROM exported WHERE key = ? AND teacher = ?"
        with self._readable_errors():
            return self._read.execute(query, (key, teacher)).fetchone() is not None

    def _prepare(self) -> None:
        [tables] = self._write.execute("SELECT count(*) FROM sqlite_master").fetchone()
        found = [self._write.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        if tables and found != [_APPLICATION, _VERSION]:
            raise TeacherError(f"{self.path} is not an answer cache of this version: give another file")
        [mode] = self._write.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise TeacherError(
                f"{self.path}: this file system does not support a write-ahead log: put the cache on a local disk"
            )
        for connection in (self._write, self._read):
            connection.execute("PRAGMA synchronous = FULL")
        with self._transaction():
            # One by one: executescript would commit the transaction first.
            for statement in _SCHEMA.split(";"):
                self._write.execute(statement)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock:
            # IMMEDIATE waits for other writers now. A read lock that is raised later fails without a wait.
            self._write.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._write.execute("COMMIT")
            except BaseException:
                # After some errors, such as a full disk, SQLite has rolled back by itself.
                if self._write.in_transaction:
                    self._write.execute("ROLLBACK")
                raise

    @contextmanager
    def _readable_errors(self) -> Iterator[None]:
        """Turn errors of SQLite and the disk into a TeacherError."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise TeacherError(
                    f"{self.path} was in use by another process for over {_BUSY_S:g} s: wait for it to end, or give "
                    "another cache=FILE"
                ) from None
            raise TeacherError(
                f"{self.path} cannot be used ({error}): free space there; the answers stored before are intact"
            ) from None
        except sqlite3.DatabaseError as error:
            raise TeacherError(f"{self.path} is not an answer cache ({error}): give another file") from None
        except OSError as error:
            raise TeacherError(f"{self.path} cannot be used: {error.strerror}") from None
