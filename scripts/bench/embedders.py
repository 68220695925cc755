"""Compares the bundled E5 by OpenVINO with sentence-transformers in float32: the same passages found, and the time.

    OMP_NUM_THREADS=1 python -m scripts.bench.embedders runs/demo/data/test

Each search is a query in one of the cases of a folder: words in a row of the case, drawn at random. `same_first_3` is
the share of searches that find the same three passages in the same order; `same_3` ignores the order.
"""

import time
from pathlib import Path
from random import Random

import numpy as np

from judge_r1.files.pair_set import open_cases
from retrieval.bundled_e5 import BUNDLED, e5_folder
from retrieval.embedders import Embedder, OpenVinoEmbedder, SentenceTransformerEmbedder, Vectors
from retrieval.passages import split_passages
from scripts.bench.output import Row, parser_of, write_rows

WORDS = (4, 12)
"""The shortest and the longest query, in words."""


def embedded(embedder: Embedder, passages: list[str], queries: list[str]) -> tuple[Vectors, Vectors, Row]:
    """Both vectors, and the processor seconds."""
    started = time.process_time()
    of_passages = embedder.encode_passages(passages)
    between = time.process_time()
    of_queries = embedder.encode_queries(queries)
    rates = len(passages) / (between - started), len(queries) / (time.process_time() - between)
    return of_passages, of_queries, {"passages_per_s": rates[0], "queries_per_s": rates[1]}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("folder", type=Path, help="a folder with cases.jsonl")
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--searches", type=int, default=2000)
    options = parser.parse_args()
    rng, passages, queries = Random(0), list[str](), list[str]()
    spans, case_of = list[slice](), list[int]()
    texts = [case.context for case in open_cases(options.folder).values()][: options.cases]
    for text in texts:
        own = [passage.text for passage in split_passages(text)]
        spans.append(slice(len(passages), len(passages) + len(own)))
        passages += own
    for number in range(options.searches):
        words = texts[number % len(texts)].split()
        count = rng.randint(*WORDS)
        start = rng.randrange(max(1, len(words) - count))
        queries.append(" ".join(words[start : start + count]))
        case_of.append(number % len(texts))
    sides: dict[str, Embedder] = {
        "openvino": OpenVinoEmbedder(e5_folder(), BUNDLED),
        "sentence-transformers, float32": SentenceTransformerEmbedder(str(e5_folder()), device="cpu", name=BUNDLED),
    }
    found, rows = list[list[list[int]]](), list[Row]()
    for name, embedder in sides.items():
        of_passages, of_queries, row = embedded(embedder, passages, queries)
        scores = [of_passages[spans[case]] @ query for case, query in zip(case_of, of_queries, strict=True)]
        found.append([np.argsort(-one, kind="stable")[:3].tolist() for one in scores])
        rows.append({"embedder": name, "passages": len(passages), "searches": len(queries), **row})
    both = list(zip(*found, strict=True))
    rows[0]["same_first_3"] = sum(one == other for one, other in both) / len(both)
    rows[0]["same_3"] = sum(set(one) == set(other) for one, other in both) / len(both)
    write_rows(options.out, "embedders", rows, vars(options))


if __name__ == "__main__":
    main()
