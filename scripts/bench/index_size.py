"""Indexes a corpus of LRBench's size and measures time, disk, cold start and memory of a worker.

    OMP_NUM_THREADS=1 python -m scripts.bench.index_size
    OMP_NUM_THREADS=1 python -m scripts.bench.index_size --cases 300 1000 --dim 384

Every case has 50 passages. The vectors are synthetic (one random table row per word, summed), so the time is that of
splitting, writing and checksums: an embedding model adds its own. A cold start opens the cases and the store in a fresh
worker and searches one case. `private_open_MB` is the memory of its own that the worker adds until then. `resident_MB`
and `private_MB` are what it adds until the end of 64 searches in other cases; private memory leaves out mapped files.
"""

import tempfile
import time
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from random import Random

import numpy as np

from judge_r1.core.jsonl import write_jsonl
from judge_r1.core.pair_set import CASES_FILE, CaseTexts, open_cases
from judge_r1.core.records import Case
from judge_r1.episode.case_index import INDEX_FOLDER, fill_index
from retrieval.embedders import Vectors
from retrieval.retriever import Retriever
from scripts.bench.memory import private_mb, resident_mb
from scripts.bench.output import Row, draw_lines, parser_of, write_rows
from scripts.bench.store import WORDS

SEARCHES, PASSAGES, SENTENCE = 64, 50, 20


class TableEmbedder:
    """The sum of one row per word of a random table."""

    name, passage_prefix = "table", ""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._table = np.random.default_rng(0).standard_normal((len(WORDS), dim), dtype=np.float32)
        self._row = {word: row for row, word in enumerate(WORDS)}

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        rows = [[self._row.get(word.strip(".").lower(), 0) for word in text.split()] for text in texts]
        sums = np.stack([self._table[row].sum(axis=0) for row in rows])
        unit: Vectors = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return unit

    encode_queries = encode_passages


def write_cases(folder: Path, count: int) -> None:
    random = Random(0)

    def context() -> str:
        sentences = (" ".join(random.choices(WORDS, k=SENTENCE)).capitalize() for _ in range(5 * PASSAGES))
        return " ".join(f"{sentence}." for sentence in sentences)

    write_jsonl(
        folder / CASES_FILE,
        (
            Case.of(
                domain="legal", context=context(), decision="grant", reference=f"1. {number} counts.",
                source="synthetic", license="Apache-2.0",
            )
            for number in range(count)
        ),
    )  # fmt: skip


def open_retriever(folder: Path, dim: int) -> tuple[Retriever, CaseTexts]:
    texts = CaseTexts(open_cases(folder))
    store = folder / INDEX_FOLDER
    return Retriever(texts, method=TableEmbedder(dim), max_cases=256, store=store), texts


def build(folder: Path, dim: int) -> tuple[float, int]:
    """Seconds of indexing, and the passages."""
    retriever, texts = open_retriever(folder, dim)
    started = time.perf_counter()
    fill_index(retriever, texts)
    return time.perf_counter() - started, PASSAGES * len(texts)


def work(folder: Path, dim: int) -> dict[str, float]:
    """What a fresh worker costs after its imports."""
    started, resident, private = time.perf_counter(), resident_mb(), private_mb()
    retriever, texts = open_retriever(folder, dim)
    ids = list(texts)
    retriever.search([(ids[0], "kesela litin")], 3)
    cold, rest = time.perf_counter() - started, private_mb() - private
    for case_id in Random(1).sample(ids, min(SEARCHES, len(ids))):
        retriever.search([(case_id, "kesela litin")], 3)
    return {
        "cold_start_s": cold, "private_open_MB": rest, "resident_MB": resident_mb() - resident,
        "private_MB": private_mb() - private,
    }  # fmt: skip


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--cases", type=int, nargs="+", default=[300, 1000, 3000])
    parser.add_argument("--dim", type=int, default=768)
    options = parser.parse_args()
    rows: list[Row] = []
    for cases in options.cases:
        with tempfile.TemporaryDirectory(prefix="bench-index-") as name:
            folder = Path(name)
            write_cases(folder, cases)
            seconds, passages = build(folder, options.dim)
            stored = sum(path.stat().st_size for path in (folder / INDEX_FOLDER).rglob("*") if path.is_file())
            with get_context("spawn").Pool(1, maxtasksperchild=1) as fresh_process:
                fresh_process.apply(time.perf_counter)  # the process starts
                found = fresh_process.apply(work, (folder, options.dim))
            rows.append({"cases": cases, "passages": passages, "index_s": seconds, "store_MB": stored / 1e6, **found})
            print(rows[-1], flush=True)
    write_rows(options.out, "index_size", rows, vars(options))
    series = {key: [(row["cases"], row[key]) for row in rows] for key in ("store_MB", "resident_MB", "private_MB")}
    draw_lines(options.out / "index_size.svg", series, x="cases", y="MB")


if __name__ == "__main__":
    main()
