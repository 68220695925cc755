"""Retrieval on the GPU: E5-base's architecture with random weights, an index of 150,000 vectors, gathered queries.

python -m scripts.gpu_checks.retrieval --out runs/gpu-check
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import numpy as np

from retrieval.dense import DenseIndex
from retrieval.embedders import CACHE_BYTES, CachedEmbedder, SentenceTransformerEmbedder, VectorCache, Vectors
from retrieval.passages import Passage
from retrieval.retriever import QueryBatcher
from scripts.bench.output import Row
from scripts.gpu_checks.check import Check, main, peak_gib, reset_peak, timed

VOCABULARY = 30_522
SYLLABLES = ("ba", "ke", "li", "mo", "tu"), ("ran", "sel", "tin", "vor"), ("a", "is", "um")
WORDS = ["".join(parts) for parts in product(*SYLLABLES)]
SAME = 4


def run(check: Check) -> None:
    random = Random(0)
    texts = [" ".join(random.choices(WORDS, k=100)) for _ in range(check.size(4_096, 32))]
    folder = e5_base(check, texts)
    embedder = SentenceTransformerEmbedder(str(folder), device=check.device)
    embedder.encode_passages(texts[:64])
    embedder.cache.capacity = 0
    reset_peak(check.device)
    seconds, vectors = timed(lambda: embedder.encode_passages(texts), check.device)
    tokens = len(embedder.model.tokenizer(texts[0])["input_ids"])
    check.row(f"passages of 100 words ({tokens} tokens) embedded in float32", len(texts) / seconds, "passages/s")
    if (peak := peak_gib(check.device)) is not None:
        check.row("embedder: peak memory", peak, "GiB")
    same_vectors(check, folder, texts[:16], vectors[:16])
    for row in query_rates(embedder, queries=check.size(256, 8), threads=check.size(64, 4), repeats=check.size(3, 1)):
        check.row(f"queries {row['way']}", row["queries_per_s"], "queries/s")
    one_case(check, embedder)


def query_rates(embedder: CachedEmbedder, queries: int, threads: int, repeats: int) -> list[Row]:
    """Queries that threads embed in a second, each way the median over the repeats: one call each, gathered, and
    gathered with the cache of vectors. Every query comes four times, as in a group of episodes that ask the same;
    `hits` counts those that the cache answers. The ways take turns in every repeat."""
    batcher = QueryBatcher(embedder)
    ways: dict[str, tuple[Callable[[list[str]], Vectors], int]] = {
        "one call each": (embedder.encode_queries, 0),
        "gathered": (batcher.encode, 0),
        "gathered, cached": (batcher.encode, CACHE_BYTES),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    hits: dict[str, int] = {}
    embedder.encode_queries(["a warm-up"])
    for repeat in range(repeats):
        texts = [f"what did expert {n // SAME} say in hearing {repeat}" for n in range(queries)]
        for name, (encode, capacity) in ways.items():
            embedder.cache = VectorCache(capacity)
            started = time.perf_counter()
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(lambda text, encode=encode: encode([text]), texts))
            rates[name].append(queries / (time.perf_counter() - started))
            hits[name] = embedder.cache.hits
    return [
        {"way": name, "queries_per_s": median(found), "lowest": min(found), "highest": max(found), "hits": hits[name]}
        for name, found in rates.items()
    ]


def e5_base(check: Check, texts: list[str]) -> Path:
    """A folder with E5-base's architecture, random weights, and a tokenizer that is trained on the passages."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = check.out / "e5-base-random"
    tiny = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=VOCABULARY, **(tiny if check.small else {}))).save_pretrained(folder)
    tokenizer = BertWordPieceTokenizer()
    tokenizer.train_from_iterator(texts, vocab_size=VOCABULARY, show_progress=False)
    tokenizer.save_model(str(folder))
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=512).save_pretrained(folder)
    return folder


def same_vectors(check: Check, folder: Path, texts: list[str], found: Any) -> None:
    """The vectors equal the processor's up to rounding, so a store may be built on either."""
    expected = SentenceTransformerEmbedder(str(folder), device="cpu").encode_passages(texts)
    error = float(np.abs(found - expected).max())
    check.row("largest difference of a vector's component to the processor's", error, expected=1e-3, ok=error < 1e-3)


def one_case(check: Check, embedder: SentenceTransformerEmbedder) -> None:
    """One case of 150,000 passages: exact search, on the processor."""
    count = check.size(150_000, 500)
    vectors = np.random.default_rng(0).standard_normal((count, embedder.dim), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = DenseIndex([Passage(i, i, i + 1, "a") for i in range(count)], vectors, embedder)
    for queries in (1, 64):
        search = partial(index.search_vectors, vectors[:queries], 3)
        search()
        seconds, hits = timed(search, check.device)
        check.row(f"{queries} queries in a case of {count:,} vectors", 1000 * seconds / queries, "ms each")
        right = sum(hit[0].passage.index == row for row, hit in enumerate(hits))
        check.count("queries that find their own passage", right, queries)


if __name__ == "__main__":
    main(__doc__, "retrieval", run)
