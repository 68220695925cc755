"""Compares four ways to search one case (k = 3) over the same vectors: time, memory and recall.

    python scripts/bench_retrieval.py
    python scripts/bench_retrieval.py --vectors 15000 50000 200000 --dim 768 --queries 200

A        one flat index of all cases: take the top 1000, keep those of the case (our implementation of a common design)
B ids    one flat index of all cases, restricted to the case by FAISS's IDSelectorBatch: exact
B range  the same with IDSelectorRange, which requires the passages of a case to be contiguous
ours     one exact index per case (`retrieval.dense.DenseIndex`)

Vectors and queries are random, with 50 passages per case; random queries match no case in particular, like "what did
the expert say?". `recall` is the share of the true top 3 of the case that was found, `under-filled` the share of
searches with fewer than 3 results, and `memory` the growth of a fresh process while it builds the index. All searches
use one FAISS thread (`--threads` changes it for A and B; ours always uses one).
"""

import argparse
import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.dense import DenseIndex
from retrieval.embedders import Vectors
from retrieval.passages import Passage

K, CASE, TOP = 3, 50, 1000
Found = list[int]
Search = Callable[[Vectors, int], Found]  # (query [1, dim], case) -> global passage indices, best first


@dataclass(frozen=True)
class Row:
    """One row of the table. Times are in milliseconds, memory in MB."""

    vectors: int
    method: str
    p50: float
    p95: float
    recall: float
    under_filled: float
    memory: float

    def __str__(self) -> str:
        return (
            f"{self.vectors:>8,}  {self.method:<7} {self.p50:>9.3f} {self.p95:>9.3f} {1000 / self.p50:>10,.0f}"
            f" {self.recall:>7.2f} {self.under_filled:>13.0%} {self.memory:>10.0f}"
        )


class NoEmbedder:
    """Placeholder: the searches here start from vectors."""

    name = "none"

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def encode_queries(self, texts: object) -> Vectors:
        raise NotImplementedError

    encode_passages = encode_queries


def global_filtered(vectors: Vectors) -> Search:
    """A: ranks everything, keeps the first 1000 and selects the case among them."""
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)

    def search(query: Vectors, case: int) -> Found:
        _, [best] = index.search(query, min(TOP, len(vectors)))
        return [int(i) for i in best if i // CASE == case][:K]

    return search


def global_selected(vectors: Vectors, kind: str) -> Search:
    """B: compares only the ids of the case."""
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    # The type annotations of FAISS lack the arguments of its parameter objects.
    parameters: Any = faiss.SearchParameters

    def search(query: Vectors, case: int) -> Found:
        first, last = case * CASE, (case + 1) * CASE
        batch = kind == "ids"
        selector = faiss.IDSelectorBatch(np.arange(first, last)) if batch else faiss.IDSelectorRange(first, last)
        _, [best] = index.search(query, K, params=parameters(sel=selector))
        return [int(i) for i in best if i >= 0]

    return search


def per_case(vectors: Vectors) -> Search:
    """Ours: searches only the index of the case."""
    embedder = NoEmbedder(vectors.shape[1])
    starts = range(0, len(vectors), CASE)
    passages = [Passage(i, i, i + 1, "x") for i in range(CASE)]
    indexes = [DenseIndex(passages, vectors[start : start + CASE], embedder) for start in starts]

    def search(query: Vectors, case: int) -> Found:
        [hits] = indexes[case].search_vectors(query, K)
        return [case * CASE + hit.passage.index for hit in hits]

    return search


def unit(random: np.random.Generator, count: int, dim: int) -> Vectors:
    rows = random.standard_normal((count, dim), dtype=np.float32)
    result: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return result


def resident_mb() -> float:
    """Resident memory of this process from /proc; NaN without /proc."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if statm.exists() else float("nan")


METHODS: dict[str, Callable[[Vectors], Search]] = {
    "A": global_filtered,
    "B ids": partial(global_selected, kind="ids"),
    "B range": partial(global_selected, kind="range"),
    "ours": per_case,
}


def measure(method: str, count: int, dim: int, queries: int, threads: int, seed: int) -> Row:
    """Measures one row of the table in this process."""
    import faiss

    faiss.omp_set_num_threads(threads)
    random = np.random.default_rng(seed)
    vectors, query_vectors = unit(random, count, dim), unit(random, queries, dim)
    cases = random.integers(0, count // CASE, queries).tolist()
    gc.collect()
    before = resident_mb()
    search = METHODS[method](vectors)
    memory = resident_mb() - before
    search(query_vectors[:1], cases[0])  # warm-up
    times, recall, under_filled = [], [], []
    for query, case in zip(query_vectors, cases, strict=True):
        started = time.perf_counter()
        found = search(query[None], case)
        times.append(1000 * (time.perf_counter() - started))
        own = vectors[case * CASE : (case + 1) * CASE]
        true = case * CASE + np.argsort(-(own @ query))[:K]
        recall.append(len(set(found) & set(true.tolist())) / K)
        under_filled.append(len(found) < K)
    p50, p95 = np.percentile(times, [50, 95])
    return Row(count, method, p50, p95, float(np.mean(recall)), float(np.mean(under_filled)), memory)


def main() -> None:
    about, example = (__doc__ or "").split("\n\n", 1)
    parser = argparse.ArgumentParser(
        description=about, epilog=example, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vectors", type=int, nargs="+", default=[15_000, 50_000], help="total numbers of passages")
    parser.add_argument("--dim", type=int, default=384, help="384: e5-small, 768: e5-base")
    parser.add_argument("--queries", type=int, default=200, help="searches per row")
    parser.add_argument("--threads", type=int, default=1, help="FAISS threads of A and B")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if min(options.vectors) < CASE or min(options.dim, options.queries, options.threads) < 1:
        parser.error(f"--vectors must be at least {CASE} (one case), the other sizes at least 1")
    print(f"k {K}, {CASE} passages per case, {options.dim} dimensions, {options.queries} queries, one at a time\n")
    print(" vectors  method        p50 ms    p95 ms searches/s  recall  under-filled  memory MB")
    with get_context("spawn").Pool(1, maxtasksperchild=1) as fresh_process:
        for count in options.vectors:
            for method in METHODS:
                work = (method, count - count % CASE, options.dim, options.queries, options.threads, options.seed)
                print(fresh_process.apply(measure, work), flush=True)


if __name__ == "__main__":
    main()
