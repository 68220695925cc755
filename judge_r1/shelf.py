"""Texts that come while a judge is running: the cases that it may search, the ones used last."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping

from judge_r1.records import content_hash

MAX_BYTES = 2**28


class CaseShelf(Mapping[str, str]):
    """Texts by an id that is made of owner and content, so that no id ever means two texts and nobody's text is found
    by another's id. The least used give way at `max_bytes` of UTF-8. Safe to share between threads."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def put(self, text: str, owner: str = "") -> str:
        """The id of a text, which is there from now on."""
        case_id = _id(text, owner)
        with self._lock:
            if case_id not in self._texts:
                self._texts[case_id] = text
                self._bytes += len(text.encode())
            self._texts.move_to_end(case_id)
            while self._bytes > self.max_bytes and len(self._texts) > 1:
                _, gone = self._texts.popitem(last=False)
                self._bytes -= len(gone.encode())
        return case_id

    def owned(self, case_id: str, owner: str) -> str:
        """A text by its id, for its owner alone. Errors: KeyError, also for what belongs to somebody else."""
        text = self[case_id]
        if _id(text, owner) != case_id:
            raise KeyError(case_id)
        return text

    def __getitem__(self, case_id: str) -> str:
        with self._lock:
            self._texts.move_to_end(case_id)
            return self._texts[case_id]

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(list(self._texts))

    def __len__(self) -> int:
        return len(self._texts)

    def __bool__(self) -> bool:
        """Texts may come: what searches them is needed from the start."""
        return True


def _id(text: str, owner: str) -> str:
    return content_hash("case", owner, text, length=32)
