"""Keeps memories by document and settings, in the process and optionally in a folder.

    store = MemoryStore(Path("memories"), {"model": "m", "scan": 2000})
    memory = await store.get(text, task, seed, lambda: pipeline.remember(model, text, task, work))

Reading a document in sections takes many calls of the model, and the requests of a benchmark share documents: one in
both orders, pairs with a common candidate, and samples at temperature 0.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from pydantic import ValidationError

from judge_r1.core.errors import JudgeError, explain
from judge_r1.core.memory import DocumentMemory, text_hash
from judge_r1.core.record_base import content_hash
from judge_r1.files.jsonl import write_json

KEPT = 1_000
"""Memories that stay in the process: a server meets new documents without end."""


class BadMemory(JudgeError):
    """A stored memory cannot be read, or none can be stored."""


class MemoryStore:
    """`identity` is the model and everything else that notes depend on, besides document, task and seed: other settings
    never share a memory.

    Raises: BadMemory if `folder` cannot be made.
    """

    def __init__(self, folder: Path | None, identity: dict[str, Any]) -> None:
        self._folder, self._identity = folder, content_hash(identity)
        # Made now: an unusable folder is reported before the first document is paid for.
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadMemory(f"{folder} cannot be the folder of memories ({error.strerror}): choose another") from None
        self._known: OrderedDict[str, DocumentMemory] = OrderedDict()
        # Weak: a lock lives as long as a request holds or awaits it. If the first request that ends removed it, a
        # newcomer would make the memory beside one that has waited.
        self._making: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.reused = 0

    async def get(
        self, text: str, task: str, seed: int, make: Callable[[], Awaitable[DocumentMemory]]
    ) -> DocumentMemory:
        """The memory of a document, made once even if several requests ask for it at the same time.

        Raises: what `make` raises, and nothing is kept then; BadMemory for a damaged file.
        """
        key = content_hash(text_hash(text), task, seed, self._identity, length=32)
        async with self._making.setdefault(key, asyncio.Lock()):
            if key not in self._known and (stored := self._read(key)) is not None:
                self._keep(key, stored)
            if key in self._known:
                self.reused += 1
                self._known.move_to_end(key)
                return self._known[key]
            memory = await make()
            self._keep(key, memory)
            if self._folder is not None:
                write_json(self._folder / f"{key}.json", memory.model_dump(mode="json"))
            return memory

    def _keep(self, key: str, memory: DocumentMemory) -> None:
        """Adds a memory and evicts the least recently used ones."""
        self._known[key] = memory
        while len(self._known) > KEPT:
            self._known.popitem(last=False)

    def _read(self, key: str) -> DocumentMemory | None:
        path = None if self._folder is None else self._folder / f"{key}.json"
        if path is None or not path.is_file():
            return None
        # A damaged file is an error: to make the memory again in silence would cost the calls that the folder saves.
        try:
            return DocumentMemory.model_validate_json(path.read_bytes())
        except OSError as error:
            raise BadMemory(f"{path} cannot be read: {error.strerror}") from None
        except ValidationError as error:
            raise BadMemory(f"{path} is no memory ({explain(error)}): remove the file") from None
