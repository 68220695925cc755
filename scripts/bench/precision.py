"""Passage vectors in float32, float16 and int8: bytes, recall@3 and time of one search in the index of one case.

    OMP_NUM_THREADS=1 python -m scripts.bench.precision
    OMP_NUM_THREADS=1 python -m scripts.bench.precision --data runs/english/data/train --passage-words 100 --queries 5

The cases are those of a data folder, with the vectors of its index if it has one, or those of the source `builtin`,
which are embedded here. float16 and int8 are FAISS's scalar quantisers (`IndexScalarQuantizer`, 8
bits trained on the vectors of the case); float32 is `retrieval.dense.DenseIndex`. Queries are pieces of sentences of
the case, each from another place. Recall is the part of the three best passages in float32 that the other index finds,
`changed` the part of queries whose passages or their order differ. `smallest_gap` is the smallest difference between
the scores of the third and the fourth passage in float32, `score_error` the largest error of a score. `store_bytes` is
the size of all vectors; the ranges of int8 are included. `search_us` of float32 includes the objects of the passages.
"""

import time
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_builders.sources.builtin import FILE
from judge_r1.core.jsonl import read_jsonl
from judge_r1.core.pair_set import CASES_FILE
from judge_r1.core.records import Case
from retrieval.dense import DenseIndex
from retrieval.embedders import Embedder, Vectors, load_embedder
from retrieval.passages import Passage, split_passages
from retrieval.store import VectorStore
from scripts.bench.output import Row, draw_bars, parser_of, write_rows

K = 3
KINDS = ("float32", "float16", "int8")
RANGES = 2
"""float32 values per dimension that FAISS keeps for the ranges of int8."""


class CaseVectors:
    """The vectors of one case, and the same in FAISS's quantisers."""

    def __init__(self, passages: list[Passage], vectors: Vectors, queries: Vectors, embedder: Embedder) -> None:
        import faiss

        self.queries, self.vectors = queries, vectors
        self.dense = DenseIndex(passages, vectors, embedder)
        types = {"float16": faiss.ScalarQuantizer.QT_fp16, "int8": faiss.ScalarQuantizer.QT_8bit}
        self.indexes: dict[str, Any] = {}
        for kind, quantiser in types.items():
            index = faiss.IndexScalarQuantizer(embedder.dim, quantiser, faiss.METRIC_INNER_PRODUCT)
            index.train(vectors)
            index.add(vectors)
            self.indexes[kind] = index

    def bytes(self, kind: str) -> int:
        if kind == "float32":
            return self.vectors.nbytes
        index = self.indexes[kind]
        return int(index.ntotal * index.sa_code_size() + (RANGES * 4 * index.d if kind == "int8" else 0))

    def search(self, kind: str, query: Vectors, k: int) -> tuple[list[int], NDArray[np.float32]]:
        """The passages of one query `[1, dim]`, best first, and their scores."""
        if kind == "float32":
            [hits] = self.dense.search_vectors(query, k)
            return [hit.passage.index for hit in hits], np.array([hit.score for hit in hits], np.float32)
        scores, found = self.indexes[kind].search(query, k)
        return found[0].tolist(), scores[0]


def pieces(text: str, count: int, random: Random) -> list[str]:
    """`count` runs of eight words."""
    words = text.split()
    return [" ".join(words[start : start + 8]) for start in random.choices(range(max(1, len(words) - 8)), k=count)]


def compare(cases: list[CaseVectors]) -> list[Row]:
    rows = []
    for kind in KINDS:
        kept = wanted = changed = 0
        error, gap, seconds = 0.0, 1.0, []
        for case in cases:
            exact = case.vectors @ case.queries.T
            for number, query in enumerate(case.queries):
                true, ranked = case.search("float32", query[None], K + 1)
                if len(ranked) > K:
                    gap = min(gap, float(ranked[K - 1] - ranked[K]))
                began = time.perf_counter()
                found, scores = case.search(kind, query[None], min(K, len(exact)))
                seconds.append(time.perf_counter() - began)
                kept, wanted = kept + len(set(found) & set(true[:K])), wanted + len(true[:K])
                changed += found != true[:K]
                error = max(error, float(np.abs(scores - exact[found, number]).max()))
        row: Row = {"vectors": kind, "store_bytes": sum(case.bytes(kind) for case in cases)}
        row |= {"recall@3": kept / wanted, "changed": changed / len(seconds), "score_error": error}
        rows.append(row | {"smallest_gap": gap, "search_us": 1e6 * median(seconds), "searches": len(seconds)})
    return rows


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, help="a folder with cases.jsonl")
    parser.add_argument("--model", default="bundled:e5-small")
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--queries", type=int, default=20, help="of each case")
    parser.add_argument("--passage-words", type=int, default=30, help="short, as the cases are: more passages per case")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    embedder, random = load_embedder(options.model), Random(options.seed)
    cases: list[CaseVectors] = []
    store = options.data and VectorStore(options.data / "index", embedder, options.passage_words)
    for case in read_jsonl(options.data / CASES_FILE if options.data else FILE, Case, unique="case_id"):
        if len(cases) == options.cases:
            break
        passages = split_passages(case.context, options.passage_words)
        vectors = store.get(passages) if store else None
        if vectors is None:
            vectors = embedder.encode_passages([passage.text for passage in passages])
        queries = embedder.encode_queries(pieces(case.context, options.queries, random))
        cases.append(CaseVectors(passages, vectors, queries, embedder))
    rows = compare(cases)
    write_rows(options.out, "precision", rows, vars(options))
    draw_bars(options.out / "precision.svg", {row["vectors"]: row["store_bytes"] for row in rows}, x="bytes")


if __name__ == "__main__":
    main()
