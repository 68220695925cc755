"""Digests of files that belong together, so that edited, cut and mixed files are refused.

A log has a digest in each of its lines, since a kill may end it at any line. A finished file has one, over its lines
without their ends. A digest finds mistakes; it does not stop somebody who computes it again.
"""

import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from judge_r1.core.record_base import content_hash
from judge_r1.files.jsonl import BadRecord, dump_json, numbered_lines, parse_line
from judge_r1.files.strict_json import parse_json

M = TypeVar("M", bound=BaseModel)
DIGEST = "digest"
_BYTES = 8
_LAST_KEY = re.compile(rb',"digest":"([0-9a-f]{16})"\}\s*$')


class LinesDigest:
    """The digest of lines, in their order. Blank lines and line ends do not count."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=_BYTES)

    def add(self, line: bytes) -> None:
        if stripped := line.strip():
            self._hash.update(stripped + b"\n")

    @classmethod
    def of(cls, path: Path) -> "LinesDigest":
        found = cls()
        for _, _, line in numbered_lines(path):
            found.add(line)
        return found

    @property
    def text(self) -> str:
        return self._hash.hexdigest()


class SumDigest:
    """The digest of lines in any order, from their own digests."""

    def __init__(self) -> None:
        self.count, self._sum = 0, 0

    def add(self, digest: str) -> None:
        self.count, self._sum = self.count + 1, (self._sum + int(digest, 16)) % 2 ** (8 * _BYTES)

    @property
    def text(self) -> str:
        return f"{self.count}:{self._sum:016x}"


def value_digest(value: Any) -> str:
    """The digest of a JSON value, whatever its layout in a file."""
    return content_hash(parse_json(dump_json(value), "a value"))


def with_digest(body: bytes) -> tuple[bytes, str]:
    """A JSON object as a line that ends in its digest, and the digest."""
    digest = _of(body)
    return body[:-1] + f',"{DIGEST}":"{digest}"}}\n'.encode(), digest


class Checked(NamedTuple):
    """A record of a log: the byte offset of its line, its digest, and the record."""

    offset: int
    digest: str
    record: Any


def read_checked_lines(path: Path, model: type[M], *, made_by: str) -> Iterator[Checked]:
    """The records of a log whose lines end in their digests. `made_by` says which command writes it again.

    Raises:
        BadRecord: A line is no valid record, has no digest, or has one that is not that of the line.
    """
    for number, offset, line in numbered_lines(path):
        body, digest = without_digest(line)
        record = parse_line(model, body, path, number)
        if digest is None:
            raise BadRecord(
                f"{path}, line {number}: the field `{DIGEST}` is missing at its end, so an older version of judge-r1 "
                f"wrote the line, or something else: {made_by}"
            )
        if digest != _of(body):
            raise BadRecord(
                f"{path}, line {number}: was changed after it was written (its digest is that of another line): "
                "restore the file, or remove the line and add it again with `judge-r1 eval --resume`"
            )
        yield Checked(offset, digest, record)


def without_digest(line: bytes) -> tuple[bytes, str | None]:
    """A line without the digest at its end, and the digest; None if it has none."""
    found = _LAST_KEY.search(line[-64:])
    if found is None:
        return line, None
    return line[: len(line) - len(found.group())] + b"}", found[1].decode()


def _of(body: bytes) -> str:
    return blake2b(body, digest_size=_BYTES).hexdigest()
