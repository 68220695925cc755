"""Searches many cases in one call, each in its own index.

    retriever = Retriever({"case 1": "Ana paid 34 crowns. Ben paid nothing."}, method="bm25")
    [hits] = retriever.search([("case 1", "who paid?")], k=3)

A request is a pair (case id, query); results come in the order of the requests. No result is looked up by query text,
no index holds two cases, and an unknown case is an error.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from retrieval.bm25 import BM25Index
from retrieval.case_index import Hit
from retrieval.dense import DenseIndex
from retrieval.embedders import Embedder, Vectors, check_vectors, load_embedder
from retrieval.errors import EmptyCase, EmptyQuery, UnknownCase, at_least_one, check_unicode
from retrieval.events import EventFilter, split_query
from retrieval.passages import EventPassage, Passage, split_passages
from retrieval.store import VectorStore

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


class Retriever:
    """Finds the best passages of a case for a query. Thread-safe.

    Indexes are built on first use; the `max_cases` most recently used are cached. `texts` returns the text of a case: a
    mapping, or a function that raises `KeyError` for an unknown id. The text of an id must not change. The index of a
    text that was removed from the mapping is dropped when the next index is built. `method` is `bm25`, an embedder spec
    (`retrieval.embedders.load_embedder`) or an `Embedder`.

    `store` is a folder of vector stores (`retrieval.store`): `self.store` is the one of this embedder. A case that it
    lacks is embedded by its first search. Only searches in that case wait for it.
    """

    def __init__(
        self,
        texts: Mapping[str, str] | Callable[[str], str],
        *,
        method: str | Embedder = "bundled:e5-small",
        passage_words: int = 100,
        max_cases: int = 1024,
        store: Path | None = None,
    ) -> None:
        self.passage_words = at_least_one("passage_words", passage_words)
        self.max_cases = at_least_one("max_cases", max_cases)
        self._texts = texts
        self._embedder = None if method == "bm25" else load_embedder(method) if isinstance(method, str) else method
        self._queries = None if self._embedder is None else QueryBatcher(self._embedder)
        self.store: VectorStore | None = None
        if self._embedder is not None and store is not None:
            self.store = VectorStore(store, self._embedder, passage_words)
        self._indexes: OrderedDict[str, DenseIndex | BM25Index] = OrderedDict()
        self._building: dict[str, Future[bool]] = {}
        """Cases whose index some thread builds now; the result is true if it succeeds."""
        self._lock = threading.Lock()
        """Guards the two mappings above. No thread holds it while it reads a case, embeds or searches."""

    def search(self, requests: Sequence[tuple[str, str]], k: int) -> list[list[Hit]]:
        """Returns the `min(k, passages of the case)` best hits of each (case id, query), in the order of the requests.
        BM25 returns none where no passage has a term of the query. In a trace, a query may have filters
        (`retrieval.events.split_query`); one of filters alone, or with words that no passage has, returns the first
        events that the filters accept.

        One call embeds the passages of all cases that have no index yet; another call embeds all queries. The retriever
        stays usable after an error.

        Raises:
            InvalidSize: k is below 1.
            EmptyQuery, UnknownCase, EmptyCase, InvalidText: a request is invalid.
        """
        at_least_one("k", k)
        for case_id, query in requests:
            if not check_unicode(query, f"the query for case {case_id!r}").strip():
                raise EmptyQuery(f"the query for case {case_id!r} is blank: give a query text or skip the search")
        positions: dict[str, list[int]] = {}
        for position, (case_id, _) in enumerate(requests):
            positions.setdefault(case_id, []).append(position)
        answers: list[list[Hit]] = [[] for _ in requests]
        indexes = self._indexes_of(list(positions))
        asked = [_without_filters(query, indexes[case_id]) for case_id, query in requests]
        queries = [text or query for (_, text), (_, query) in zip(asked, requests, strict=True)]
        # All queries at once, for the speed of a batch. The searches below stay apart, one index per case.
        if self._queries is not None and queries:
            vectors = self._queries.encode(queries)
        for case_id, where in positions.items():
            index = indexes[case_id]
            found: Iterable[Iterable[Hit]]
            if isinstance(index, BM25Index):
                found = (index.ranked(queries[position]) for position in where)
            else:
                # A filter may accept only the last hits, so all passages are ranked.
                filtered = any(asked[position][0] for position in where)
                found = index.search_vectors(vectors[where], len(index.passages) if filtered else k)
            for position, hits in zip(where, found, strict=True):
                answers[position] = list(islice(_accepted(hits, index.passages, *asked[position]), k))
        return answers

    def _indexes_of(self, case_ids: Sequence[str]) -> dict[str, DenseIndex | BM25Index]:
        """Returns the index of each case. Missing ones are built here, or awaited if another thread builds them."""
        indexes: dict[str, DenseIndex | BM25Index] = {}
        # Each round builds what nobody builds, then awaits the others. A second round is for their failures.
        while len(indexes) < len(case_ids):
            mine: dict[str, Future[bool]] = {}
            others: list[Future[bool]] = []
            with self._lock:
                for case_id in case_ids:
                    if case_id in indexes:
                        continue
                    if case_id in self._indexes:
                        indexes[case_id] = self._indexes[case_id]
                    elif case_id in self._building:
                        others.append(self._building[case_id])
                    else:
                        mine[case_id] = self._building[case_id] = Future()
            indexes |= self._build_claimed(mine)
            for future in others:  # after our own work, so that two threads never wait for each other
                future.result()  # if it failed, or the index was evicted, the next round builds it
        with self._lock:
            for case_id in case_ids:
                self._indexes[case_id] = indexes[case_id]
                self._indexes.move_to_end(case_id)
            while len(self._indexes) > self.max_cases:
                self._indexes.popitem(last=False)
        return indexes

    def _build_claimed(self, mine: Mapping[str, "Future[bool]"]) -> dict[str, DenseIndex | BM25Index]:
        """Builds indexes that this thread has claimed. They are cached only if all of them succeed."""
        built: dict[str, DenseIndex | BM25Index] = {}
        try:
            built = self._build({case_id: self._split(case_id) for case_id in mine})
        finally:
            with self._lock:
                for case_id in mine:
                    del self._building[case_id]
                self._indexes |= built
                if built and isinstance(self._texts, Mapping):
                    for removed in [case_id for case_id in self._indexes if case_id not in self._texts]:
                        del self._indexes[removed]
            # A result also after an error, which the caller raises: threads that wait try the case themselves.
            for case_id, future in mine.items():
                future.set_result(case_id in built)
        return built

    def _build(self, cases: Mapping[str, list[Passage]]) -> dict[str, DenseIndex | BM25Index]:
        if self._embedder is None:
            return {case_id: BM25Index(passages) for case_id, passages in cases.items()}
        store = self.store
        stored = {} if store is None else {case_id: store.get(passages) for case_id, passages in cases.items()}
        missing = {case_id: passages for case_id, passages in cases.items() if stored.get(case_id) is None}
        texts = [passage.text for passages in missing.values() for passage in passages]
        vectors = check_vectors(self._embedder.encode_passages(texts), len(texts), self._embedder) if texts else None
        built: dict[str, DenseIndex | BM25Index] = {}
        start = 0
        for case_id, passages in cases.items():
            if (own := stored.get(case_id)) is None:
                assert vectors is not None
                own = vectors[start : start + len(passages)].copy()  # a view would keep all of them
                start += len(passages)
            built[case_id] = DenseIndex(passages, own, self._embedder)
        return built

    def _split(self, case_id: str) -> list[Passage]:
        try:
            text = self._texts[case_id] if isinstance(self._texts, Mapping) else self._texts(case_id)
        except KeyError as error:
            raise UnknownCase(
                f"case {case_id!r} is unknown to this retriever: load the cases file that contains this id"
            ) from error
        passages = split_passages(check_unicode(text, f"the text of case {case_id!r}"), self.passage_words)
        if not passages:
            raise EmptyCase(f"case {case_id!r} has no text to search: give it one, or turn search off")
        return passages


def _without_filters(query: str, index: DenseIndex | BM25Index) -> tuple[EventFilter, str]:
    """The filters of a query in a trace, and its text without them; "" where it has only filters."""
    return split_query(query) if isinstance(index.passages[0], EventPassage) else (EventFilter(), query)


def _accepted(hits: Iterable[Hit], passages: Sequence[Passage], events: EventFilter, text: str) -> Iterator[Hit]:
    """The hits that a filter accepts; without a text or a hit all events that it accepts, in their order."""
    if not events:
        return iter(hits)
    found = iter(hits if text else ())
    best = next(found, None)
    ranked = chain((best,), found) if best else (Hit(passage, 0.0) for passage in passages)
    return (hit for hit in ranked if isinstance(hit.passage, EventPassage) and events.accepts(hit.passage.header))
