"""Serves the searches of a data set's cases until SIGTERM.

    RETRIEVAL_TOKEN=secret python -m retrieval.server runs/data/cases.jsonl --retriever bundled:e5-small --port 8400

Vectors come from the store that `judge-r1 index` wrote beside the first file of cases, if there is one. Other cases are
embedded by their first search. To restart without a pause,
start a second server at the same address and then send SIGTERM to the first: it refuses new searches, answers those
that wait, and ends. Clients send refused searches again.
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import uvicorn

from retrieval.errors import RetrievalError
from retrieval.retriever import Retriever
from retrieval.server.app import create_app
from retrieval.server.queue import QueueLimits, Searcher, SearchQueue
from retrieval.signals import signal_handlers

TOKEN = "RETRIEVAL_TOKEN"


LOOPBACK = ("127.0.0.1", "localhost", "::1")
REFUSE_S = 0.2
"""Seconds that a closing server refuses new searches at least, instead of resetting their connections."""
DRAIN_S = 30


class RetrievalServer(uvicorn.Server):
    """A server that answers the searches that wait before it stops."""

    def __init__(self, config: uvicorn.Config, queue: SearchQueue) -> None:
        super().__init__(config)
        self.queue = queue

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listening in self.servers:
            listening.close()  # connections that come now reach the server that was started meanwhile
        # `wait` instead of `wait_for`: after the timeout the searches that run are not cancelled.
        await asyncio.wait([asyncio.ensure_future(self.queue.close())], timeout=DRAIN_S)
        await asyncio.sleep(REFUSE_S)
        await super().shutdown(sockets)


def make_server(
    retriever: Searcher, *, token: str | None = None, limits: QueueLimits | None = None, **options: Any
) -> RetrievalServer:
    """A server that `serve` or a test runs; `options` are those of `uvicorn.Config`."""
    queue = SearchQueue(retriever, limits)
    config = uvicorn.Config(
        create_app(queue, token),
        log_level="warning",
        access_log=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=DRAIN_S,
        **options,
    )
    return RetrievalServer(config, queue)


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address that another server may have, too: so a server is replaced without a pause."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "SO_REUSEPORT"):
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listening.bind((host, port))
    except OSError:
        listening.close()
        raise
    return listening


def serve(retriever: Searcher, host: str, port: int, token: str | None = None) -> None:
    """Serves until SIGTERM or SIGINT, then answers the searches that wait."""
    server = make_server(retriever, token=token)
    # uvicorn raises the signal again after shutdown; that must not kill a process that stopped in order
    with signal_handlers(lambda *_: None, signal.SIGTERM, signal.SIGINT):
        server.run(sockets=[listen(host, port)])


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
