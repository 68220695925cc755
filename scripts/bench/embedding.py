"""Compares the bundled E5 by OpenVINO with the same weights in sentence-transformers: passages per processor second.

    OMP_NUM_THREADS=1 python -m scripts.bench.embedding
    OMP_NUM_THREADS=1 python -m scripts.bench.embedding --passages 2000 --queries 2000 --repeats 1

Both embed the same passages of 100 words in turn. `times` is the other engine's processor time over that of OpenVINO.
`cosine` is the lowest of a passage's two vectors, `same` the share of searches with the same first three passages.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from scripts.bench.output import Row, parser_of, write_rows

WORDS, QUERY_WORDS, TOP = 100, 12, 3


def passages_of(count: int) -> tuple[list[str], list[str]]:
    """Passages of the package's own cases, and for each a query from its middle."""
    from collections import Counter

    from data_builders.sources import SOURCES

    cases = SOURCES.get("builtin").read(None, None, 0, Counter())
    words = " ".join(case.context for case in cases).split()
    starts = [number * 37 % max(1, len(words) - WORDS) for number in range(count)]
    texts = [" ".join(words[start : start + WORDS]) for start in starts]
    return texts, [" ".join(words[start + 40 : start + 40 + QUERY_WORDS]) for start in starts]


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    found = call()
    return time.process_time() - started, found


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--passages", type=int, default=200)
    parser.add_argument("--queries", type=int, default=200, help="at most the passages")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()

    import torch

    from retrieval.bundled_e5 import BUNDLED, e5_folder
    from retrieval.embedders import OpenVinoEmbedder, SentenceTransformerEmbedder, uncached

    torch.set_num_threads(1)
    texts, queries = passages_of(given.passages)
    ours = uncached(OpenVinoEmbedder(e5_folder(), BUNDLED))
    other = uncached(SentenceTransformerEmbedder(str(e5_folder()), device="cpu", name=BUNDLED))
    for embedder in (ours, other):
        embedder.encode_passages(texts[:8])
    here, there = list[float](), list[float]()
    for _ in range(given.repeats):
        took, mine = seconds(lambda: ours.encode_passages(texts))
        here.append(took)
        took, theirs = seconds(lambda: other.encode_passages(texts))
        there.append(took)
    asked = queries[: given.queries]
    found = [
        np.argsort(-(embedder.encode_queries(asked) @ vectors.T), axis=1, kind="stable")[:, :TOP]
        for embedder, vectors in ((ours, mine), (other, theirs))
    ]
    ratios = sorted(after / before for before, after in zip(here, there, strict=True))
    row: Row = {
        "passages": len(texts),
        "openvino_per_s": len(texts) / median(here),
        "sentence_transformers_per_s": len(texts) / median(there),
        "times": median(ratios), "lowest": ratios[0], "highest": ratios[-1],
        "cosine": float((mine * theirs).sum(axis=1).min()),
        "same": float((found[0] == found[1]).all(axis=1).mean()),
    }  # fmt: skip
    write_rows(given.out, "embedding", [row], vars(given))


if __name__ == "__main__":
    main()
