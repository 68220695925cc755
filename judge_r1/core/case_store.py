"""Texts that come while a judge is running: the cases that it may search, the ones used last."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from json import dumps

from judge_r1.core.errors import JudgeError

MAX_BYTES = 2**28


class CaseStoreFull(JudgeError):
    """No room: every text on the shelf is in use."""


@dataclass
class _StoredText:
    text: str
    owner: str
    size: int
    """Bytes of UTF-8."""
    holders: int = 0
    removed: bool = False
    """It is there for its holders alone, and gone with the last of them."""


class CaseStore(Mapping[str, str]):
    """Texts by an id that is made of owner and content, so that no id ever means two texts and nobody's text is found
    by another's id. At `max_bytes` of UTF-8 who has the most gives way, their least used text first, but none that is
    held. Safe to share between threads."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self._kept: dict[str, _StoredText] = {}
        self._owners: dict[str, OrderedDict[str, _StoredText]] = {}  # the least used first
        self._sizes: Counter[str] = Counter()  # bytes by owner
        self._lock = threading.Lock()

    def put(self, text: str, owner: str = "") -> str:
        """The id of a text, which is there from now on. Errors: ShelfFull where texts in use leave no room for it."""
        case_id = _id(text, owner)
        with self._lock:
            if case_id not in self._kept:
                self._make_room(size := len(text.encode()), owner)
                kept = self._kept[case_id] = _StoredText(text, owner, size)
                self._owners.setdefault(owner, OrderedDict())[case_id] = kept
                self._sizes[owner] += size
            self._kept[case_id].removed = False
            self._owners[owner].move_to_end(case_id)
        return case_id

    @property
    def bytes(self) -> int:
        with self._lock:
            return self._sizes.total()

    @contextmanager
    def pin(self, case_id: str | None) -> Iterator[None]:
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
                if kept.removed and not kept.holders:
                    self._forget(case_id)

    def in_use(self, case_id: str) -> bool:
        """Does anybody hold it?"""
        with self._lock:
            return case_id in self._kept and self._kept[case_id].holders > 0

    def get_owned(self, case_id: str, owner: str) -> str:
        """A text by its id, for its owner alone. Errors: KeyError, also for what belongs to somebody else."""
        with self._lock:
            return self._of(case_id, owner).text

    def remove(self, case_id: str, owner: str) -> None:
        """Forget a text, which stays for those who hold it. Errors: KeyError, as for `owned`."""
        with self._lock:
            kept = self._of(case_id, owner)
            kept.removed = True
            if not kept.holders:
                self._forget(case_id)

    def sizes(self, owner: str) -> dict[str, int]:
        """Bytes of each text of an owner, by id, the least used first."""
        with self._lock:
            texts = self._owners.get(owner, OrderedDict())
            return {case_id: kept.size for case_id, kept in texts.items() if not kept.removed}

    def __getitem__(self, case_id: str) -> str:
        with self._lock:
            kept = self._kept[case_id]
            self._owners[kept.owner].move_to_end(case_id)
            return kept.text

    def __contains__(self, case_id: object) -> bool:
        with self._lock:
            return case_id in self._kept

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter([*self._kept])

    def __len__(self) -> int:
        return len(self._kept)

    def __bool__(self) -> bool:
        """Texts may come: what searches them is needed from the start."""
        return True

    def _of(self, case_id: str, owner: str) -> _StoredText:
        if (kept := self._kept[case_id]).owner != owner or kept.removed:
            raise KeyError(case_id)
        return kept

    def _forget(self, case_id: str) -> None:
        kept = self._kept.pop(case_id)
        del self._owners[kept.owner][case_id]
        self._sizes[kept.owner] -= kept.size
        if not self._owners[kept.owner]:
            del self._owners[kept.owner], self._sizes[kept.owner]

    def _make_room(self, size: int, owner: str) -> None:
        """Room for a new text of `owner`, which counts as theirs already."""
        over = self._sizes.total() + size - self.max_bytes
        sizes, gone = self._sizes + Counter({owner: size}), []
        free = {
            other: (case_id for case_id, kept in texts.items() if not kept.holders)
            for other, texts in self._owners.items()
        }
        while over > 0 and free:
            most = max(free, key=sizes.__getitem__)
            case_id = next(free[most], None)
            if case_id is None:
                del free[most]
                continue
            gone.append(case_id)
            over -= self._kept[case_id].size
            sizes[most] -= self._kept[case_id].size
        if over > 0:
            raise CaseStoreFull(
                f"there is no room for a case of {size} bytes: all may have {self.max_bytes}, and games that wait or "
                "run need the others"
            )
        for case_id in gone:
            self._forget(case_id)


def _id(text: str, owner: str) -> str:
    """Of the text as it is: two that look alike may have their characters at different places."""
    return sha256(dumps(["case", owner, text]).encode()).hexdigest()[:32]
