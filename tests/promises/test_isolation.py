"""Promise 1: no passage of another case can reach an episode, whatever the ids, concurrency or failures.

Every case's text is made of words that no other case has, so a passage tells where it comes from.
"""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from toy_embedder import ToyEmbedder

from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.episode.rollout import case_search, new_retriever
from retrieval.case_index import Hit
from retrieval.embedders import Embedder
from retrieval.errors import BadVectors, RetrievalError, UnknownCase
from retrieval.retriever import Retriever

# Ids that look alike, contain each other, or look like something else: spaces, prefixes, Unicode twins, paths, nothing.
TWINS = ["", " ", "a", "A", "a ", "aa", "a\x00", "é", "e\u0301", "../a", "a/b", "1", "01", "None", "bm25", "*", "%"]
IDS = st.lists(st.sampled_from(TWINS) | st.text(max_size=4), min_size=2, max_size=8, unique=True)
METHODS: list[Callable[[], str | Embedder]] = [lambda: "bm25", ToyEmbedder, lambda: ToyEmbedder(dim=2)]


def texts_of(ids: Sequence[str]) -> dict[str, str]:
    return {case_id: " ".join(f"fact shared own{n}x{i} ." for i in range(6)) for n, case_id in enumerate(ids)}


def owners(hits: Sequence[Hit]) -> set[int]:
    """The positions of the cases whose words stand in the passages."""
    return {int(word[3:].split("x")[0]) for hit in hits for word in hit.passage.text.split() if word.startswith("own")}


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=50)
@given(ids=IDS, max_cases=st.integers(1, 4), k=st.integers(1, 9), data=st.data())
def test_hits_are_the_case_s_own(
    method: Callable[[], str | Embedder], ids: list[str], max_cases: int, k: int, data: st.DataObject
) -> None:
    """Also where the query asks for another case's very words, and every case is asked the same."""
    texts = texts_of(ids)
    retriever = Retriever(texts, method=method(), passage_words=4, max_cases=max_cases)
    queries = st.sampled_from(["fact", *(f"own{n}x0" for n in range(len(ids))), *texts.values()])
    for _ in range(2):
        requests = data.draw(st.lists(st.tuples(st.sampled_from(ids), queries), max_size=10))
        same = data.draw(queries)
        requests += [(case_id, same) for case_id in ids]
        answers = retriever.search(requests, k)
        assert [owners(hits) for hits in answers] == [{ids.index(case_id)} for case_id, _ in requests]
        for (case_id, _), hits in zip(requests, answers, strict=True):
            assert len(hits) == min(k, 6)
            assert all(texts[case_id][hit.passage.start : hit.passage.end] == hit.passage.text for hit in hits)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=50)
@given(ids=IDS, stranger=st.sampled_from(TWINS) | st.text(max_size=4))
def test_an_unknown_id_finds_nothing_and_spoils_nothing(
    method: Callable[[], str | Embedder], ids: list[str], stranger: str
) -> None:
    texts = texts_of(ids)
    if stranger in texts:
        del texts[stranger]
    retriever = Retriever(texts, method=method(), passage_words=4)
    known = next(iter(texts))
    for requests in ([(stranger, "fact")], [(known, "fact"), (stranger, "fact")]):
        with pytest.raises(UnknownCase, match="is not known"):
            retriever.search(requests, 3)
    assert owners(retriever.search([(known, "fact")], 9)[0]) == {ids.index(known)}


@pytest.mark.parametrize("method", METHODS)
def test_concurrent_requests_do_not_mix(method: Callable[[], str | Embedder]) -> None:
    """Eight threads, one query text, indexes evicted all the time, a failing request among every few."""
    ids = [f"case-{n}" for n in range(30)]
    retriever = Retriever(texts_of(ids), method=method(), passage_words=4, max_cases=4)

    def ask(turn: int) -> tuple[list[str], list[set[int]] | None]:
        chosen = [ids[turn * step % 30] for step in (1, 7, 11)]
        if turn % 5 == 0:
            chosen[1] = "nobody"
        try:
            return chosen, [
                owners(hits) for hits in retriever.search([(case_id, "fact shared") for case_id in chosen], 3)
            ]
        except UnknownCase:
            return chosen, None

    with ThreadPoolExecutor(8) as pool:
        for chosen, found in pool.map(ask, range(400)):
            assert found == (None if "nobody" in chosen else [{ids.index(case_id)} for case_id in chosen])


class Failing(ToyEmbedder):
    """Fails in the given way at the chosen calls (counted from 0 over both methods)."""

    def __init__(self, way: str, at: frozenset[int]) -> None:
        super().__init__()
        self.way, self.at, self.calls = way, at, -1

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        vectors = super()._encode(texts)
        if self.calls not in self.at:
            return vectors
        if self.way == "raises":
            raise RuntimeError("the device is gone")
        return {"rows lost": vectors[:-1], "one row more": np.concatenate([vectors, vectors[:1]]),
                "columns lost": vectors[:, :-1], "not finite": vectors * np.nan}[self.way]  # fmt: skip


@pytest.mark.parametrize("way", ["raises", "rows lost", "one row more", "columns lost", "not finite"])
@settings(max_examples=30)
@given(ids=IDS, at=st.frozensets(st.integers(0, 7), min_size=1), data=st.data())
def test_a_failing_embedder_leaves_no_half_built_index(
    way: str, ids: list[str], at: frozenset[int], data: st.DataObject
) -> None:
    """After any failures the same retriever answers exactly as one that never failed."""
    texts = texts_of(ids)
    retriever = Retriever(texts, method=Failing(way, at), passage_words=4, max_cases=3)
    sound = Retriever(texts, method=ToyEmbedder(), passage_words=4)
    request = st.tuples(st.sampled_from(ids), st.sampled_from(["fact", "own0x1", "own1x2 shared"]))
    failures = 0
    for _ in range(12):
        requests = data.draw(st.lists(request, min_size=1, max_size=6))
        try:
            answers = retriever.search(requests, 4)
        except (RuntimeError, BadVectors):
            failures += 1
            continue
        assert answers == sound.search(requests, 4)
        assert [owners(hits) for hits in answers] == [{ids.index(case_id)} for case_id, _ in requests]
    assert failures == len(at)


def test_a_failing_text_source_leaves_no_index_of_the_call() -> None:
    texts = texts_of(["a", "b"])
    broken = {"b"}

    def text_of(case_id: str) -> str:
        if case_id in broken:
            raise OSError("the disk is gone")
        return texts[case_id]

    embedder = ToyEmbedder()
    retriever = Retriever(text_of, method=embedder, passage_words=4)
    with pytest.raises(OSError, match="the disk is gone"):
        retriever.search([("a", "fact"), ("b", "fact")], 3)
    assert embedder.passage_calls == []
    broken.clear()
    assert [owners(hits) for hits in retriever.search([("a", "fact"), ("b", "fact")], 3)] == [{0}, {1}]


def test_there_is_no_global_search() -> None:
    retriever = Retriever(texts_of(["a", "b"]), method="bm25")
    assert [name for name in dir(retriever) if not name.startswith("_") and callable(getattr(retriever, name))] == [
        "search"
    ]
    for missing in (None, "*", ("a", "b")):
        with pytest.raises(RetrievalError):
            retriever.search([(missing, "fact")], 3)  # type: ignore[list-item]


@pytest.mark.parametrize("subset", ["surge:content:search", "wp_bench:search", "ma:search", "verify_bench_hard:search"])
def test_texts_of_a_benchmark_reach_the_games_that_show_them_alone(
    subset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LongJudgeBench's outputs stand in a case for each query and order; asked for all words, it gives its own."""
    from longjudgebench_factories import toy_checkout

    suite = BENCHMARKS.get("longjudgebench").load(toy_checkout(tmp_path), subset)
    asks, others = suite.requests(), " ".join(suite.texts.values())
    retriever = new_retriever(suite.texts, EpisodeConfig(retriever="bm25"))
    assert len({ask.case_id for ask in asks}) == len(asks) > 1
    for ask in asks:
        assert ask.case_id is not None
        assert ask.case_id.startswith(f"{ask.item.item_id}/")
        found = case_search(retriever, ask.case_id, others, 99)
        assert found
        text = suite.texts[ask.case_id]
        assert all((e.case_id, e.text) == (ask.case_id, text[e.start : e.end]) for e in found)


def test_a_context_reaches_the_pairs_that_are_about_it_alone(tmp_path: Path) -> None:
    texts = texts_of(["a", "b", "c"])
    lines = [
        {"question": "q", "context": text, "positive_response": "p", "negative_response": "n"}
        for text in texts.values()
    ]
    (tmp_path / "conciseness_qa.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    suite = BENCHMARKS.get("contextualjudgebench").load(tmp_path, "conciseness_qa")
    retriever = new_retriever(suite.texts, EpisodeConfig(retriever="bm25", budget=Budget(passage_words=4)))
    for ask in suite.requests():
        own = int(ask.item.item_id.rpartition("/")[2])
        found = case_search(retriever, ask.case_id or "", " ".join(texts.values()), 99)
        words = {word[3] for e in found for word in e.text.split() if word.startswith("own")}
        assert words == {str(own)}
