import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hash_embedder import HashEmbedder
from numpy.typing import NDArray

from retrieval.errors import BadVectors
from retrieval.retriever import FULL_BATCH, QueryBatcher, Retriever


def test_concurrent_queries_share_calls_and_get_their_own_vectors() -> None:
    embedder = HashEmbedder(256)
    batcher = QueryBatcher(embedder, window_s=0.02)
    texts = [[f"word{n}", f"other{n}"][: n % 2 + 1] for n in range(64)]
    with ThreadPoolExecutor(64) as pool:
        found = list(pool.map(batcher.encode, texts))
    assert len(embedder.query_calls) < 16
    assert sum(map(len, embedder.query_calls)) == sum(map(len, texts))
    for own, vectors in zip(texts, found, strict=True):
        assert (vectors == HashEmbedder(256).encode_queries(own)).all()


def test_an_error_reaches_every_caller_of_a_batch_and_no_later_one() -> None:
    class Failing(HashEmbedder):
        fails = True

        def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return super().encode_queries(texts)[: -1 if self.fails else None]

    embedder = Failing()
    batcher = QueryBatcher(embedder, window_s=0.05)
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(batcher.encode, ["a"]) for _ in range(4)]
        for future in futures:
            with pytest.raises(BadVectors):
                future.result()
    embedder.fails = False
    assert batcher.encode(["a"]).shape == (1, 16)


def test_a_cold_case_does_not_delay_searches_in_other_cases() -> None:
    """While one case is embedded, 20 searches in another one end. A second search in the cold case waits for it."""
    started, release = threading.Event(), threading.Event()

    class Slow(HashEmbedder):
        def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if any("cold" in text for text in texts):
                started.set()
                assert release.wait(180)
            return super().encode_passages(texts)

    embedder = Slow()
    retriever = Retriever({"cold": "cold kara .", "warm": "olga paid ."}, method=embedder)
    with ThreadPoolExecutor(2) as pool:
        cold = [pool.submit(retriever.search, [("cold", "kara")], 1) for _ in range(2)]
        assert started.wait(180)
        began = time.monotonic()
        for _ in range(20):
            assert retriever.search([("warm", "paid")], 1)[0][0].passage.text == "olga paid ."
        assert time.monotonic() - began < 10
        assert not any(future.done() for future in cold)
        release.set()
        assert [future.result()[0][0].passage.text for future in cold] == ["cold kara ."] * 2
    assert sum("cold kara ." in call for call in embedder.passage_calls) == 1


def test_a_failed_build_of_another_thread_is_tried_again() -> None:
    """A search that waits for a case does not fail by a request of the search that built it."""
    started, release = threading.Event(), threading.Event()

    class FailsOnce(HashEmbedder):
        def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if not started.is_set():
                started.set()
                assert release.wait(180)
                raise RuntimeError("the device is gone")
            return super().encode_passages(texts)

    retriever = Retriever({"a": "kara paid ."}, method=FailsOnce())
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(retriever.search, [("a", "kara")], 1)
        assert started.wait(180)
        second = pool.submit(retriever.search, [("a", "kara")], 1)
        time.sleep(0.05)
        release.set()
        with pytest.raises(RuntimeError, match="device is gone"):
            first.result()
        assert second.result()[0][0].passage.text == "kara paid ."


def test_a_full_batch_does_not_wait_for_more() -> None:
    embedder = HashEmbedder()
    batcher = QueryBatcher(embedder, window_s=60)
    began = time.monotonic()
    assert batcher.encode([f"word{n}" for n in range(FULL_BATCH)]).shape == (FULL_BATCH, 16)
    with ThreadPoolExecutor(FULL_BATCH) as pool:
        list(pool.map(batcher.encode, [[f"word{n}"] for n in range(FULL_BATCH)]))
    assert time.monotonic() - began < 30
    assert [len(call) for call in embedder.query_calls] == [FULL_BATCH] * 2
