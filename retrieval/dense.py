"""Exact vector search over the passages of one case."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.case_index import Hit, check_passages, check_queries
from retrieval.embedders import Embedder, Vectors, check_shape, check_vectors
from retrieval.errors import at_least_one
from retrieval.passages import Passage

_BLOCK = 64
"""Queries searched together: their products with all passages are in memory at once."""
_PASSES = 8
"""Largest k that is selected by as many passes over the products."""


class DenseIndex:
    """Exact inner product on one thread, with the kernel of a flat FAISS index.

    `vectors` is float32 `[n, dim]`, one unit vector per passage, in memory or mapped from a store. The kernel is called
    without an index around it: for the hundred passages of a case the calls around the products take longer than the
    products.
    """

    def __init__(self, passages: Sequence[Passage], vectors: Vectors, embedder: Embedder) -> None:
        self.passages = check_passages(passages)
        self.embedder = embedder
        self.vectors = check_vectors(vectors, len(passages), embedder)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Embeds all queries in one call and searches."""
        if not queries:
            return []
        vectors = self.embedder.encode_queries(check_queries(queries, k))
        return self.search_vectors(check_vectors(vectors, len(queries), self.embedder), k)

    def search_vectors(self, queries: Vectors, k: int) -> list[list[Hit]]:
        """Searches with unit vectors that are already embedded and checked: float32 `[m, dim]`."""
        k = min(at_least_one("k", k), len(self.passages))
        queries = check_shape(queries, len(queries), self.embedder)
        passages, hits = self.passages, []
        for start in range(0, len(queries), _BLOCK):
            best, scores = _top(self._products(queries[start : start + _BLOCK]), k)
            for places, values in zip(best.tolist(), scores.tolist(), strict=True):
                # `map`, because the loop around a query of three hits takes as long as its products.
                hits.append(list(map(Hit, map(passages.__getitem__, places), values)))
        return hits

    def _products(self, queries: Vectors) -> NDArray[np.float32]:
        """The inner products of all queries with all passages: `[m, n]`, in one call. Each depends on its two vectors
        alone, so that equal vectors get equal scores in any batch. A matrix product does not promise that, nor does
        `fvec_inner_products_ny` for vectors of 8 dimensions."""
        import faiss

        count, dim = self.vectors.shape
        products = np.empty((len(queries), count), np.float32)
        rows = np.empty(products.shape, np.int64)
        rows[:] = np.arange(count)
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)  # of the calling thread alone
        try:
            faiss.fvec_inner_products_by_idx(  # type: ignore[attr-defined]  # missing in its annotations
                faiss.swig_ptr(products),
                faiss.swig_ptr(queries),
                faiss.swig_ptr(self.vectors),
                faiss.swig_ptr(rows),
                dim,
                len(queries),
                count,
            )
        finally:
            faiss.omp_set_num_threads(threads)
        return products


def _top(products: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The columns and values of the k largest products of each row, ties by column: `[m, k]` both."""
    if len(products) == 1:
        [row] = products
        # One query needs no passes over a matrix.
        first = (-row).argsort(kind="stable")[:k]
        return first[None], row[first][None]
    rows = np.arange(len(products))
    if k > _PASSES:
        best = (-products).argsort(axis=1, kind="stable")[:, :k]
        return best, products[rows[:, None], best]
    best, scores = np.empty((len(products), k), np.int64), np.empty((len(products), k), np.float32)
    for place in range(k):  # a pass for the largest that is left is faster than sorting
        best[:, place] = products.argmax(axis=1)  # the first of equal ones
        scores[:, place] = products[rows, best[:, place]]
        products[rows, best[:, place]] = -np.inf  # taken: the next pass finds the next one
    return best, scores
