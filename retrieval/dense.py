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
        hits: list[list[Hit]] = []
        for start in range(0, len(queries), _BLOCK):
            products = self._products(queries[start : start + _BLOCK])
            for row, best in zip(products, (-products).argsort(axis=1, kind="stable")[:, :k], strict=True):
                found = zip(best.tolist(), row[best].tolist(), strict=True)
                hits.append([Hit(self.passages[i], score) for i, score in found])
        return hits

    def _products(self, queries: Vectors) -> NDArray[np.float32]:
        """The inner products of all queries with all passages: `[m, n]`. Each depends on its two vectors alone, so that
        equal vectors get equal scores in any batch."""
        import faiss

        products = np.empty((len(queries), len(self.vectors)), np.float32)
        vectors = faiss.swig_ptr(self.vectors)
        count, dim = self.vectors.shape
        for query, row in zip(queries, products, strict=True):
            faiss.fvec_inner_products_ny(  # type: ignore[attr-defined]  # missing in its annotations
                faiss.swig_ptr(row), faiss.swig_ptr(query), vectors, dim, count
            )
        return products
