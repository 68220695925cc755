"""Cases that several servers share: one keeper has those that were put, each server copies of what it has judged.

A server asks the keeper about every case that is named by its id, so that what was deleted is gone for all of them at
once. An id is made of owner and text: a copy is the case wherever it came from, and only the text that a server has
not seen yet travels.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from judge_r1.core.case_store import MAX_BYTES, CaseStore

_DELETED = 2**16
"""Ids of deleted cases that are remembered."""
Asking = Callable[..., Awaitable[Any]]
"""A method of the keeper by its name, and what it takes. Errors: CasesAway."""


class CaseStoreActor:
    """One shelf for all servers. It knows those that were deleted from those that gave way to others."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._shelf = CaseStore(max_bytes)
        self._deleted: OrderedDict[str, None] = OrderedDict()

    async def put(self, text: str, owner: str) -> str:
        case_id = self._shelf.put(text, owner)
        self._deleted.pop(case_id, None)
        return case_id

    async def find(self, case_id: str, owner: str, whole: bool) -> tuple[bool, str]:
        """Is the case there, and its text where the `whole` is wanted. It is used now, and gives way last."""
        try:
            self._shelf.get_owned(case_id, owner)
        except KeyError:
            return False, ""
        text = self._shelf[case_id]
        return True, text if whole else ""

    async def remove(self, case_id: str, owner: str) -> bool:
        """False where it was not there."""
        try:
            self._shelf.remove(case_id, owner)
        except KeyError:
            return False
        self._deleted[case_id] = None
        if len(self._deleted) > _DELETED:
            self._deleted.popitem(last=False)
        return True

    async def deleted(self, case_id: str) -> bool:
        return case_id in self._deleted

    async def sizes(self, owner: str) -> dict[str, int]:
        return self._shelf.sizes(owner)


class ReplicatedCaseStore:
    """The keeper's cases, for one server, whose shelf has the copies. A copy that a game holds is good although the
    case gave way at the keeper, but not once it was deleted."""

    def __init__(self, copies: CaseStore, ask: Asking) -> None:
        self._copies, self._ask = copies, ask

    async def put(self, text: str, owner: str) -> str:
        case_id: str = await self._ask("put", text, owner)
        return case_id

    async def get_owned(self, case_id: str, owner: str) -> str:
        copy = self._copy(case_id, owner)  # taken before it is asked for: it may give way meanwhile
        there, text = await self._ask("find", case_id, owner, copy is None)
        if there:
            return str(text) if copy is None else copy
        if copy is not None and self._copies.in_use(case_id) and not await self._ask("deleted", case_id):
            return copy
        self._drop(case_id, owner)
        raise KeyError(case_id)

    async def remove(self, case_id: str, owner: str) -> None:
        there = await self._ask("remove", case_id, owner)
        self._drop(case_id, owner)
        if not there:
            raise KeyError(case_id)

    async def sizes(self, owner: str) -> dict[str, int]:
        found: dict[str, int] = await self._ask("sizes", owner)
        return found

    def _copy(self, case_id: str, owner: str) -> str | None:
        try:
            return self._copies.get_owned(case_id, owner)
        except KeyError:
            return None

    def _drop(self, case_id: str, owner: str) -> None:
        """Forget a copy, which stays for the games that hold it."""
        with suppress(KeyError):
            self._copies.remove(case_id, owner)
