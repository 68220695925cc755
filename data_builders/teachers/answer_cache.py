"""Answers on disk by what was asked: nothing is paid for twice, and a killed build replays what it had.

One SQLite file in WAL mode with full synchronisation: an answer whose `put` has returned survives a kill and a power
cut. It holds answers and hashes, no asks and no keys. Keep it on a local disk: WAL does not work over a network.
"""

import asyncio
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from data_builders.teachers import TeacherError, TeacherReply, TeacherRequest
from judge_r1.core.records import content_hash

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


def ask_key(teacher: str, ask: TeacherRequest) -> str:
    """The key of an ask to the teacher of that name, and its `custom_id` in batches: 40 hex digits."""
    return content_hash("ask", teacher, ask.model_dump(mode="json"), length=40)


@dataclass(frozen=True)
class Entry:
    """An answer about to be kept, and the way that it came."""

    key: str
    teacher: str
    answer: TeacherReply
    via: Via = "live"


@dataclass(frozen=True)
class Tokens:
    """What some calls used."""

    calls: int = 0
    input: int = 0
    output: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(self.calls + other.calls, self.input + other.input, self.output + other.output)


class Cache:
    """One file. Tasks of a process share the object; other processes may use the file at the same time: whoever wants
    to write waits for the other. Use it as a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting: list[tuple[Entry, asyncio.Future[TeacherReply]]] = []
        self._writer: asyncio.Task[None] | None = None
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write, self._read = (
                sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False) for _ in range(2)
            )
            self._prepare()

    def __enter__(self) -> "Cache":
        return self

    def __exit__(self, *_: object) -> None:
        self._read.close()
        self._write.close()

    def get(self, key: str) -> TeacherReply | None:
        """Errors: TeacherError where the file cannot be read."""
        with self._explained():
            row = self._read.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return TeacherReply.model_validate_json(row[0]) if row else None

    async def put(self, entry: Entry) -> TeacherReply:
        """Returns once the answer is on disk; where another one stands there already, that one wins and is returned.
        Answers that come while one is being written share the next write."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, future))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write_waiting())
        return await asyncio.shield(future)

    def put_all(self, entries: Sequence[Entry]) -> list[TeacherReply]:
        """As `put`, for many in one transaction; the answers that are kept, in order."""
        kept = []
        with self._explained(), self._transaction():
            for entry in entries:
                answer, tokens = entry.answer, (entry.answer.input_tokens, entry.answer.output_tokens)
                row = (entry.key, entry.teacher, entry.via, *tokens, answer.model_dump_json())
                if not self._write.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?)", row).rowcount:
                    [text] = self._write.execute("SELECT answer FROM answers WHERE key = ?", (entry.key,)).fetchone()
                    answer = TeacherReply.model_validate_json(text)
                kept.append(answer)
        return kept

    def tokens(self, teacher: str, via: Via = "live") -> Tokens:
        """What all answers of a teacher in this file have used."""
        query = "SELECT count(*), total(input_tokens), total(output_tokens) FROM answers WHERE teacher = ? AND via = ?"
        with self._explained():
            calls, read, written = self._read.execute(query, (teacher, via)).fetchone()
        return Tokens(calls, int(read), int(written))

    def mark_exported(self, keys: Iterable[str], teacher: str, file: str) -> None:
        """Remember that asks stand in a batch file."""
        with self._explained(), self._transaction():
            rows = ((key, teacher, file) for key in keys)
            self._write.executemany("INSERT OR REPLACE INTO exported VALUES (?, ?, ?)", rows)

    def exported(self, key: str, teacher: str) -> bool:
        """Whether an ask to this teacher stands in a batch file."""
        query = "SELECT 1 FROM exported WHERE key = ? AND teacher = ?"
        with self._explained():
            return self._read.execute(query, (key, teacher)).fetchone() is not None

    # ---- inside ----

    def _prepare(self) -> None:
        [tables] = self._write.execute("SELECT count(*) FROM sqlite_master").fetchone()
        found = [self._write.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        if tables and found != [_APPLICATION, _VERSION]:
            raise TeacherError(f"{self.path} is no cache of answers, or one of another version: name another file")
        [mode] = self._write.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise TeacherError(f"{self.path}: this file system holds no write-ahead log: put the cache on a local disk")
        for connection in (self._write, self._read):
            connection.execute("PRAGMA synchronous = FULL")
        with self._transaction():
            for statement in _SCHEMA.split(";"):
                self._write.execute(statement)

    async def _write_waiting(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                try:
                    kept = await asyncio.to_thread(self.put_all, [entry for entry, _ in batch])
                except Exception as error:
                    for _, future in batch:
                        future.set_exception(error)
                    continue
                for (_, future), answer in zip(batch, kept, strict=True):
                    future.set_result(answer)
        finally:
            self._writer = None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._write.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._write.execute("COMMIT")
        except BaseException:
            if self._write.in_transaction:
                self._write.execute("ROLLBACK")
            raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors: TeacherError, one sentence for whatever SQLite or the disk says."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise TeacherError(
                    f"{self.path} was in use by another process for over {_BUSY_S:g} s: wait for it to end, or name "
                    "another cache"
                ) from None
            raise TeacherError(f"{self.path} cannot be used ({error}); what was kept before is whole") from None
        except sqlite3.DatabaseError as error:
            raise TeacherError(f"{self.path} is no cache of answers ({error}): name another file") from None
        except OSError as error:
            raise TeacherError(f"{self.path} cannot be used: {error.strerror}") from None
