"""Texts that come while a judge is running: the cases that it may search, the ones used last."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from json import dumps

from judge_r1.errors import JudgeError

MAX_BYTES = 2**28


class ShelfFull(JudgeError):
    """No room: every text on the shelf is in use."""


@dataclass
class _Kept:
    text: str
    owner: str
    size: int
    """Bytes of UTF-8."""
    holders: int = 0


class CaseShelf(Mapping[str, str]):
    """Texts by an id that is made of owner and content, so that no id ever means two texts and nobody's text is found
    by another's id. The least used give way at `max_bytes` of UTF-8, but none that is held. Safe to share between
    threads."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self.bytes = 0
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, text: str, owner: str = "") -> str:
        """The id of a text, which is there from now on. Errors: ShelfFull where texts in use leave no room for it."""
        case_id = _id(text, owner)
        with self._lock:
            if case_id not in self._kept:
                self._make_room(size := len(text.encode()))
                self._kept[case_id] = _Kept(text, owner, size)
                self.bytes += size
            self._kept.move_to_end(case_id)
        return case_id

    @contextmanager
    def holding(self, case_id: str | None) -> Iterator[None]:
        """Within the block a text stays, whoever puts how many others. Errors: KeyError where it is not there."""
        if case_id is None:
            yield
            return
        with self._lock:
            kept = self._kept[case_id]
            kept.holders += 1
        try:
            yield
        finally:
            with self._lock:
                kept.holders -= 1

    def in_use(self, case_id: str) -> bool:
        """Does anybody hold it?"""
        with self._lock:
            return case_id in self._kept and self._kept[case_id].holders > 0

    def owned(self, case_id: str, owner: str) -> str:
        """A text by its id, for its owner alone. Errors: KeyError, also for what belongs to somebody else."""
        with self._lock:
            return self._of(case_id, owner).text

    def remove(self, case_id: str, owner: str) -> None:
        """Forget a text; a game that has begun keeps what it has read of it. Errors: KeyError, as for `owned`."""
        with self._lock:
            self.bytes -= self._of(case_id, owner).size
            del self._kept[case_id]

    def sizes(self, owner: str) -> dict[str, int]:
        """Bytes of each text of an owner, by id, the least used first."""
        with self._lock:
            return {case_id: kept.size for case_id, kept in self._kept.items() if kept.owner == owner}

    def __getitem__(self, case_id: str) -> str:
        with self._lock:
            self._kept.move_to_end(case_id)
            return self._kept[case_id].text

    def __contains__(self, case_id: object) -> bool:
        return case_id in self._kept

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(list(self._kept))

    def __len__(self) -> int:
        return len(self._kept)

    def __bool__(self) -> bool:
        """Texts may come: what searches them is needed from the start."""
        return True

    def _of(self, case_id: str, owner: str) -> _Kept:
        if (kept := self._kept[case_id]).owner != owner:
            raise KeyError(case_id)
        return kept

    def _make_room(self, size: int) -> None:
        over = self.bytes + size - self.max_bytes
        gone = []
        for case_id, kept in self._kept.items():
            if over <= 0:
                break
            if not kept.holders:
                gone.append(case_id)
                over -= kept.size
        if over > 0:
            raise ShelfFull(
                f"a case of {size} bytes finds no room: games in use hold the others, and all may have {self.max_bytes}"
            )
        for case_id in gone:
            self.bytes -= self._kept.pop(case_id).size


def _id(text: str, owner: str) -> str:
    """Of the text as it is: two that look alike may have their characters at different places."""
    return sha256(dumps(["case", owner, text]).encode()).hexdigest()[:32]
