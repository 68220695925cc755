"""Query embedding by concurrent episodes: one call each, gathered, and gathered with the cache of vectors.

    OMP_NUM_THREADS=1 python -m scripts.bench.gatherer
    OMP_NUM_THREADS=1 python -m scripts.bench.gatherer --model intfloat/e5-base-v2 --queries 128

Threads send one query at a time, like episodes. Every query comes four times, as in a group of episodes that ask the
same; `hits` counts those that the cache answers. The ways take turns in every repeat.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from retrieval.embedders import CACHE_BYTES, SentenceTransformerEmbedder, VectorCache, Vectors, load_embedder
from retrieval.query_batcher import QueryBatcher
from scripts.bench.output import Row, draw_bars, parser_of, write_rows

SAME = 4


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--model", default="bundled:e5-small")
    parser.add_argument("--queries", type=int, default=64)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    embedder = load_embedder(options.model)
    assert isinstance(embedder, SentenceTransformerEmbedder)
    rows = measure(embedder, options.queries, options.threads, options.repeats)
    write_rows(options.out, "gatherer", rows, vars(options))
    draw_bars(options.out / "gatherer.svg", {row["way"]: row["queries_per_s"] for row in rows}, x="queries per second")


def measure(embedder: SentenceTransformerEmbedder, queries: int, threads: int, repeats: int) -> list[Row]:
    """Queries per second of each way, median over the repeats."""
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


if __name__ == "__main__":
    main()
