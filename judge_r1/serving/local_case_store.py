"""Where the cases are that clients have put: on the shelf of this server, or where several servers find them."""

from typing import Protocol

from judge_r1.core.case_store import CaseStore


class CasesAway(Exception):
    """The cases that were put cannot be asked for now."""


class CaseStoreProtocol(Protocol):
    """What the methods of `CaseShelf` say, for what may be elsewhere. Errors: those of the shelf, and CasesAway."""

    async def put(self, text: str, owner: str) -> str: ...

    async def get_owned(self, case_id: str, owner: str) -> str: ...

    async def remove(self, case_id: str, owner: str) -> None: ...

    async def sizes(self, owner: str) -> dict[str, int]: ...


class LocalCaseStore:
    """Those of one server alone: what it searches is what was put."""

    def __init__(self, shelf: CaseStore) -> None:
        self._shelf = shelf

    async def put(self, text: str, owner: str) -> str:
        return self._shelf.put(text, owner)

    async def get_owned(self, case_id: str, owner: str) -> str:
        return self._shelf.get_owned(case_id, owner)

    async def remove(self, case_id: str, owner: str) -> None:
        self._shelf.remove(case_id, owner)

    async def sizes(self, owner: str) -> dict[str, int]:
        return self._shelf.sizes(owner)
