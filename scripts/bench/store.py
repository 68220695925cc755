"""Measures what workers and starts of a run cost: memory per worker, query embedding, prompt checks, parquet size.

    python -m scripts.bench.store memory --cases 5000 --tokens 10000
    OMP_NUM_THREADS=1 python -m scripts.bench.store queries
    python -m scripts.bench.store start --pairs 500 --tokens 10000

The corpus is synthetic: sentences of random words. `memory` compares a fresh worker that loads all cases with one that
opens them by offset, after 64 searches in stored cases (BM25, and vectors without a model). `queries` embeds single
queries and one whole case with `bundled:e5-small`. `start` measures the prompt check with an empty and a filled cache,
and writes verl's file with whole prompts and with pair ids only.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from random import Random

import numpy as np

from judge_r1.core.jsonl import write_jsonl
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE, CaseTexts, PairSet, open_pairs
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span
from judge_r1.episode.case_index import INDEX_FOLDER, fill_index, shared_embedder
from judge_r1.episode.config import EpisodeConfig
from retrieval.embedders import Vectors
from retrieval.passages import split_passages
from retrieval.retriever import Retriever

SYLLABLES = ("ba", "ke", "li", "mo", "tu"), ("ran", "sel", "tin", "vor"), ("a", "is", "um")
WORDS = ["".join(parts) for parts in product(*SYLLABLES)]
SEARCHES = 64


class RandomEmbedder:
    """Vectors that depend on the length of a text only: memory and disk are as with a model, time is not."""

    name, dim = "random", 384

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.stack([np.random.default_rng(len(text)).standard_normal(self.dim) for text in texts])
        unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        return unit

    encode_queries = encode_passages


def text(random: Random, tokens: int) -> str:
    """About `tokens` tokens: three quarters as many words, in sentences of 20."""
    words = random.choices(WORDS, k=tokens * 3 // 4)
    return " ".join(" ".join(words[start : start + 20]).capitalize() + "." for start in range(0, len(words), 20))


def write_cases(folder: Path, count: int, tokens: int) -> None:
    random = Random(0)
    write_jsonl(
        folder / CASES_FILE,
        (
            Case.of(
                domain="legal",
                context=text(random, tokens),
                decision="grant",
                reference=f"1. {number} counts.",
                source="synthetic",
                license="Apache-2.0",
            )
            for number in range(count)
        ),
    )


def write_pairs(folder: Path, count: int, tokens: int) -> PairSet:
    """One pair per case, with reasonings of 500 tokens."""
    random, cases, pairs = Random(0), [], []
    for _ in range(count):
        reference = f"1. {text(random, 500)}"
        case = Case.of(
            domain="legal", context=text(random, tokens), decision="grant", reference=reference,
            source="synthetic", license="Apache-2.0",
        )  # fmt: skip
        flawed = f"{reference} This is clear to all."
        flaw = Flaw(principle=5, operator="toy", span=Span(start=len(reference), end=len(flawed)))
        origin = Origin(teacher="toy", seed=0, flaws=(flaw,))
        cases.append(case)
        pairs.append(ReasoningPair.of(case, flawed, variant=1, origin=origin, seed=0))
    write_jsonl(folder / CASES_FILE, cases)
    write_jsonl(folder / PAIRS_FILE, pairs)
    return open_pairs(folder)


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def private_mb() -> float:
    """Memory of this process that it shares with no other: mapped files are left out."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty")) / 1e3


def worker(folder: Path, how: str) -> tuple[float, float, float]:
    """Seconds, resident MB and private MB that a fresh worker adds."""
    began, before, private = time.perf_counter(), resident_mb(), private_mb()
    if how == "before":
        from judge_r1.core.jsonl import read_jsonl

        texts: object = {case.case_id: case.context for case in read_jsonl(folder / CASES_FILE, Case)}
        store = None
    else:
        from judge_r1.core.jsonl import offsets_by_id
        from judge_r1.core.pair_set import StoredCases

        path = folder / CASES_FILE
        texts, store = CaseTexts(StoredCases(path, offsets_by_id(path, "case_id"))), folder / INDEX_FOLDER
    assert isinstance(texts, dict | CaseTexts)
    method = RandomEmbedder()
    retriever = Retriever(texts, method=method, max_cases=256 if store else 4096, store=store)
    for case_id in list(texts)[:SEARCHES]:
        retriever.search([(case_id, "kesela litin")], 3)
    return time.perf_counter() - began, resident_mb() - before, private_mb() - private


def memory(cases: int, tokens: int, folder: Path) -> None:
    write_cases(folder, cases, tokens)
    size = (folder / CASES_FILE).stat().st_size / 1e6
    from judge_r1.core.pair_set import open_cases

    texts = CaseTexts(open_cases(folder))
    began = time.perf_counter()
    retriever = Retriever(texts, method=RandomEmbedder(), store=folder / INDEX_FOLDER)
    fill_index(retriever, texts)
    stored = sum(path.stat().st_size for path in (folder / INDEX_FOLDER).rglob("*") if path.is_file()) / 1e6
    print(f"{cases} cases of {tokens} tokens: cases.jsonl {size:.0f} MB, store {stored:.0f} MB")
    print(f"writing the store without a model: {time.perf_counter() - began:.1f} s")
    began = time.perf_counter()
    fill_index(Retriever(texts, method=RandomEmbedder(), store=folder / INDEX_FOLDER), texts)
    print(f"finding it complete at the next start: {time.perf_counter() - began:.1f} s")
    for how in ("before", "after"):
        with get_context("spawn").Pool(1) as fresh:
            seconds, resident, private = fresh.apply(worker, (folder, how))
        print(f"worker {how}: {resident:.0f} MB resident, {private:.0f} MB of its own, {seconds:.1f} s", flush=True)


def queries(tokens: int) -> None:
    import torch

    embedder = shared_embedder("bundled:e5-small", "cpu")
    random = Random(0)
    embedder.encode_queries(["warm up"])
    seconds = []
    for number in range(50):
        began = time.perf_counter()
        embedder.encode_queries([f"{number} {text(random, 12)}"])
        seconds.append(1000 * (time.perf_counter() - began))
    low, middle, high = (f"{value:.0f}" for value in (min(seconds), statistics.median(seconds), max(seconds)))
    print(f"{torch.get_num_threads()} thread(s): a query takes {middle} ms (median of 50; {low} to {high})")
    many = [f"{number} {text(random, 12)}" for number in range(16)]
    began = time.perf_counter()
    embedder.encode_queries(many)
    print(f"16 queries together take {1000 * (time.perf_counter() - began):.0f} ms")
    passages = [passage.text for passage in split_passages(text(random, tokens))]
    began = time.perf_counter()
    embedder.encode_passages(passages)
    print(f"a case of {tokens} tokens ({len(passages)} passages) takes {time.perf_counter() - began:.1f} s")


def cpu_seconds() -> float:
    """CPU seconds of this process and of its processes that have ended."""
    return sum(os.times()[:4])


def start(pairs: int, tokens: int, folder: Path, model: str) -> None:
    from judge_r1.episode.rollout import check_prompts
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.models.hub import load_tokenizer
    from judge_r1.training.verl.dataset import ParquetRows, parquet_row, write_parquet

    data = write_pairs(folder, pairs, tokens)
    count = len(data.pairs)
    config = EpisodeConfig(retriever="bm25", prompt_tokens=10**6)
    tokenizer = SafeTokenizer(load_tokenizer(model))
    os.environ["JUDGE_R1_CACHE"] = str(folder / "cache")
    began = cpu_seconds()
    open_pairs(folder)
    print(f"{count} pairs: checking the data folder takes {cpu_seconds() - began:.1f} CPU seconds")
    for state in ("empty", "filled"):
        began = cpu_seconds()
        check_prompts(data, config, tokenizer, None)
        seconds = cpu_seconds() - began
        print(f"prompts, {state} cache: {seconds:.1f} CPU seconds; {seconds / count * 21_000:.0f} for 21,000 pairs")
    with ParquetRows(folder / "whole.parquet") as file:
        for index, pair in enumerate(data.pairs):
            file.write(parquet_row(pair, data.case_of(pair), config, index=index))
    write_parquet(data.pairs, folder / "ids.parquet")
    for name in ("whole", "ids"):
        size = (folder / f"{name}.parquet").stat().st_size
        print(f"parquet with {name}: {size / 1e6:.2f} MB; {size / count * 21_000 / 1e6:.0f} MB for 21,000 pairs")


def main() -> None:
    about, example = (__doc__ or "").split("\n\n", 1)
    parser = argparse.ArgumentParser(
        description=about, epilog=example, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["memory", "queries", "start"])
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--tokens", type=int, default=10_000, help="tokens per case")
    parser.add_argument("--model", default="bundled:tiny", help="model whose tokenizer `start` uses")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-store-") as folder:
        if options.what == "memory":
            memory(options.cases, options.tokens, Path(folder))
        elif options.what == "queries":
            queries(options.tokens)
        else:
            start(options.pairs, options.tokens, Path(folder), options.model)


if __name__ == "__main__":
    main()
