"""Serves the searches of a data set's cases until SIGTERM.

    RETRIEVAL_TOKEN=secret python -m retrieval.server runs/data/cases.jsonl --retriever bundled:e5-small --port 8400

Vectors come from the store that `judge-r1 index` wrote beside the first file of cases, if there is one. Other cases are
embedded by their first search. To restart without a pause,
start a second server at the same address and then send SIGTERM to the first: it refuses new searches, answers those
that wait, and ends. Clients send refused searches again.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from retrieval.errors import RetrievalError
from retrieval.retriever import Retriever
from retrieval.server.run import LOOPBACK, serve

TOKEN = "RETRIEVAL_TOKEN"


def read_texts(path: Path) -> dict[str, str]:
    """The texts of a file of cases: case id -> context. Raises RetrievalError."""
    texts: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                case = json.loads(line)
                if not isinstance(case, dict) or not all(type(case.get(key)) is str for key in ("case_id", "context")):
                    raise RetrievalError(f"{path}, line {number}: a case needs the texts case_id and context")
                texts[case["case_id"]] = case["context"]
    except OSError as error:
        raise RetrievalError(f"{path} cannot be read ({error.strerror}): give the cases.jsonl of a data set") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, RetrievalError):
            raise
        raise RetrievalError(f"{path} is not JSON Lines ({error}): give the cases.jsonl of a data set") from None
    return texts


def main(arguments: Sequence[str] | None = None) -> int:
    about, example = (__doc__ or "").split("\n\n", 1)
    parser = argparse.ArgumentParser(
        "python -m retrieval.server", description=about, epilog=example,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("cases", type=Path, nargs="+", help="cases.jsonl of a data set, and of its dev set")
    parser.add_argument("--retriever", default="bundled:e5-small", help="bm25 or an embedding model")
    parser.add_argument("--passage-words", type=int, default=100)
    parser.add_argument("--max-cases", type=int, default=4096, help="indexes in memory")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8400)
    options = parser.parse_args(arguments)
    token = os.environ.get(TOKEN) or None
    try:
        if token is None and options.host not in LOOPBACK:
            raise RetrievalError(f"--host {options.host} opens the cases to other machines: set {TOKEN} first")
        texts = {case_id: text for path in options.cases for case_id, text in read_texts(path).items()}
        retriever = Retriever(
            texts,
            method=options.retriever,
            passage_words=options.passage_words,
            max_cases=options.max_cases,
            store=options.cases[0].parent / "index",
        )
        print(f"{len(texts)} case{'s' * (len(texts) != 1)} at http://{options.host}:{options.port}", flush=True)
        serve(retriever, options.host, options.port, token)
    except (RetrievalError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
