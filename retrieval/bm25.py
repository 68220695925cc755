"""BM25 over the passages of one case."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from retrieval.case_index import Hit, check_passages, check_queries
from retrieval.passages import Passage
from retrieval.words import characters, spellings, terms


class BM25Index:
    """BM25 in the variant of Lucene, with k1 = 1.2 and b = 0.75, over `retrieval.words.terms`, and the `spellings` of
    queries and passages.

    score(q, d) = sum over terms w of q of  ln(1 + (N - n_w + 0.5) / (n_w + 0.5)) * tf / (tf + k1 (1 - b + b |d| / avg))

    where N is the number of passages, n_w the number that contain w, tf the count of w in d, and |d| the number of
    terms of d. A term that occurs twice in the query counts twice. Passages that share no term with the query score
    0 and are ranked last, by index. A query that shares no term with any passage finds nothing.
    """

    K1, B = 1.2, 0.75

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = check_passages(passages)
        counts = [Counter(terms(passage.text)) for passage in passages]
        lengths = np.array([count.total() for count in counts], dtype=np.float64)
        norm = self.K1 * (1 - self.B + self.B * lengths / (lengths.mean() or 1.0))
        postings: dict[str, list[tuple[int, int]]] = {}
        for index, (passage, count) in enumerate(zip(passages, counts, strict=True)):
            # After the lengths were taken: what is found besides must not make a passage longer.
            count.update([*characters(passage.text), *spellings(passage.text)])
            for word, frequency in count.items():
                postings.setdefault(word, []).append((index, frequency))
        where = np.array([index for entries in postings.values() for index, _ in entries], dtype=np.int64)
        tf = np.array([frequency for entries in postings.values() for _, frequency in entries], dtype=np.float64)
        sizes = [len(entries) for entries in postings.values()]
        idf = np.repeat([math.log(1 + (len(passages) - size + 0.5) / (size + 0.5)) for size in sizes], sizes)
        weights, ends = idf * tf / (tf + norm[where]), np.cumsum(sizes, dtype=np.int64).tolist()
        self._weights: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {
            word: (where[end - size : end], weights[end - size : end])
            for word, size, end in zip(postings, sizes, ends, strict=True)
        }

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [list(islice(self.ranked(query), k)) for query in check_queries(queries, k)]

    def ranked(self, query: str) -> Iterator[Hit]:
        """All passages by descending score, made one by one; none for a query without a term of the case."""
        scores = np.zeros(len(self.passages))
        known = [self._weights[word] for word in [*terms(query), *spellings(query)] if word in self._weights]
        if not known:
            return
        for where, weights in known:
            scores[where] += weights
        # Stable, so that passages of equal score stay in the order of the text.
        for place in np.argsort(-scores, kind="stable"):
            yield Hit(self.passages[place], float(scores[place]))
