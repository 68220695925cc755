"""Searches many cases in one call, each in its own index.

A request is a pair (case id, query); results come in the order of the requests. No result is looked up by query text,
no index holds two cases, and an unknown case is an error.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence

from retrieval.bm25 import BM25Index
from retrieval.case_index import Hit
from retrieval.dense import DenseIndex
from retrieval.embedders import Embedder, check_vectors, load_embedder
from retrieval.errors import EmptyCase, EmptyQuery, UnknownCase, at_least_one, check_unicode
from retrieval.passages import Passage, split_passages


class Retriever:
    """Finds the best passages of a case for a query. Thread-safe.

    Indexes are built on first use; the `max_cases` most recently used are cached. `texts` returns the text of a case: a
    mapping, or a function that raises `KeyError` for an unknown id. The text of an id must not change. The index of a
    text that was removed from the mapping is dropped when the next index is built. `method` is `bm25`, an embedder spec
    (`retrieval.embedders.load_embedder`) or an `Embedder`.
    """

    def __init__(
        self,
        texts: Mapping[str, str] | Callable[[str], str],
        *,
        method: str | Embedder = "bundled:e5-small",
        passage_words: int = 100,
        max_cases: int = 1024,
    ) -> None:
        self.passage_words = at_least_one("passage_words", passage_words)
        self.max_cases = at_least_one("max_cases", max_cases)
        self._texts = texts
        self._embedder = None if method == "bm25" else load_embedder(method) if isinstance(method, str) else method
        self._indexes: OrderedDict[str, DenseIndex | BM25Index] = OrderedDict()
        self._lock = threading.Lock()

    def search(self, requests: Sequence[tuple[str, str]], k: int) -> list[list[Hit]]:
        """Returns the `min(k, passages of the case)` best hits of each (case id, query), in the order of the requests.

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
        queries = [query for _, query in requests]
        answers: list[list[Hit]] = [[] for _ in requests]
        with self._lock:
            indexes = self._indexes_of(positions)
            if self._embedder is not None and queries:
                vectors = check_vectors(self._embedder.encode_queries(queries), len(queries), self._embedder)
            for case_id, where in positions.items():
                index = indexes[case_id]
                if isinstance(index, BM25Index):
                    found = index.search([queries[position] for position in where], k)
                else:
                    found = index.search_vectors(vectors[where], k)
                for position, hits in zip(where, found, strict=True):
                    answers[position] = hits
        return answers

    def _indexes_of(self, case_ids: Iterable[str]) -> dict[str, DenseIndex | BM25Index]:
        """Returns the index of each case. Missing ones are built, and cached only if all of them succeed."""
        missing = {case_id: self._split(case_id) for case_id in case_ids if case_id not in self._indexes}
        built = self._build(missing)
        indexes = {case_id: built[case_id] if case_id in built else self._indexes[case_id] for case_id in case_ids}
        for case_id, index in indexes.items():
            self._indexes[case_id] = index
            self._indexes.move_to_end(case_id)
        while len(self._indexes) > self.max_cases:
            self._indexes.popitem(last=False)
        if built and isinstance(self._texts, Mapping):
            for removed in [case_id for case_id in self._indexes if case_id not in self._texts]:
                del self._indexes[removed]
        return indexes

    def _build(self, cases: Mapping[str, list[Passage]]) -> dict[str, DenseIndex | BM25Index]:
        if self._embedder is None:
            return {case_id: BM25Index(passages) for case_id, passages in cases.items()}
        texts = [passage.text for passages in cases.values() for passage in passages]
        built: dict[str, DenseIndex | BM25Index] = {}
        if texts:
            vectors = check_vectors(self._embedder.encode_passages(texts), len(texts), self._embedder)
            start = 0
            for case_id, passages in cases.items():
                built[case_id] = DenseIndex(passages, vectors[start : start + len(passages)], self._embedder)
                start += len(passages)
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
