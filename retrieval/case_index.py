"""The interface of a search index over the passages of one case, and the checks that its implementations share."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from retrieval.errors import EmptyCase, EmptyQuery, at_least_one, check_unicode
from retrieval.passages import Passage


class Hit(NamedTuple):
    """A passage with its score: the cosine similarity in dense indexes, the BM25 score in `BM25Index`."""

    passage: Passage
    score: float


class CaseIndex(Protocol):
    """A search index over the passages of one case.

    Search is exact, and ties are broken by passage index, so a result depends only on the case and the query.
    """

    passages: Sequence[Passage]

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """The `min(k, len(passages))` best hits of each query, by descending score. `BM25Index` finds none for a query
        without a term of the case; `DenseIndex` always finds the nearest, because a cosine has no zero of its own.

        Raises:
            InvalidSize: k is below 1.
            EmptyQuery: A query is blank.
            InvalidText: A query is not valid Unicode.
        """
        ...


def check_queries(queries: Sequence[str], k: int) -> Sequence[str]:
    """Validates the arguments of `CaseIndex.search` and returns `queries`.

    Raises:
        InvalidSize: k is below 1.
        EmptyQuery: A query is blank.
        InvalidText: A query is not valid Unicode.
    """
    at_least_one("k", k)
    for position, query in enumerate(queries):
        if not check_unicode(query, f"query {position} of {len(queries)}").strip():
            raise EmptyQuery(f"query {position} of {len(queries)} is blank: give a query text or skip the search")
    return queries


def check_passages(passages: Sequence[Passage]) -> Sequence[Passage]:
    """Returns `passages`.

    Raises:
        EmptyCase: There are no passages.
    """
    if not passages:
        raise EmptyCase("an index needs at least one passage")
    return passages
