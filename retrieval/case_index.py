"""The seam of retrieval: an index holds the passages of ONE case and ranks them for a query, exactly.

All three rank by falling score and break ties by passage index, so a result depends on nothing but case and query.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.embedders import Embedder, Vectors, checked
from retrieval.errors import EmptyCase, EmptyQuery, at_least_one
from retrieval.passages import Passage

_WORD = re.compile(r"\w+")
_NEAR = 1e-5  # scores of float32 unit vectors closer than this may be ties


@dataclass(frozen=True)
class Hit:
    """A passage and its score: cosine for vectors, BM25 for words."""

    passage: Passage
    score: float


class CaseIndex(Protocol):
    """`search` gives each query its `min(k, number of passages)` best hits, best first.

    Errors: `InvalidSize` for k < 1, `EmptyQuery` for a blank query.
    """

    passages: Sequence[Passage]

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]: ...


class VectorIndex:
    """What the two dense indexes share: `vectors` float32 `[n, dim]`, one unit vector for each of the n passages."""

    def __init__(self, passages: Sequence[Passage], vectors: Vectors, embedder: Embedder) -> None:
        self.passages = _some(passages)
        self.embedder = embedder
        self.vectors = checked(vectors, len(passages), embedder)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Embeds the queries in one call."""
        return self.search_vectors(self.embedder.encode_queries(asked(queries, k)), k) if queries else []

    def search_vectors(self, queries: Vectors, k: int) -> list[list[Hit]]:
        """The same for queries embedded before: float32 `[m, dim]`."""
        queries = checked(queries, len(queries), self.embedder)
        k = min(at_least_one("k", k), len(self.passages))
        return [self._rank(query, near, k) for query, near in zip(queries, self._candidates(queries, k), strict=True)]

    def _candidates(self, queries: Vectors, k: int) -> Sequence[NDArray[np.int64]]:
        """For each query, ascending passage indices that include its k best, ties at the k-th place included."""
        raise NotImplementedError

    def _rank(self, query: Vectors, candidates: NDArray[np.int64], k: int) -> list[Hit]:
        """Scores are summed in float64 row by row: equal vectors score equal, whatever else is in the batch."""
        scores = (self.vectors[candidates].astype(np.float64) * query).sum(axis=1).astype(np.float32)
        best = np.argsort(-scores, kind="stable")[:k]
        return [Hit(self.passages[candidates[i]], float(scores[i])) for i in best]


class NumpyIndex(VectorIndex):
    """Every passage is a candidate: no library, and the oracle of `DenseIndex`."""

    def _candidates(self, queries: Vectors, k: int) -> Sequence[NDArray[np.int64]]:
        return [np.arange(len(self.passages))] * len(queries)


class DenseIndex(VectorIndex):
    """FAISS `IndexFlatIP`: exact inner product, one thread (a second one costs more than 100 passages take).

    FAISS leaves the order of ties open, so a few more than k are fetched and the last places decided by `_rank`.
    """

    def __init__(self, passages: Sequence[Passage], vectors: Vectors, embedder: Embedder) -> None:
        super().__init__(passages, vectors, embedder)
        import faiss

        self._index = faiss.IndexFlatIP(embedder.dim)
        self._index.add(self.vectors)
        flat = faiss.rev_swig_ptr(self._index.get_xb(), self.vectors.size)
        self.vectors = flat.reshape(self.vectors.shape)  # a view: FAISS's copy is the only one

    def _candidates(self, queries: Vectors, k: int) -> Sequence[NDArray[np.int64]]:
        if not len(queries):
            return []
        count = len(self.passages)
        fetched = min(count, k + 8)
        with one_faiss_thread():
            scores, found = self._index.search(queries, fetched)
        if fetched == count:
            return [np.arange(count)] * len(queries)
        spills = scores[:, -1] >= scores[:, k - 1] - _NEAR
        return [np.arange(count) if spill else np.sort(row) for spill, row in zip(spills, found, strict=True)]


class BM25Index:
    """BM25 as Lucene has it, k1 = 1.2 and b = 0.75, over lower-cased runs of word characters.

    score(q, d) = sum over words w of q of  ln(1 + (N - n_w + 0.5) / (n_w + 0.5)) * tf / (tf + k1 (1 - b + b |d| / avg))

    where n_w of N passages hold w, tf counts w in d, |d| is the number of words of d. A word that stands twice in a
    query counts twice. Passages that share no word with it score 0 and come last, in order.
    """

    K1, B = 1.2, 0.75

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = _some(passages)
        counts = [Counter(words(passage.text)) for passage in passages]
        lengths = np.array([count.total() for count in counts], dtype=np.float64)
        norm = self.K1 * (1 - self.B + self.B * lengths / (lengths.mean() or 1.0))
        postings: dict[str, list[tuple[int, int]]] = {}
        for index, count in enumerate(counts):
            for word, frequency in count.items():
                postings.setdefault(word, []).append((index, frequency))
        self._weights: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        for word, places in postings.items():
            where = np.array([index for index, _ in places])
            tf = np.array([frequency for _, frequency in places], dtype=np.float64)
            idf = math.log(1 + (len(passages) - len(places) + 0.5) / (len(places) + 0.5))
            self._weights[word] = (where, idf * tf / (tf + norm[where]))

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [self._search(query, k) for query in asked(queries, k)]

    def _search(self, query: str, k: int) -> list[Hit]:
        scores = np.zeros(len(self.passages))
        for word in words(query):
            if word in self._weights:
                where, weights = self._weights[word]
                scores[where] += weights
        return [Hit(self.passages[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")[:k]]


def words(text: str) -> list[str]:
    """Lower-cased runs of word characters."""
    return _WORD.findall(text.lower())


def asked(queries: Sequence[str], k: int) -> Sequence[str]:
    """`queries`, if none is blank and k is at least 1."""
    at_least_one("k", k)
    for position, query in enumerate(queries):
        if not query.strip():
            raise EmptyQuery(f"query {position} of {len(queries)} is blank: ask for something, or do not search")
    return queries


@contextmanager
def one_faiss_thread() -> Iterator[None]:
    """FAISS runs on one thread inside; the setting belongs to the calling thread and is put back after."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _some(passages: Sequence[Passage]) -> Sequence[Passage]:
    if not passages:
        raise EmptyCase("an index needs at least one passage")
    return passages
