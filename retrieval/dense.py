"""Exact vector search over the passages of one case."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from retrieval.case_index import Hit, check_passages, check_queries
from retrieval.embedders import Embedder, Vectors, check_vectors
from retrieval.errors import at_least_one
from retrieval.passages import Passage

_NEAR = 1e-5  # scores of float32 unit vectors closer than this may be ties


class VectorIndex:
    """Base of the dense indexes. `vectors` is float32 `[n, dim]`: one unit vector per passage."""

    def __init__(self, passages: Sequence[Passage], vectors: Vectors, embedder: Embedder) -> None:
        self.passages = check_passages(passages)
        self.embedder = embedder
        self.vectors = check_vectors(vectors, len(passages), embedder)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Embeds all queries in one call and searches."""
        return self.search_vectors(self.embedder.encode_queries(check_queries(queries, k)), k) if queries else []

    def search_vectors(self, queries: Vectors, k: int) -> list[list[Hit]]:
        """Searches with query vectors that are already embedded: float32 `[m, dim]`."""
        queries = check_vectors(queries, len(queries), self.embedder)
        k = min(at_least_one("k", k), len(self.passages))
        return [self._rank(query, near, k) for query, near in zip(queries, self._candidates(queries, k), strict=True)]

    def _candidates(self, queries: Vectors, k: int) -> Sequence[NDArray[np.int64]]:
        """For each query, ascending passage indices that contain its k best, including ties at rank k."""
        raise NotImplementedError

    def _rank(self, query: Vectors, candidates: NDArray[np.int64], k: int) -> list[Hit]:
        """Sums scores in float64 row by row, so that equal vectors get equal scores in any batch."""
        scores = (self.vectors[candidates].astype(np.float64) * query).sum(axis=1).astype(np.float32)
        best = np.argsort(-scores, kind="stable")[:k]
        return [Hit(self.passages[candidates[i]], float(scores[i])) for i in best]


class DenseIndex(VectorIndex):
    """Exact inner product by FAISS on one thread. A second thread is slower for 100 passages.

    FAISS searches `vectors` where they are, in memory or mapped from a store. It does not define the order of ties, so
    the index fetches a few more than k and `_rank` orders them.
    """

    def _candidates(self, queries: Vectors, k: int) -> Sequence[NDArray[np.int64]]:
        if not len(queries):
            return []
        import faiss

        count = len(self.passages)
        fetched = min(count, k + 8)
        with one_faiss_thread():
            scores, found = faiss.knn(queries, self.vectors, fetched, metric=faiss.METRIC_INNER_PRODUCT)
        if fetched == count:
            return [np.arange(count)] * len(queries)
        spills = scores[:, -1] >= scores[:, k - 1] - _NEAR
        return [np.arange(count) if spill else np.sort(row) for spill, row in zip(spills, found, strict=True)]


@contextmanager
def one_faiss_thread() -> Iterator[None]:
    """Runs FAISS on one thread inside the block. The setting is per calling thread and is restored afterwards."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
