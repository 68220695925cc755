import pytest
from hash_embedder import HashEmbedder
from hypothesis import given
from hypothesis import strategies as st

from retrieval.bm25 import BM25Index
from retrieval.case_index import CaseIndex
from retrieval.dense import DenseIndex
from retrieval.embedders import Embedder
from retrieval.errors import EmptyCase, EmptyQuery, InvalidSize, InvalidText, RetrievalError, UnknownCase
from retrieval.passages import split_passages
from retrieval.retriever import Retriever

NAMES = ["kara", "olga", "paid", "signed", "march", "34", "deed", "left"]
SENTENCE = st.lists(st.sampled_from(NAMES), min_size=2, max_size=4).map(lambda words: " ".join(words) + " .")
CASES = st.dictionaries(st.text(max_size=3), st.lists(SENTENCE, min_size=1, max_size=8).map(" ".join), min_size=1)
QUERY = st.lists(st.sampled_from([*NAMES, "elsewhere"]), min_size=1, max_size=3).map(" ".join)
METHODS = st.sampled_from(["bm25", "dense"])


def method_of(name: str) -> str | Embedder:
    return "bm25" if name == "bm25" else HashEmbedder()


def index_of(text: str, method: str) -> CaseIndex:
    """The index of a single case, made without the retriever."""
    cut, embedder = split_passages(text, 5), HashEmbedder()
    return (
        BM25Index(cut)
        if method == "bm25"
        else DenseIndex(cut, embedder.encode_passages([p.text for p in cut]), embedder)
    )


@given(CASES, METHODS, st.integers(1, 4), st.integers(1, 3), st.data())
def test_results_equal_those_of_an_index_of_the_case_alone(
    cases: dict[str, str], method: str, k: int, max_cases: int, data: st.DataObject
) -> None:
    """Results keep the order of the requests over several calls, with evictions in between."""
    retriever = Retriever(cases, method=method_of(method), passage_words=5, max_cases=max_cases)
    request = st.tuples(st.sampled_from(sorted(cases)), QUERY)
    for _ in range(3):
        requests = data.draw(st.lists(request, max_size=10))
        expected = [index_of(cases[case_id], method).search([query], k)[0] for case_id, query in requests]
        assert retriever.search(requests, k) == expected


def test_passages_and_queries_are_embedded_in_one_call_each() -> None:
    embedder = HashEmbedder()
    retriever = Retriever({"a": "one . two .", "b": "three .", "c": "four ."}, method=embedder, passage_words=2)
    retriever.search([("a", "x"), ("b", "y"), ("a", "z")], 1)
    assert embedder.passage_calls == [["one .", "two .", "three ."]]
    assert embedder.query_calls == [["x", "y", "z"]]
    retriever.search([("b", "y"), ("c", "y")], 1)
    assert embedder.passage_calls[1:] == [["four ."]]
    assert retriever.search([], 3) == []
    assert len(embedder.query_calls) == 2


def test_the_least_recently_used_index_is_evicted() -> None:
    embedder = HashEmbedder()
    retriever = Retriever({name: f"{name} ." for name in "abc"}, method=embedder, max_cases=2)
    for name in ("a", "b", "a", "c", "a", "b"):  # c drops b, and b then drops c
        retriever.search([(name, "x")], 1)
    assert embedder.passage_calls == [["a ."], ["b ."], ["c ."], ["b ."]]
    retriever.search([(name, "x") for name in "abc"], 1)  # more cases in one call than the retriever keeps
    retriever.search([("b", "x"), ("c", "x")], 1)
    assert len(embedder.passage_calls) == 5


@pytest.mark.parametrize(
    ("requests", "k", "error", "message"),
    [
        ([("a", "x"), ("nobody", "x")], 1, UnknownCase, "case 'nobody' is unknown"),
        ([("", "x")], 1, UnknownCase, "case '' is unknown"),
        ([("A", "x")], 1, UnknownCase, "case 'A' is unknown"),
        ([("blank", "x")], 1, EmptyCase, "case 'blank' has no text"),
        ([("a", "x"), ("a", " \n ")], 1, EmptyQuery, "query for case 'a' is blank"),
        ([("a", "x")], 0, InvalidSize, "k must be at least 1, not 0"),
        ([("a", "x\ud800")], 1, InvalidText, "query for case 'a' is not valid Unicode: character 1 is U.D800"),
        ([("half", "x")], 1, InvalidText, "text of case 'half' is not valid Unicode: character 5 is U.DFFF"),
    ],
)
def test_invalid_requests_are_reported(
    requests: list[tuple[str, str]], k: int, error: type[RetrievalError], message: str
) -> None:
    for method in ("bm25", HashEmbedder()):
        retriever = Retriever({"a": "kara paid .", "blank": " \n", "half": "kara \udfff"}, method=method)
        with pytest.raises(error, match=message):
            retriever.search(requests, k)
        assert issubclass(error, ValueError)


@pytest.mark.parametrize("sizes", [{"passage_words": 0}, {"max_cases": 0}])
def test_sizes_must_be_positive(sizes: dict[str, int]) -> None:
    with pytest.raises(InvalidSize, match=f"{next(iter(sizes))} must be at least 1, not 0"):
        Retriever({}, method="bm25", **sizes)


def test_indexes_of_removed_texts_are_dropped() -> None:
    """An index whose text left the mapping is dropped when the next index is built, and not rebuilt before."""
    texts = {"a": "kara paid .", "b": "olga signed ."}
    retriever = Retriever(texts, method="bm25")
    retriever.search([("a", "kara"), ("b", "olga")], 1)
    del texts["a"]
    texts["c"] = "the deed ."
    [[hit]] = retriever.search([("c", "deed")], 1)
    assert hit.passage.text == "the deed ."
    with pytest.raises(UnknownCase):
        retriever.search([("a", "kara")], 1)
    assert list(retriever._indexes) == ["b", "c"]
