"""`episode.retriever: http://…`: episodes search on a retrieval server, with its own passages and token."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.episode.case_retriever import (
    BM25,
    TOKEN,
    CaseSearcher,
    build_index,
    fill_index,
    new_retriever,
    searches_vectors,
)
from judge_r1.episode.chat_driver import EOS, TextTokenizer, chat_budget
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.episode.driver import search_into
from judge_r1.episode.machine import Episode
from judge_r1.episode.parsing import parse_strict
from judge_r1.episode.tags import grammar
from judge_r1.training.preflight.__main__ import embedder
from retrieval.client import RemoteRetriever
from retrieval.errors import ServerUnavailable, UnknownCase
from retrieval.retriever import Retriever
from retrieval.server.__main__ import listen, make_server

TEXTS = {case: f"{case} paid Ada in March. {case} paid Bob in April. {case} paid Eve in May." for case in ("c1", "c2")}


@contextmanager
def server(words: int) -> Iterator[str]:
    running = make_server(Retriever(TEXTS, method=BM25, passage_words=words), token="secret")
    listening = listen("127.0.0.1", 0)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not running.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        running.should_exit = True
        thread.join(60)


def config(url: str, **changes: object) -> EpisodeConfig:
    return EpisodeConfig(retriever=url, budget=Budget(passage_words=5), **changes)


def test_episodes_find_on_the_server_what_they_find_in_their_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "secret")
    with server(5) as url:
        searchers = CaseSearcher(TEXTS, config(url)), CaseSearcher(TEXTS, config(BM25))
        remote = searchers[0].retriever
        assert isinstance(remote, RemoteRetriever)
        queries = [(0, "who paid in April"), (1, "Ada"), (0, "Eve")]
        found = [each.of_cases(["c1", "c2"])(queries) for each in searchers]
        assert found[0] == found[1]
        assert {evidence.case_id for evidence in found[0][1]} == {"c2"}
        with pytest.raises(UnknownCase, match="'c3' is unknown"):
            remote.search([("c3", "Ada")], 2)
        assert embedder(url) is None
    message = embedder(url)
    assert message is not None
    assert "cannot be reached" in message


def test_a_server_with_other_passages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "secret")
    with server(7) as url, pytest.raises(ServerUnavailable, match="7 words, not 5: start it with --passage-words 5"):
        new_retriever(TEXTS, config(url)).search([("c1", "Ada")], 2)


def test_a_server_needs_no_index_here_and_no_client_without_searches(tmp_path: object) -> None:
    there = config("http://127.0.0.1:9")
    assert not searches_vectors(there)
    assert build_index(tmp_path, there) is None  # type: ignore[arg-type]
    assert fill_index(new_retriever(TEXTS, there), TEXTS) is None
    assert isinstance(new_retriever(TEXTS, config("http://127.0.0.1:9", search=False)), Retriever)


def test_a_server_cannot_be_indexed_from_here(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["index", str(tmp_path), "--retriever", "http://127.0.0.1:9"])
    assert done.exit_code == 2
    assert "http://127.0.0.1:9 is a server, which has an index of its own" in done.output


def test_searches_without_an_answer_do_not_hold_up_those_of_other_episodes() -> None:
    """More episodes wait than an event loop has threads. Of two searches one gets no answer, as from a server behind a
    balancer that has lost a replica."""
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["requests"]
            if asked[0][1] == "lost":
                ended.wait(60)
                return
            answer = json.dumps({"results": [{"case_id": case_id, "hits": []} for case_id, _ in asked]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None: ...

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

    http = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever).start()
    searcher = CaseSearcher(TEXTS, config(f"http://127.0.0.1:{http.server_port}"))
    assert isinstance(searcher.retriever, RemoteRetriever)
    searcher.retriever.timeout_s = 4.0

    def waiting(query: str) -> Episode:
        tokenizer = TextTokenizer(grammar(tools=False))
        episode = Episode((), chat_budget(Budget()), tokenizer, eos_ids=(EOS,), parse=parse_strict)
        ids = tokenizer.encode_reply(f"<search>{query}</search>")
        episode.feed(ids, [0.0] * len(ids))
        return episode

    episodes = [waiting(query) for query in ["lost", "Ada"] * 35]

    async def run() -> None:
        find = searcher.of_case("c1")
        await asyncio.gather(*(search_into(one, find, one.state.query, 4.0) for one in episodes))  # type: ignore[union-attr]

    try:
        asyncio.run(run())
    finally:
        ended.set()
        http.shutdown()
        http.server_close()
    assert [one.trajectory().ended for one in episodes] == ["infrastructure_search_timeout", "unfinished"] * 35
