"""One rollout turn of 320 searches: gathered in process, in one batched HTTP call, and in 320 HTTP calls.

    OMP_NUM_THREADS=1 python -m scripts.bench.search_turn
    OMP_NUM_THREADS=1 python -m scripts.bench.search_turn --searches 64 --cases 8 --repeats 3

The searches of a step go to few cases: 320 searches are 64 episodes in each of 5 cases by default. All ways search the
same passages with queries whose vectors are known, so that embedding is left out; they take turns in every repeat. The
HTTP ways use a server in another process (`retrieval.server`), keep-alive and `RemoteRetriever`; the 320 calls are made
one after the other. Results are checked to be equal.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from retrieval.case_index import Hit
from retrieval.client import RemoteRetriever
from retrieval.retriever import Retriever
from scripts.bench.output import Row, draw_bars, parser_of, write_rows
from scripts.bench.serve import free_port
from scripts.bench.soak_cases import QUERIES, WordEmbedder, text_of

K = 3


def retriever_of(cases: int) -> Retriever:
    return Retriever({f"case-{n}": text_of(f"case-{n}") for n in range(cases)}, method=WordEmbedder(), passage_words=12)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--searches", type=int, default=320)
    parser.add_argument("--cases", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--serve", type=int, help="internal: the port of the server")
    options = parser.parse_args()
    if options.serve:
        from retrieval.server.run import serve

        serve(retriever_of(options.cases), "127.0.0.1", options.serve)
        return
    requests = [(f"case-{n % options.cases}", QUERIES[n % len(QUERIES)]) for n in range(options.searches)]
    port = free_port()
    command = [sys.executable, "-m", "scripts.bench.search_turn", "--serve", str(port), "--cases", str(options.cases)]
    server = subprocess.Popen(command, cwd=Path(__file__).parents[2])
    local, remote = retriever_of(options.cases), RemoteRetriever(f"http://127.0.0.1:{port}")

    def one_by_one(pairs: Sequence[tuple[str, str]]) -> list[list[Hit]]:
        return [remote.search([pair], K)[0] for pair in pairs]

    ways: dict[str, Callable[[], list[list[Hit]]]] = {
        "gathered in process": lambda: local.search(requests, K),
        "one HTTP call": lambda: remote.search(requests, K),
        f"{options.searches} HTTP calls": lambda: one_by_one(requests),
    }
    try:
        results = [way() for way in ways.values()]  # a warm-up
        assert results[0] == results[1] == results[2]
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(options.repeats):
            for name, way in ways.items():
                started = time.perf_counter()
                way()
                times[name].append(1000 * (time.perf_counter() - started))
    finally:
        server.terminate()
        server.wait(60)
    first = median(times["gathered in process"])
    rows: list[Row] = [
        {
            "way": name, "ms": median(spent), "lowest": min(spent), "highest": max(spent),
            "times_gathered": median(spent) / first,
        }
        for name, spent in times.items()
    ]  # fmt: skip
    write_rows(options.out, "search_turn", rows, vars(options))
    draw_bars(options.out / "search_turn.svg", {row["way"]: row["ms"] for row in rows}, x="ms for one turn")


if __name__ == "__main__":
    main()
