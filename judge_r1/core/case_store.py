"""A bounded, thread-safe store of case texts by tenant, with least-recently-used eviction."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from json import dumps

from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import check_unicode

MAX_BYTES = 2**28


class CaseStoreFull(JudgeError):
    """The store has no space for a text: every stored text is pinned."""


@dataclass
class _StoredText:
    """`size` is in bytes of UTF-8. A `removed` text exists only for its pins and is deleted with the last of them."""

    text: str
    tenant: str
    size: int
    pins: int = 0
    removed: bool = False


class CaseStore(Mapping[str, str]):
    """Texts by an id that is a hash of tenant and content: no tenant can find a text by another tenant's id.

    When the texts exceed `max_bytes`, the store evicts the least recently used text of the largest tenant. Pinned texts
    stay.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self._texts: dict[str, _StoredText] = {}
        self._by_tenant: dict[str, OrderedDict[str, _StoredText]] = {}  # least recently used first
        self._sizes: Counter[str] = Counter()  # bytes by tenant
        self._lock = threading.Lock()

    def put(self, text: str, tenant: str = "") -> str:
        """Stores a text and returns its id.

        Raises:
            BadText: The text is not valid Unicode.
            CaseStoreFull: Pinned texts leave no space for it.
        """
        case_id, size = _case_id(text, tenant), len(check_unicode(text, "the case").encode())
        with self._lock:
            if case_id not in self._texts:
                self._evict_for(size, tenant)
                stored = self._texts[case_id] = _StoredText(text, tenant, size)
                self._by_tenant.setdefault(tenant, OrderedDict())[case_id] = stored
                self._sizes[tenant] += size
            # A text that is put again while its last readers still pin it lives on.
            self._texts[case_id].removed = False
            self._by_tenant[tenant].move_to_end(case_id)
        return case_id

    @property
    def bytes(self) -> int:
        with self._lock:
            return self._sizes.total()

    @contextmanager
    def pin(self, case_id: str | None) -> Iterator[None]:
        """Prevents eviction of a text within the block. Does nothing for None.

        Raises:
            KeyError: The store does not hold the text.
        """
        if case_id is None:
            yield
            return
        with self._lock:
            stored = self._texts[case_id]
            stored.pins += 1
        try:
            yield
        finally:
            with self._lock:
                stored.pins -= 1
                if stored.removed and not stored.pins:
                    self._delete(case_id)

    def in_use(self, case_id: str) -> bool:
        """Is the text pinned?"""
        with self._lock:
            return case_id in self._texts and self._texts[case_id].pins > 0

    def get_owned(self, case_id: str, tenant: str) -> str:
        """The text of an id that belongs to `tenant`.

        Raises:
            KeyError: The text is not stored, or belongs to another tenant.
        """
        with self._lock:
            return self._of(case_id, tenant).text

    def remove(self, case_id: str, tenant: str) -> None:
        """Deletes a text. Existing pins can still read it.

        Raises:
            KeyError: The text is not stored, or belongs to another tenant.
        """
        with self._lock:
            stored = self._of(case_id, tenant)
            stored.removed = True
            if not stored.pins:
                self._delete(case_id)

    def sizes(self, tenant: str) -> dict[str, int]:
        """Bytes of each text of a tenant by id, least recently used first."""
        with self._lock:
            texts = self._by_tenant.get(tenant, OrderedDict())
            return {case_id: stored.size for case_id, stored in texts.items() if not stored.removed}

    def __getitem__(self, case_id: str) -> str:
        with self._lock:
            stored = self._texts[case_id]
            self._by_tenant[stored.tenant].move_to_end(case_id)
            return stored.text

    def __contains__(self, case_id: object) -> bool:
        with self._lock:
            return case_id in self._texts

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            # A copy, since other threads change the dict while the caller iterates.
            return iter([*self._texts])

    def __len__(self) -> int:
        return len(self._texts)

    def __bool__(self) -> bool:
        """True even when empty: texts may arrive later, so a judge must build its retriever."""
        return True

    def _of(self, case_id: str, tenant: str) -> _StoredText:
        if (stored := self._texts[case_id]).tenant != tenant or stored.removed:
            raise KeyError(case_id)
        return stored

    def _delete(self, case_id: str) -> None:
        stored = self._texts.pop(case_id)
        del self._by_tenant[stored.tenant][case_id]
        self._sizes[stored.tenant] -= stored.size
        if not self._by_tenant[stored.tenant]:
            del self._by_tenant[stored.tenant], self._sizes[stored.tenant]

    def _evict_for(self, size: int, tenant: str) -> None:
        """Frees space for a new text of `tenant`; its size already counts for that tenant."""
        excess = self._sizes.total() + size - self.max_bytes
        # Planned on copies: if the text does not fit in the end, nothing may be evicted for it.
        sizes, evicted = self._sizes + Counter({tenant: size}), []
        unpinned = {
            other: (case_id for case_id, stored in texts.items() if not stored.pins)
            for other, texts in self._by_tenant.items()
        }
        while excess > 0 and unpinned:
            largest = max(unpinned, key=sizes.__getitem__)
            case_id = next(unpinned[largest], None)
            if case_id is None:
                del unpinned[largest]
                continue
            evicted.append(case_id)
            excess -= self._texts[case_id].size
            sizes[largest] -= self._texts[case_id].size
        if excess > 0:
            raise CaseStoreFull(
                f"there is no space for a case of {size} bytes: the limit for all cases is {self.max_bytes} bytes, and "
                "requests that wait or run need the stored ones"
            )
        for case_id in evicted:
            self._delete(case_id)


def _case_id(text: str, tenant: str) -> str:
    """A hash of the exact text: Unicode normalisation would change the character offsets of the evidence."""
    return sha256(dumps(["case", tenant, text]).encode()).hexdigest()[:32]
