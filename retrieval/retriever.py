"""Search in many cases at once, each in its own index only.

A request is a pair (case id, query) and its result stands at the same place of the answer: nothing is looked up by
query text, no index holds two cases, and a case that is not known is an error, never a wider search.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence

from retrieval.case_index import BM25Index, DenseIndex, Hit
from retrieval.embedders import Embedder, checked, load_embedder
from retrieval.errors import EmptyCase, EmptyQuery, UnknownCase, at_least_one
from retrieval.passages import Passage, split_passages


class Retriever:
    """The best passages of a case for a query. Indexes are built when first asked for; the ones used last are kept.

    `texts` gives the text of a case: a mapping, or a function that raises `KeyError` for an id it does not know; the
    text of an id must not change. The index of a text that has left the mapping goes when the next one is built.
    `method` is `bm25`, the spec of an embedder (`retrieval.embedders.load_embedder`), or
    an `Embedder`. Safe to share between threads.
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
        """For each (case id, query) its `min(k, passages of the case)` best hits, in the order of the requests.

        However many cases: one call embeds the passages of those not indexed yet, one call all queries. Errors:
        `InvalidSize` (k < 1), `EmptyQuery`, `UnknownCase`, `EmptyCase`, or what the embedder raises; after each of
        them the retriever is as good as before.
        """
        at_least_one("k", k)
        for case_id, query in requests:
            if not query.strip():
                raise EmptyQuery(f"the query for case {case_id!r} is blank: ask for something, or do not search")
        places: dict[str, list[int]] = {}
        for place, (case_id, _) in enumerate(requests):
            places.setdefault(case_id, []).append(place)
        queries = [query for _, query in requests]
        answers: list[list[Hit]] = [[] for _ in requests]
        with self._lock:
            indexes = self._indexes_of(places)
            if self._embedder is not None and queries:
                vectors = checked(self._embedder.encode_queries(queries), len(queries), self._embedder)
            for case_id, where in places.items():
                index = indexes[case_id]
                if isinstance(index, BM25Index):
                    found = index.search([queries[place] for place in where], k)
                else:
                    found = index.search_vectors(vectors[where], k)
                for place, hits in zip(where, found, strict=True):
                    answers[place] = hits
        return answers

    def _indexes_of(self, case_ids: Iterable[str]) -> dict[str, DenseIndex | BM25Index]:
        """The index of each case. Those missing are built, and kept only when all of them stand."""
        missing = {case_id: self._split(case_id) for case_id in case_ids if case_id not in self._indexes}
        built = self._build(missing)
        indexes = {case_id: built[case_id] if case_id in built else self._indexes[case_id] for case_id in case_ids}
        for case_id, index in indexes.items():
            self._indexes[case_id] = index
            self._indexes.move_to_end(case_id)
        while len(self._indexes) > self.max_cases:
            self._indexes.popitem(last=False)
        if built and isinstance(self._texts, Mapping):
            for gone in [case_id for case_id in self._indexes if case_id not in self._texts]:
                del self._indexes[gone]
        return indexes

    def _build(self, cases: Mapping[str, list[Passage]]) -> dict[str, DenseIndex | BM25Index]:
        if self._embedder is None:
            return {case_id: BM25Index(passages) for case_id, passages in cases.items()}
        texts = [passage.text for passages in cases.values() for passage in passages]
        built: dict[str, DenseIndex | BM25Index] = {}
        if texts:
            vectors = checked(self._embedder.encode_passages(texts), len(texts), self._embedder)
            start = 0
            for case_id, passages in cases.items():
                built[case_id] = DenseIndex(passages, vectors[start : start + len(passages)], self._embedder)
                start += len(passages)
        return built

    def _split(self, case_id: str) -> list[Passage]:
        if isinstance(self._texts, Mapping):
            text = self._texts.get(case_id)
        else:
            try:
                text = self._texts(case_id)
            except KeyError as error:
                raise UnknownCase(_unknown(case_id)) from error
        if text is None:
            raise UnknownCase(_unknown(case_id))
        passages = split_passages(text, self.passage_words)
        if not passages:
            raise EmptyCase(f"case {case_id!r} has no text to search in: give it one, or run it without search")
        return passages


def _unknown(case_id: str) -> str:
    return f"case {case_id!r} is not known to this retriever: build it with the file of cases that holds this id"
