"""Measures the index and the search of one long trace: `python -m scripts.bench.trace_search --tokens 2000000`.

The trace is a file of chat messages with calls of a shell, logs and sources of this repository, up to the given number
of tokens (four characters each). Prints the times to read it, to build its BM25 index and to search it, the peak memory
of each step, and what a search shows of the trace. `--read-only` reads a larger file as a stream.
"""

import argparse
import json
import random
import resource
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judge_r1.traces import read_events
from judge_r1.traces.trace import trace_text
from retrieval.retriever import Retriever

REPO = Path(__file__).parents[2]
CHARACTERS_PER_TOKEN = 4


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def messages(tokens: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Calls of a shell and their results: parts of this repository's files, and logs of tests."""
    rng = random.Random(seed)
    sources = [path.read_text(encoding="utf-8") for path in sorted(REPO.glob("*/**/*.py"))[::7]]
    yield {"role": "user", "content": "Make all tests pass."}
    written = number = 0
    while written < tokens * CHARACTERS_PER_TOKEN:
        source = rng.choice(sources)
        start = rng.randrange(len(source))
        log = "".join(f"tests/test_{rng.randrange(10**4)}.py::test_{n} PASSED in 0.{n:02} s\n" for n in range(20))
        result = rng.choice((source[start : start + rng.randrange(200, 6000)], log))
        arguments = json.dumps({"command": f"sed -n {start},{start + 80}p module_{rng.randrange(900)}.py"})
        call = {"id": f"c{number}", "type": "function", "function": {"name": "bash", "arguments": arguments}}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": f"c{number}", "content": result}
        written, number = written + len(result) + len(arguments), number + 1
    yield {"role": "assistant", "content": "All tests pass."}


def write(path: Path, tokens: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number, message in enumerate(messages(tokens)):
            file.write(("," if number else "") + json.dumps(message))
        file.write("]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tokens", type=int, default=2_000_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--read-only", action="store_true", help="read the events one by one, without an index")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        write(path, given.tokens)
        print(f"file: {path.stat().st_size / 1e6:.1f} MB, peak {peak_mb():.0f} MB")
        started = time.perf_counter()
        if given.read_only:
            count = sum(1 for _ in read_events(path))
            print(f"stream: {count} events in {time.perf_counter() - started:.1f} s, peak {peak_mb():.0f} MB")
            return
        text = trace_text(read_events(path))
        print(f"read: {time.perf_counter() - started:.1f} s, {len(text) / 1e6:.1f} MB of text, peak {peak_mb():.0f} MB")
    retriever = Retriever({"trace": text}, method="bm25")
    started = time.perf_counter()
    retriever.search([("trace", "warm up")], 3)
    print(f"index: {time.perf_counter() - started:.1f} s, peak {peak_mb():.0f} MB")
    rng = random.Random(1)
    words = ["PASSED", "module", "import", "raise", "error", "return", "def", "tests", "path", "retriever"]
    for name, prefix in (("plain", ""), ("filtered", "tool:bash "), ("range", "events 400-900 ")):
        times, shown = [], []
        for _ in range(given.queries):
            query = prefix + " ".join([*rng.sample(words, 3), f"test_{rng.randrange(10**4)}"])
            started = time.perf_counter()
            [hits] = retriever.search([("trace", query)], 3)
            times.append(1000 * (time.perf_counter() - started))
            shown.append(sum(len(hit.passage.text) for hit in hits))
        p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        print(f"search, {name}: p50 {p50:.1f} ms, p95 {p95:.1f} ms; {statistics.mean(shown):.0f} characters shown")


if __name__ == "__main__":
    main()
