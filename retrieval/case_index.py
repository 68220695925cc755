"""The interface of an index: it holds the passages of one case and ranks them for a query.

Every index is exact, ranks by descending score and breaks ties by passage index. A result therefore depends only on
the case and the query.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from retrieval.errors import EmptyCase, EmptyQuery, at_least_one
from retrieval.passages import Passage


@dataclass(frozen=True)
class Hit:
    """A passage and its score: cosine similarity for dense indexes, the BM25 score for BM25."""

    passage: Passage
    score: float


class CaseIndex(Protocol):
    """`search` returns the `min(k, number of passages)` best hits of each query, best first.

    Raises:
        InvalidSize: k is below 1.
        EmptyQuery: a query is blank.
    """

    passages: Sequence[Passage]

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]: ...


def check_queries(queries: Sequence[str], k: int) -> Sequence[str]:
    """Returns `queries` if none is blank and k is at least 1."""
    at_least_one("k", k)
    for position, query in enumerate(queries):
        if not query.strip():
            raise EmptyQuery(f"query {position} of {len(queries)} is blank: give a query text or skip the search")
    return queries


def check_passages(passages: Sequence[Passage]) -> Sequence[Passage]:
    if not passages:
        raise EmptyCase("an index needs at least one passage")
    return passages
