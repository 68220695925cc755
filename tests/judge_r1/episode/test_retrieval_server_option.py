"""`episode.retriever: http://…`: episodes search on a retrieval server, with its own passages and token."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
from judge_r1.episode.config import Budget, EpisodeConfig
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
