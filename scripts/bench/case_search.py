"""Compares four ways to search one case over the same vectors: time, memory, recall and under-filled searches.

    OMP_NUM_THREADS=1 python -m scripts.bench.case_search
    OMP_NUM_THREADS=1 python -m scripts.bench.case_search --cases 50 1000 --dim 384 --rounds 3

filter   one flat index of all cases: take the top 1000, keep those of the case (our implementation of a common design)
ids      one flat index of all cases, restricted to the case by FAISS's IDSelectorBatch: exact
range    the same with IDSelectorRange, which requires the passages of a case to be contiguous
case     one exact index per case (`retrieval.dense.DenseIndex`)

Vectors and queries are random, with 50 passages per case; random queries match no case in particular, like "what did
the expert say?". The methods take turns in every round, in one process, so all meet the same other load; every search
is in another random case. `batch` is the time of one query of a batch of 64 in one case. `private_mb` is what a fresh
process holds of its own after 20 searches in vectors that are mapped from a file: the pages of the file are shared by
all workers of a node. Recall is measured against a sort of all products of the case.
"""

import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.dense import DenseIndex
from retrieval.embedders import Vectors
from retrieval.passages import Passage
from scripts.bench.output import Row, draw_lines, parser_of, write_rows

K, CASE, TOP, BATCH = 3, 50, 1000, 64
Found = list[list[int]]


class Search(Protocol):
    def __call__(self, queries: Vectors, case: int) -> Found:
        """Queries `[m, dim]` of one case -> the indices of the passages found among all, best first."""
        ...


class NoEmbedder:
    """Placeholder: the searches here start from vectors."""

    name = "none"

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def encode_queries(self, texts: object) -> Vectors:
        raise NotImplementedError

    encode_passages = encode_queries


def flat_index(vectors: Vectors) -> Any:
    """One index of all cases. It copies the vectors."""
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return index


def global_filter(flat: Any) -> Search:
    def search(queries: Vectors, case: int) -> Found:
        _, found = flat.search(queries, min(TOP, flat.ntotal))
        return [[i for i in row if i // CASE == case][:K] for row in found.tolist()]

    return search


def global_selector(flat: Any, kind: str) -> Search:
    import faiss

    # The type annotations of FAISS lack the arguments of its parameter objects.
    parameters: Any = faiss.SearchParameters

    def search(queries: Vectors, case: int) -> Found:
        first, last = case * CASE, (case + 1) * CASE
        by_ids = kind == "ids"
        selector = faiss.IDSelectorBatch(np.arange(first, last)) if by_ids else faiss.IDSelectorRange(first, last)
        _, found = flat.search(queries, K, params=parameters(sel=selector))
        return [[i for i in row if i >= 0] for row in found.tolist()]

    return search


def per_case(vectors: Vectors) -> Search:
    embedder = NoEmbedder(vectors.shape[1])
    passages = [Passage(i, i, i + 1, "x") for i in range(CASE)]
    indexes = [DenseIndex(passages, vectors[start : start + CASE], embedder) for start in range(0, len(vectors), CASE)]

    def search(queries: Vectors, case: int) -> Found:
        return [[case * CASE + hit.passage.index for hit in hits] for hits in indexes[case].search_vectors(queries, K)]

    return search


METHODS: dict[str, Callable[[Vectors, Any], Search]] = {
    "filter": lambda vectors, flat: global_filter(flat),
    "ids": lambda vectors, flat: global_selector(flat, "ids"),
    "range": lambda vectors, flat: global_selector(flat, "range"),
    "case": lambda vectors, flat: per_case(vectors),
}


def unit(random: np.random.Generator, count: int, dim: int) -> Vectors:
    rows = random.standard_normal((count, dim), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    result: NDArray[np.float32] = rows
    return result


def measure(file: Path, queries: int, rounds: int, seed: int) -> list[Row]:
    """One row for each method. They take turns in every round."""
    import faiss

    faiss.omp_set_num_threads(1)
    vectors = np.load(file)
    cases, random = len(vectors) // CASE, np.random.default_rng(seed)
    asked = unit(random, max(queries, BATCH), vectors.shape[1])
    flat = flat_index(vectors)
    searches = {name: make(vectors, flat) for name, make in METHODS.items()}
    single: dict[str, list[float]] = {name: [] for name in METHODS}
    batch: dict[str, list[float]] = {name: [] for name in METHODS}
    rates: dict[str, list[float]] = {name: [] for name in METHODS}
    found: dict[str, list[tuple[int, int, list[int]]]] = {name: [] for name in METHODS}
    for _ in range(rounds):
        for name, search in searches.items():
            # The filter takes up to a second per batch, so it gets fewer searches.
            few = name == "filter" and cases > 200
            where = random.integers(0, cases, queries // 8 if few else queries).tolist()
            for number, case in enumerate(where):
                started = time.perf_counter()
                [hits] = search(asked[number : number + 1], case)
                single[name].append(1000 * (time.perf_counter() - started))
                found[name].append((number, case, hits))
            rates[name].append(1000 * len(where) / sum(single[name][-len(where) :]))
            for case in where[: 1 if few else 20]:
                started = time.perf_counter()
                search(asked[:BATCH], case)
                batch[name].append(1000 * (time.perf_counter() - started) / BATCH)
    rows: list[Row] = []
    for name in METHODS:
        recall = []
        for number, case, hits in found[name]:
            products = vectors[case * CASE : (case + 1) * CASE] @ asked[number]
            true = case * CASE + np.argsort(-products)[:K]
            recall.append(len(set(hits) & set(true.tolist())) / K)
        p50, p95 = np.percentile(single[name], [50, 95])
        rows.append(
            {
                "cases": cases, "method": name, "p50_ms": float(p50), "p95_ms": float(p95),
                "searches_per_s": float(np.median(rates[name])), "batch_ms": float(np.median(batch[name])),
                "recall": float(np.mean(recall)),
                "under_filled": float(np.mean([len(hits) < K for *_, hits in found[name]])),
            }
        )  # fmt: skip
    ours = rows[-1]
    for row in rows:
        row["times_case"] = row["p50_ms"] / ours["p50_ms"]
        row["batch_times_case"] = row["batch_ms"] / ours["batch_ms"]
    return rows


def memory(file: Path, method: str, queries: int) -> float:
    """MB that a fresh process adds of its own to build and search."""
    vectors = np.load(file, mmap_mode="r")
    random = np.random.default_rng(0)
    asked = unit(random, 1, vectors.shape[1])
    flat_index(vectors[:CASE]).search(asked, 1)  # loads the library
    before = private_mb()
    search = METHODS[method](vectors, None if method == "case" else flat_index(vectors))
    for case in random.integers(0, len(vectors) // CASE, queries).tolist():
        search(asked, case)
    return private_mb() - before


def private_mb() -> float:
    """Memory that this process shares with no other: mapped files are left out."""
    rollup = Path("/proc/self/smaps_rollup")
    if not rollup.exists():
        return float("nan")
    lines = rollup.read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty")) / 1e3


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--cases", type=int, nargs="+", default=[50, 200, 1000, 3000])
    parser.add_argument("--dim", type=int, default=768, help="384: e5-small, 768: e5-base")
    parser.add_argument("--queries", type=int, default=80, help="searches per method and round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if min(*options.cases, options.dim, options.rounds) < 1 or options.queries < 8:
        parser.error("--queries must be at least 8, the other sizes at least 1")
    rows: list[Row] = []
    with (
        tempfile.TemporaryDirectory(prefix="bench-case-search-") as folder,
        get_context("spawn").Pool(1, maxtasksperchild=1) as fresh_process,
    ):
        for cases in options.cases:
            file = Path(folder) / "vectors.npy"
            np.save(file, unit(np.random.default_rng(options.seed), cases * CASE, options.dim))
            measured = fresh_process.apply(measure, (file, options.queries, options.rounds, options.seed))
            for row in measured:
                row["private_mb"] = fresh_process.apply(memory, (file, row["method"], 20))
            rows += measured
    write_rows(options.out, "case_search", rows, vars(options))
    series = {name: [(row["cases"], row["p50_ms"]) for row in rows if row["method"] == name] for name in METHODS}
    draw_lines(options.out / "case_search.svg", series, x="cases of 50 passages", y="one search, p50, ms")


if __name__ == "__main__":
    main()
