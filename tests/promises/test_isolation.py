"""Promise 1: no passage of another case can reach an episode, whatever the ids, concurrency or failures.

Every case's text is made of words that no other case has, so a passage tells where it comes from.
"""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hash_embedder import HashEmbedder
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import ReasoningPair, Trajectory, Turn
from judge_r1.core.verdicts import Evidence
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.judges.request import JudgeRequest
from retrieval.case_index import Hit
from retrieval.embedders import Embedder
from retrieval.errors import BadVectors, RetrievalError, UnknownCase
from retrieval.retriever import Retriever
from retrieval.store import VectorStore, fill_store

# Ids that are easy to confuse: spaces, prefixes, Unicode variants, paths, the empty string.
SIMILAR = ["", " ", "a", "A", "a ", "aa", "a\x00", "é", "e\u0301", "../a", "a/b", "1", "01", "None", "bm25", "*", "%"]
IDS = st.lists(st.sampled_from(SIMILAR) | st.text(max_size=4), min_size=2, max_size=8, unique=True)
METHODS: list[Callable[[], str | Embedder]] = [lambda: "bm25", HashEmbedder, lambda: HashEmbedder(dim=2)]


def texts_of(ids: Sequence[str]) -> dict[str, str]:
    return {case_id: " ".join(f"fact shared own{n}x{i} ." for i in range(6)) for n, case_id in enumerate(ids)}


def case_numbers(hits: Sequence[Hit]) -> set[int]:
    """The numbers of the cases whose words occur in the passages."""
    return {int(word[3:].split("x")[0]) for hit in hits for word in hit.passage.text.split() if word.startswith("own")}


@pytest.mark.parametrize("method", METHODS)
@given(ids=IDS, max_cases=st.integers(1, 4), k=st.integers(1, 9), data=st.data())
def test_hits_belong_to_the_requested_case(
    method: Callable[[], str | Embedder], ids: list[str], max_cases: int, k: int, data: st.DataObject
) -> None:
    """Also if the query has the words of another case, and if every case gets the same query."""
    texts = texts_of(ids)
    retriever = Retriever(texts, method=method(), passage_words=4, max_cases=max_cases)
    queries = st.sampled_from(["fact", *(f"own{n}x0" for n in range(len(ids))), *texts.values()])
    for _ in range(2):
        requests = data.draw(st.lists(st.tuples(st.sampled_from(ids), queries), max_size=10))
        same = data.draw(queries)
        requests += [(case_id, same) for case_id in ids]
        answers = retriever.search(requests, k)
        for (case_id, query), hits in zip(requests, answers, strict=True):
            nothing = method() == "bm25" and not set(query.split()) & set(texts[case_id].split())
            assert case_numbers(hits) == (set() if nothing else {ids.index(case_id)})
            assert len(hits) == (0 if nothing else min(k, 6))
            assert all(texts[case_id][hit.passage.start : hit.passage.end] == hit.passage.text for hit in hits)


@pytest.mark.parametrize("method", METHODS)
@given(ids=IDS, unknown=st.sampled_from(SIMILAR) | st.text(max_size=4))
def test_an_unknown_id_is_an_error_and_changes_nothing(
    method: Callable[[], str | Embedder], ids: list[str], unknown: str
) -> None:
    texts = texts_of(ids)
    if unknown in texts:
        del texts[unknown]
    retriever = Retriever(texts, method=method(), passage_words=4)
    known = next(iter(texts))
    for requests in ([(unknown, "fact")], [(known, "fact"), (unknown, "fact")]):
        with pytest.raises(UnknownCase, match="is unknown"):
            retriever.search(requests, 3)
    assert case_numbers(retriever.search([(known, "fact")], 9)[0]) == {ids.index(known)}


@pytest.mark.parametrize("method", METHODS)
def test_concurrent_requests_do_not_mix(method: Callable[[], str | Embedder]) -> None:
    """Eight threads, one query text, constant eviction of indexes, and a failing request in every five."""
    ids = [f"case-{n}" for n in range(30)]
    retriever = Retriever(texts_of(ids), method=method(), passage_words=4, max_cases=4)

    def search(number: int) -> tuple[list[str], list[set[int]] | None]:
        chosen = [ids[number * step % 30] for step in (1, 7, 11)]
        if number % 5 == 0:
            chosen[1] = "unknown"
        try:
            return chosen, [
                case_numbers(hits) for hits in retriever.search([(case_id, "fact shared") for case_id in chosen], 3)
            ]
        except UnknownCase:
            return chosen, None

    with ThreadPoolExecutor(8) as pool:
        for chosen, numbers in pool.map(search, range(400)):
            assert numbers == (None if "unknown" in chosen else [{ids.index(case_id)} for case_id in chosen])


class FailingEmbedder(HashEmbedder):
    """Fails with the given failure at the chosen calls (counted from 0 over both methods)."""

    def __init__(self, failure: str, at: frozenset[int]) -> None:
        super().__init__()
        self.failure, self.at, self.calls = failure, at, -1

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        vectors = super()._encode(texts)
        if self.calls not in self.at:
            return vectors
        if self.failure == "raises":
            raise RuntimeError("the device is gone")
        return {"missing row": vectors[:-1], "extra row": np.concatenate([vectors, vectors[:1]]),
                "missing column": vectors[:, :-1], "not finite": vectors * np.nan}[self.failure]  # fmt: skip


@pytest.mark.parametrize("failure", ["raises", "missing row", "extra row", "missing column", "not finite"])
@settings(max_examples=30)
@given(ids=IDS, at=st.frozensets(st.integers(0, 7), min_size=1), data=st.data())
def test_a_failing_embedder_leaves_no_half_built_index(
    failure: str, ids: list[str], at: frozenset[int], data: st.DataObject
) -> None:
    """After any failures the same retriever answers exactly as one that never failed."""
    texts = texts_of(ids)
    retriever = Retriever(texts, method=FailingEmbedder(failure, at), passage_words=4, max_cases=3)
    reference = Retriever(texts, method=HashEmbedder(), passage_words=4)
    request = st.tuples(st.sampled_from(ids), st.sampled_from(["fact", "own0x1", "own1x2 shared"]))
    failures = 0
    for _ in range(12):
        requests = data.draw(st.lists(request, min_size=1, max_size=6))
        try:
            answers = retriever.search(requests, 4)
        except (RuntimeError, BadVectors):
            failures += 1
            continue
        assert answers == reference.search(requests, 4)
        assert [case_numbers(hits) for hits in answers] == [{ids.index(case_id)} for case_id, _ in requests]
    assert failures == len(at)


def test_a_failing_text_source_leaves_no_index() -> None:
    texts = texts_of(["a", "b"])
    broken = {"b"}

    def text_of(case_id: str) -> str:
        if case_id in broken:
            raise OSError("the disk is gone")
        return texts[case_id]

    embedder = HashEmbedder()
    retriever = Retriever(text_of, method=embedder, passage_words=4)
    with pytest.raises(OSError, match="the disk is gone"):
        retriever.search([("a", "fact"), ("b", "fact")], 3)
    assert embedder.passage_calls == []
    broken.clear()
    assert [case_numbers(hits) for hits in retriever.search([("a", "fact"), ("b", "fact")], 3)] == [{0}, {1}]


def test_there_is_no_global_search() -> None:
    retriever = Retriever(texts_of(["a", "b"]), method="bm25")
    assert [name for name in dir(retriever) if not name.startswith("_") and callable(getattr(retriever, name))] == [
        "search"
    ]
    for missing in (None, "*", ("a", "b")):
        with pytest.raises(RetrievalError):
            retriever.search([(missing, "fact")], 3)  # type: ignore[list-item]


@pytest.mark.parametrize(
    "subset",
    ["surge,dimensions=content,search=true", "wp_bench,search=true", "ma,search=true", "verify_bench_hard,search=true"],
)
def test_texts_of_a_benchmark_reach_only_the_requests_that_show_them(
    subset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LongJudgeBench has a case for each query and order. A search for all words finds only texts of that case."""
    from longjudgebench_factories import synthetic_checkout

    benchmark = BENCHMARKS.get("longjudgebench").load(synthetic_checkout(tmp_path), subset)
    requests, others = benchmark.requests(), " ".join(benchmark.texts.values())
    searcher = CaseSearcher(benchmark.texts, EpisodeConfig(retriever="bm25"))
    assert len({request.case_id for request in requests}) == len(requests) > 1
    for request in requests:
        assert request.case_id is not None
        assert request.case_id.startswith(f"{request.item.item_id}/")
        passages = searcher.search([(request.case_id, others)], 99)[0]
        assert passages
        text = benchmark.texts[request.case_id]
        assert all((e.case_id, e.text) == (request.case_id, text[e.start : e.end]) for e in passages)


def test_the_results_of_a_judge_that_shows_another_case_count_for_the_labelled_baseline_alone(tmp_path: Path) -> None:
    """The settings of `search-r1` say `index: global`. Its passages of other cases are no evidence hits."""
    from analysis_factories import answer, evaluate_judges

    def foreign(pair: ReasoningPair, request: JudgeRequest) -> Trajectory:
        other = Evidence(case_id="another", start=0, end=4, text="text", score=1.0)
        found = answer("A>B")
        shown = Turn(text="<search>fee</search>", query="fee", passages=(other,))
        return found.model_copy(update={"turns": (shown, *found.turns)})

    with pytest.raises(JudgeError, match="shows a passage of case another: its retriever is not isolated"):
        evaluate_judges(tmp_path / "one", {"agentic": foreign}, settings={"index": "case"})
    [row] = evaluate_judges(tmp_path / "two", {"search-r1": foreign}, settings={"index": "global"})
    assert not any(result.labels and result.labels.evidence_hit for result in row.results.items)


def test_a_context_reaches_only_its_own_pair(tmp_path: Path) -> None:
    texts = texts_of(["a", "b", "c"])
    lines = [
        {"question": "q", "context": text, "positive_response": "p", "negative_response": "n"}
        for text in texts.values()
    ]
    (tmp_path / "conciseness_qa.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    benchmark = BENCHMARKS.get("contextualjudgebench").load(tmp_path, "conciseness_qa")
    searcher = CaseSearcher(benchmark.texts, EpisodeConfig(retriever="bm25", budget=Budget(passage_words=4)))
    for request in benchmark.requests():
        number = int(request.item.item_id.rpartition("/")[2])
        passages = searcher.search([(request.case_id or "", " ".join(texts.values()))], 99)[0]
        words = {word[3] for e in passages for word in e.text.split() if word.startswith("own")}
        assert words == {str(number)}


@settings(max_examples=20)
@given(ids=IDS, data=st.data())
def test_a_damaged_or_foreign_store_changes_no_result(
    ids: list[str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A shard is replaced by one of other cases, or its vectors are shifted by a row, so that others' come first."""
    folder, texts, embedder = tmp_path_factory.mktemp("store"), texts_of(ids), HashEmbedder()
    store = VectorStore(folder / "own", embedder, 4)
    fill_store(store, texts, ids)
    other = {case_id: f"strange {text}" for case_id, text in texts.items()}
    foreign = VectorStore(folder / "other", embedder, 4)
    fill_store(foreign, other, ids)
    for path in store.folder.glob("*.vectors"):
        content, row = path.read_bytes(), 4 * embedder.dim
        start = 16 + int.from_bytes(content[8:16], "little")
        shifted = content[:start] + content[start + row :] + content[start : start + row]
        foreign_shard = next(foreign.folder.glob("*.vectors")).read_bytes()
        path.write_bytes(data.draw(st.sampled_from([shifted, foreign_shard])))
    requests = [(case_id, query) for case_id in ids for query in ("fact", "own1x2 shared")]
    stored = Retriever(texts, method=embedder, passage_words=4, store=folder / "own").search(requests, 3)
    assert stored == Retriever(texts, method=embedder, passage_words=4).search(requests, 3)
    assert [case_numbers(hits) for hits in stored] == [{ids.index(case_id)} for case_id, _ in requests]
