"""A client of `retrieval.server` with the interface of `retrieval.retriever.Retriever`."""

import random
import time
from collections.abc import Sequence
from typing import Any

import httpx

from retrieval import errors
from retrieval.case_index import Hit
from retrieval.errors import RetrievalError, SearchTimeout, ServerUnavailable
from retrieval.passages import Passage
from retrieval.store import VectorStore

CALL = 1024
"""Searches in one HTTP call."""
_WAIT_S = 0.05, 2.0
"""Shortest and longest wait before another attempt."""


class RemoteRetriever:
    """Searches on a server, many searches in one call over connections that stay open. Thread-safe.

    A call is repeated while the server refuses it, restarts or cannot be reached, until `timeout_s` is over. A search
    changes nothing, so a repeated one cannot double anything. `retries` counts repeated calls.

    With `passage_words`, a server that splits cases into passages of another size refuses the searches.

    Every result names its case. An answer with another number of results, or of another case, is an error.
    """

    store: VectorStore | None = None
    """A server has its own."""

    def __init__(
        self, url: str, *, token: str | None = None, timeout_s: float = 300.0, passage_words: int | None = None
    ) -> None:
        self._settings = {} if passage_words is None else {"passage_words": passage_words}
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.url, self.timeout_s, self.retries = url.rstrip("/"), timeout_s, 0
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)  # as many as there are threads
        self._client = httpx.Client(headers=headers, limits=limits, trust_env=False)

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def search(self, requests: Sequence[tuple[str, str]], k: int) -> list[list[Hit]]:
        """Returns the best hits of each (case id, query), in the order of the requests.

        Raises:
            SearchTimeout: There is no answer within `timeout_s`.
            ServerUnavailable: The server refuses the token, or its answer does not belong to the requests.
            RetrievalError: The server's error for a request that is not valid.
        """
        until = time.monotonic() + self.timeout_s
        hits: list[list[Hit]] = []
        for start in range(0, len(requests), CALL):
            hits += self._call(requests[start : start + CALL], k, until)
        return hits

    def _call(self, requests: Sequence[tuple[str, str]], k: int, until: float) -> list[list[Hit]]:
        wait, reason = _WAIT_S[0], ""
        while (left := until - time.monotonic()) > 0:
            body = {"k": k, "requests": [list(pair) for pair in requests], "timeout_s": min(left, 300.0)}
            body |= self._settings
            try:
                answer = self._client.post(f"{self.url}/search", json=body, timeout=left)
            except httpx.TransportError as error:
                reason, pause = f"{type(error).__name__}: {error}", wait
            else:
                if answer.status_code == 200:
                    return self._hits(answer, requests)
                # A server that restarts, its proxy and a full queue answer so. All else would fail again.
                if answer.status_code not in (502, 503, 504):
                    raise self._error(answer)
                reason = f"status {answer.status_code}"
                after = answer.headers.get("retry-after", "")
                # A number of seconds alone. `isdecimal`, since "²" is a digit that `float` does not read.
                pause = float(after) if after.isdecimal() and answer.status_code == 503 else wait
            self.retries += 1
            # A random part of the wait spreads the clients that were refused at the same time.
            time.sleep(max(0.0, min(pause * random.uniform(0.5, 1.0), until - time.monotonic())))
            wait = min(2 * wait, _WAIT_S[1])
        raise SearchTimeout(f"{self.url} gave no answer within {self.timeout_s:g} s ({reason or 'no attempt'})")

    def _hits(self, answer: httpx.Response, requests: Sequence[tuple[str, str]]) -> list[list[Hit]]:
        try:
            results = answer.json()["results"]
            found = [result["case_id"] for result in results]
            hits = [
                [Hit(Passage(index, start, end, text), score) for index, start, end, score, text in result["hits"]]
                for result in results
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise ServerUnavailable(
                f"the answer of {self.url} cannot be read ({error}): is it a retrieval server?"
            ) from None
        # Isolation must not rest on a proxy or a cache between here and the server.
        if found != [case_id for case_id, _ in requests]:
            raise ServerUnavailable(f"{self.url} answered other requests than it was sent: its results are not used")
        return hits

    def _error(self, answer: httpx.Response) -> RetrievalError:
        try:
            content: Any = answer.json()
            name, message = str(content["error"]), str(content["message"])
        except (ValueError, KeyError, TypeError):
            name, message = "", f"{self.url} answered with status {answer.status_code}: is it a retrieval server?"
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, RetrievalError):
            return kind(message)
        return ServerUnavailable(message)
