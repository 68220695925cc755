"""Embeds queries of concurrent callers together."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from retrieval.embedders import Embedder, Vectors, check_vectors

WINDOW_SECONDS = 0.002
FULL_BATCH = 32
"""Texts that are enough for a batch: larger ones hardly embed faster per text."""


@dataclass
class _Batch:
    texts: list[str] = field(default_factory=list)
    full: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    vectors: Vectors | None = None
    error: BaseException | None = None


class QueryBatcher:
    """Gathers the queries that arrive within `window_s` seconds, or while the batch before is embedded, and embeds
    them in one call, in the thread of the first caller. A batch of `FULL_BATCH` texts does not wait for more.
    Thread-safe."""

    def __init__(self, embedder: Embedder, window_s: float = WINDOW_SECONDS) -> None:
        self.embedder, self.window_s = embedder, window_s
        self._lock = threading.Lock()
        self._encoding = threading.Lock()
        self._open: _Batch | None = None

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The vectors of `texts`, float32 `[n, dim]`. Raises what the embedder raises, to every caller of a batch."""
        with self._lock:
            first = self._open is None
            batch = self._open = self._open or _Batch()
            start = len(batch.texts)
            batch.texts += texts
            if len(batch.texts) >= FULL_BATCH:
                batch.full.set()
        if first:
            self._run(batch)
        else:
            batch.done.wait()
        if batch.error is not None:
            raise batch.error
        assert batch.vectors is not None
        return batch.vectors[start : start + len(texts)]

    def _run(self, batch: _Batch) -> None:
        try:
            batch.full.wait(self.window_s)
            # The batch stays open to other callers until the one before it is done, and is closed only then.
            with self._encoding:
                self._close(batch)
                vectors = self.embedder.encode_queries(batch.texts)
                batch.vectors = check_vectors(vectors, len(batch.texts), self.embedder)
        except BaseException as error:
            # Also KeyboardInterrupt: the other callers of the batch wait for `done` in threads of their own.
            batch.error = error
        finally:
            self._close(batch)
            batch.done.set()

    def _close(self, batch: _Batch) -> None:
        with self._lock:
            if self._open is batch:
                self._open = None
