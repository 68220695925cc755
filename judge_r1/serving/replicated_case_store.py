"""Stores of the cases that clients upload: in one server, or in an actor that several servers share.

A server asks the actor about every case that a request names by its id, so a deletion takes effect in all servers at
once. An id is a hash of tenant and text. Every server therefore can use its own copy, and only texts that it has not
seen yet are transferred.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from judge_r1.core.case_store import MAX_BYTES, CaseStore

_MAX_DELETED = 2**16
"""Number of deleted ids that the actor remembers."""
ActorCall = Callable[..., Awaitable[Any]]
"""Calls a method of the actor: its name, then its arguments. Raises CaseStoreUnavailable."""


class CaseStoreUnavailable(Exception):
    """The store of uploaded cases does not respond."""


class LocalCaseStore:
    """The cases of a single server. Its methods raise what those of `CaseStore` raise."""

    def __init__(self, cases: CaseStore) -> None:
        self._cases = cases

    async def put(self, text: str, tenant: str) -> str:
        return self._cases.put(text, tenant)

    async def get_owned(self, case_id: str, tenant: str) -> str:
        return self._cases.get_owned(case_id, tenant)

    async def remove(self, case_id: str, tenant: str) -> None:
        self._cases.remove(case_id, tenant)

    async def sizes(self, tenant: str) -> dict[str, int]:
        return self._cases.sizes(tenant)


class CaseStoreActor:
    """The shared store. It distinguishes deleted cases from evicted ones."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._cases = CaseStore(max_bytes)
        self._deleted: OrderedDict[str, None] = OrderedDict()

    async def put(self, text: str, tenant: str) -> str:
        case_id = self._cases.put(text, tenant)
        self._deleted.pop(case_id, None)
        return case_id

    async def find(self, case_id: str, tenant: str, with_text: bool) -> tuple[bool, str]:
        """Whether the case is stored, and its text if `with_text`. Marks the case as recently used."""
        try:
            self._cases.get_owned(case_id, tenant)
        except KeyError:
            return False, ""
        text = self._cases[case_id]
        return True, text if with_text else ""

    async def remove(self, case_id: str, tenant: str) -> bool:
        """Deletes a case. Returns False if it was not stored."""
        try:
            self._cases.remove(case_id, tenant)
        except KeyError:
            return False
        self._deleted[case_id] = None
        if len(self._deleted) > _MAX_DELETED:
            self._deleted.popitem(last=False)
        return True

    async def deleted(self, case_id: str) -> bool:
        return case_id in self._deleted

    async def sizes(self, tenant: str) -> dict[str, int]:
        return self._cases.sizes(tenant)


class ReplicatedCaseStore:
    """One server's view of the shared store, with local copies. Its methods also raise CaseStoreUnavailable.

    A pinned copy stays valid if the actor evicts the case, but not if a client deletes it.
    """

    def __init__(self, copies: CaseStore, call: ActorCall) -> None:
        self._copies, self._call = copies, call

    async def put(self, text: str, tenant: str) -> str:
        case_id: str = await self._call("put", text, tenant)
        return case_id

    async def get_owned(self, case_id: str, tenant: str) -> str:
        copy = self._copy(case_id, tenant)  # read before the call: the copy may be evicted meanwhile
        stored, text = await self._call("find", case_id, tenant, copy is None)
        if stored:
            return str(text) if copy is None else copy
        # Evicted and deleted differ: a running request may finish after the first, and not after the second.
        if copy is not None and self._copies.in_use(case_id) and not await self._call("deleted", case_id):
            return copy
        self._drop(case_id, tenant)
        raise KeyError(case_id)

    async def remove(self, case_id: str, tenant: str) -> None:
        stored = await self._call("remove", case_id, tenant)
        self._drop(case_id, tenant)
        if not stored:
            raise KeyError(case_id)

    async def sizes(self, tenant: str) -> dict[str, int]:
        sizes: dict[str, int] = await self._call("sizes", tenant)
        return sizes

    def _copy(self, case_id: str, tenant: str) -> str | None:
        try:
            return self._copies.get_owned(case_id, tenant)
        except KeyError:
            return None

    def _drop(self, case_id: str, tenant: str) -> None:
        """Removes the local copy. Requests that pinned it can still read it."""
        with suppress(KeyError):
            self._copies.remove(case_id, tenant)


UploadedCases = LocalCaseStore | ReplicatedCaseStore
