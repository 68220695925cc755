"""BM25 over the passages of one case."""

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.case_index import Hit, check_passages, check_queries
from retrieval.passages import Passage

_WORD = re.compile(r"\w+")


class BM25Index:
    """BM25 in the variant of Lucene, with k1 = 1.2 and b = 0.75, over lower-cased runs of word characters.

    score(q, d) = sum over words w of q of  ln(1 + (N - n_w + 0.5) / (n_w + 0.5)) * tf / (tf + k1 (1 - b + b |d| / avg))

    where N is the number of passages, n_w the number that contain w, tf the count of w in d, and |d| the number of
    words of d. A word that occurs twice in the query counts twice. Passages that share no word with the query score
    0 and are ranked last, by index.
    """

    K1, B = 1.2, 0.75

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = check_passages(passages)
        counts = [Counter(words(passage.text)) for passage in passages]
        lengths = np.array([count.total() for count in counts], dtype=np.float64)
        norm = self.K1 * (1 - self.B + self.B * lengths / (lengths.mean() or 1.0))
        postings: dict[str, list[tuple[int, int]]] = {}
        for index, count in enumerate(counts):
            for word, frequency in count.items():
                postings.setdefault(word, []).append((index, frequency))
        self._weights: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        for word, entries in postings.items():
            where = np.array([index for index, _ in entries])
            tf = np.array([frequency for _, frequency in entries], dtype=np.float64)
            idf = math.log(1 + (len(passages) - len(entries) + 0.5) / (len(entries) + 0.5))
            self._weights[word] = (where, idf * tf / (tf + norm[where]))

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [self._search(query, k) for query in check_queries(queries, k)]

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
