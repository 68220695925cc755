"""Records of a file by id: memory holds the ids and where their lines are, and each record is read when it is used."""

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Generic, TypeVar

from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import Record
from judge_r1.files.jsonl import lines_at
from judge_r1.files.strict_json import parse_model

CACHED_RECORDS = 32
"""Records that `StoredRecords` caches. The pairs of a case are adjacent in a file, so few cases are read twice."""
_ID = re.compile(r"[0-9a-f]{16}").fullmatch
R = TypeVar("R", bound=Record)


class Offsets(Mapping[str, int]):
    """Byte offsets of lines by the ids of their records, in the given order. An id is a `content_hash`: 64 bits in hex.

    A record takes 20 bytes, where a dict takes 130. A worker keeps this of every record of its data set.
    """

    def __init__(self, path: Path, id_offsets: Iterable[tuple[str, int]]) -> None:
        import numpy as np

        ids, offsets = array("Q"), array("q")
        for record_id, offset in id_offsets:
            if (number := _number(record_id)) is None:
                raise JudgeError(f"{path}, byte {offset}: the id {record_id!r} is not 16 hexadecimal digits")
            ids.append(number)
            offsets.append(offset)
        order = np.argsort(ids, kind="stable")
        self._ids, self._offsets = np.array(ids)[order], np.array(offsets)[order]
        self._rank = np.empty(len(order), np.uint32)
        self._rank[order] = np.arange(len(order))

    def __getitem__(self, record_id: str) -> int:
        number = _number(record_id)
        if number is not None:
            # As uint64: beside a Python int, NumPy compares as float64, in which ids lose their last digits.
            at = int(self._ids.searchsorted(self._ids.dtype.type(number)))
            if at < len(self._ids) and self._ids[at] == number:
                return int(self._offsets[at])
        raise KeyError(record_id)

    def __iter__(self) -> Iterator[str]:
        return map(self.id_at, range(len(self)))

    def __len__(self) -> int:
        return len(self._ids)

    def id_at(self, index: int) -> str:
        """The id of the record that was given as number `index`."""
        return f"{self._ids[self._rank[index]]:016x}"


def _number(record_id: object) -> int | None:
    """The 64 bits of an id. None for a text that is no id."""
    return int(record_id, 16) if isinstance(record_id, str) and _ID(record_id) else None


class StoredRecords(Mapping[str, R], Generic[R]):
    """The records of a file by id. The byte `offsets` of their lines are in memory, the texts stay on disk."""

    model: type[R]
    key: str

    def __init__(self, path: Path, id_offsets: Iterable[tuple[str, int]]) -> None:
        self.path, self.offsets = path, Offsets(path, id_offsets)
        self._read = lru_cache(CACHED_RECORDS)(self._from_disk)

    def __getitem__(self, record_id: str) -> R:
        return self._read(record_id, self.offsets[record_id])

    def __contains__(self, record_id: object) -> bool:
        return record_id in self.offsets

    def __iter__(self) -> Iterator[str]:
        return iter(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets)

    def _from_disk(self, record_id: str, offset: int) -> R:
        # By path at each read: threads and forked workers would share the position of an open file.
        (line,) = lines_at(self.path, [offset])
        record = parse_model(self.model, line, f"{self.path}, byte {offset}")
        if getattr(record, self.key) != record_id:
            raise JudgeError(f"{self.path}, byte {offset} no longer holds {self.key} {record_id}: the file was changed")
        return record
