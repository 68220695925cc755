import math
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hash_embedder import HashEmbedder
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrieval.bm25 import BM25Index
from retrieval.case_index import CaseIndex
from retrieval.dense import DenseIndex
from retrieval.errors import BadVectors, EmptyCase, EmptyQuery, InvalidSize, InvalidText
from retrieval.passages import Passage, sentences, split_passages

DIM = 16
TEXT = "kara paid 34 . olga signed march . kara left town . the deed was false . olga paid kara ."


def passages(count: int) -> list[Passage]:
    return [Passage(i, i, i + 1, "x") for i in range(count)]


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def indexes_of(text: str) -> list[CaseIndex]:
    cut, embedder = split_passages(text, 4), HashEmbedder()
    vectors = embedder.encode_passages([p.text for p in cut])
    return [DenseIndex(cut, vectors, embedder), BM25Index(cut)]


@example(count=60, kinds=1, noise=1e-7, k=1, query_count=25, seed=0)
@example(count=60, kinds=2, noise=1e-8, k=3, query_count=3, seed=1)
@given(
    count=st.integers(1, 60),
    kinds=st.integers(1, 60),
    noise=st.sampled_from([0, 1e-8, 1e-7]),
    k=st.integers(1, 70),
    query_count=st.integers(0, 25),
    seed=st.integers(0, 2**32 - 1),
)
def test_dense_search_equals_sorting_all_passages_including_ties(
    count: int, kinds: int, noise: float, k: int, query_count: int, seed: int
) -> None:
    """Few distinct vectors produce exact and near ties, also at rank k."""
    random = np.random.default_rng(seed)
    vectors = unit(random.normal(size=(kinds, DIM)))[random.integers(0, kinds, count)]
    vectors = unit(vectors + noise * random.normal(size=vectors.shape))
    queries = np.concatenate([unit(random.normal(size=(query_count, DIM))), vectors[:1]])
    dense = DenseIndex(passages(count), vectors, HashEmbedder(DIM))
    for query, hits in zip(queries, dense.search_vectors(queries, k), strict=True):
        exact = [math.fsum(float(a) * float(b) for a, b in zip(query, row, strict=True)) for row in vectors]
        every = dense.search_vectors(query[None], count)[0]
        assert hits == every[:k]
        assert sorted(hit.passage.index for hit in every) == list(range(count))
        for first, second in pairwise(every):  # equal vectors have equal scores
            assert (-first.score, first.passage.index) < (-second.score, second.passage.index)
        assert all(abs(hit.score - exact[hit.passage.index]) < 1e-6 for hit in every)


def test_search_embeds_all_queries_in_one_call() -> None:
    dense = indexes_of(TEXT)[0]
    assert isinstance(dense, DenseIndex)
    embedder = dense.embedder
    assert isinstance(embedder, HashEmbedder)
    [kara, olga] = dense.search(["kara left town .", "olga signed march ."], 1)
    assert (kara[0].passage.text, olga[0].passage.text) == ("kara left town .", "olga signed march .")
    assert kara[0].score == pytest.approx(1.0)
    assert embedder.query_calls == [["kara left town .", "olga signed march ."]]
    assert dense.search([], 3) == []


def bm25_by_definition(texts: list[str], query: str) -> list[float]:
    """BM25 as in Lucene 8 and later, without the constant factor k1 + 1, for texts without other spellings."""
    docs = [re.findall(r"\w+", text.lower()) for text in texts]
    average = sum(map(len, docs)) / len(docs) or 1.0
    scores = []
    for doc in docs:
        score = 0.0
        for word in re.findall(r"\w+", query.lower()):
            holders = sum(word in other for other in docs)
            tf = doc.count(word)
            idf = math.log(1 + (len(docs) - holders + 0.5) / (holders + 0.5))
            score += idf * tf / (tf + 1.2 * (1 - 0.75 + 0.75 * len(doc) / average))
        scores.append(score)
    return scores


def test_bm25_finds_other_spellings_and_counts_them_in_no_length() -> None:
    plain, dense = "the cell was treated twice", "the IL-6 max_tokens 5mg 1,000 café was here"
    [index, other] = [
        BM25Index([Passage(0, 0, len(one), one), Passage(1, 0, len(plain), plain)])
        for one in (dense, "the a b c d e f g was here")
    ]
    for query in ("IL6", "max tokens", "mg", "1000", "cafe"):
        assert index.search([query], 1)[0][0].passage.index == 0
    assert index.search(["IL9"], 1) == [[]]
    assert index.search(["treated"], 1)[0][0].score == other.search(["treated"], 1)[0][0].score


WORDS = st.lists(st.sampled_from(["kara", "Olga", "paid", "34", "march", "?", "дом"]), min_size=1, max_size=8)


@given(st.lists(WORDS.map(" ".join), min_size=1, max_size=12), WORDS.map(" ".join), st.integers(1, 15))
def test_bm25_equals_its_definition(texts: list[str], query: str, k: int) -> None:
    index = BM25Index([Passage(i, 0, len(text), text) for i, text in enumerate(texts)])
    [hits] = index.search([query], k)
    expected = bm25_by_definition(texts, query)
    if not any(expected):  # the query shares no word with any passage
        assert hits == []
        return
    assert [hit.score for hit in hits] == pytest.approx(sorted(expected, reverse=True)[:k])
    assert [hit.score for hit in hits] == pytest.approx([expected[hit.passage.index] for hit in hits])
    for one, other in pairwise(hits):
        assert one.score > other.score or one.passage.index < other.passage.index
    bags = [Counter(re.findall(r"\w+", text.lower())) for text in texts]
    ranks = {hit.passage.index: rank for rank, hit in enumerate(hits)}
    for i, j in ((i, j) for i in ranks for j in ranks if i < j and bags[i] == bags[j]):
        assert ranks[i] < ranks[j]  # ties are broken by position


CHINESE = "患者因发热入院。血氧饱和度（SpO₂）为９５％。给予抗生素治疗。诊断为肺癌。"


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        (CHINESE, "血氧饱和度", "血氧饱和度（SpO₂）为９５％。"),
        (CHINESE, "spo2", "血氧饱和度（SpO₂）为９５％。"),
        (CHINESE, "95", "血氧饱和度（SpO₂）为９５％。"),
        (CHINESE, "癌", "诊断为肺癌。"),
        ("ผู้ป่วยมีไข้สูง\nแพทย์ให้ยา", "ไข้", "ผู้ป่วยมีไข้สูง"),
        ("환자는 열이 났다.\n의사가 왔다.", "환자", "환자는 열이 났다."),
        ("The cafe\u0301 closed.\nIt rained.", "café", "The cafe\u0301 closed."),
        ("WBC was 3 × 10⁹/L.\nIt rained.", "10^9", "WBC was 3 × 10⁹/L."),
        ("It rained.\nरोगी आया।", "रोगी", "रोगी आया।"),
    ],
)
def test_bm25_finds_a_query_in_any_script_with_exact_offsets(text: str, query: str, found: str) -> None:
    one_by_one = [Passage(i, start, end, text[start:end]) for i, (start, end) in enumerate(sentences(text))]
    [hits] = BM25Index(one_by_one).search([query], 1)
    assert [hit.passage.text for hit in hits] == [found]
    assert hits[0].score > 0
    assert text[hits[0].passage.start : hits[0].passage.end] == found


def test_bm25_finds_nothing_for_a_query_without_a_term_of_the_case_and_vectors_the_nearest() -> None:
    dense, bm25 = indexes_of(TEXT)
    assert bm25.search(["???", "zebra", "kara"], 2)[:2] == [[], []]
    assert len(bm25.search(["kara"], 9)[0]) == 5, "passages without a term follow those with one"
    assert len(dense.search(["zebra"], 2)[0]) == 2


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_an_error(k: int) -> None:
    for index in indexes_of(TEXT):
        with pytest.raises(InvalidSize, match=f"k must be at least 1, not {k}"):
            index.search(["kara"], k)


def test_a_blank_query_is_an_error() -> None:
    for index in indexes_of(TEXT):
        with pytest.raises(EmptyQuery, match="query 1 of 2 is blank"):
            index.search(["kara", " \n"], 1)


def test_a_query_with_half_of_a_surrogate_pair_is_an_error() -> None:
    for index in indexes_of(TEXT):
        with pytest.raises(InvalidText, match=r"query 1 of 2 is not valid Unicode: character 0 is U.DC00"):
            index.search(["kara", "\udc00"], 1)


def test_an_index_needs_passages_and_unit_vectors_of_its_dimension() -> None:
    embedder = HashEmbedder(DIM)
    good = unit(np.ones((2, DIM), dtype=np.float32))
    with pytest.raises(EmptyCase):
        BM25Index([])
    with pytest.raises(EmptyCase):
        DenseIndex([], good[:0], embedder)
    for bad, reason in ((good[:1], "shape"), (good[:, :3], "shape"), (good * 2, "length 1"), (good * np.nan, "length")):
        with pytest.raises(BadVectors, match=reason):
            DenseIndex(passages(2), bad, embedder)
    with pytest.raises(BadVectors, match="shape"):
        DenseIndex(passages(2), good, embedder).search_vectors(good[:, :3], 1)


@pytest.mark.parametrize("dim", [3, 8, 384])
@pytest.mark.parametrize("k", [1, 3, 20])
def test_a_batch_of_queries_finds_what_single_queries_find(dim: int, k: int) -> None:
    random = np.random.default_rng(0)
    vectors = unit(random.standard_normal((60, dim)).astype(np.float32))
    vectors[50:] = vectors[:10]  # equal passages: the first is ranked first
    queries = unit(random.standard_normal((70, dim)).astype(np.float32))
    index = DenseIndex(passages(60), vectors, HashEmbedder(dim))
    batch = index.search_vectors(queries, k)
    assert batch == [index.search_vectors(query[None], k)[0] for query in queries]
    scores = np.array([[float(hit.score) for hit in index.search_vectors(query[None], 60)[0]] for query in queries])
    assert (np.diff(scores, axis=1) <= 0).all()
    for hits in batch:
        assert len({hit.passage.index for hit in hits}) == k
        for one, other in pairwise(hits):
            assert one.score > other.score or one.passage.index < other.passage.index


def test_a_search_leaves_the_threads_of_faiss_alone() -> None:
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(2)
    try:
        index = DenseIndex(passages(2), unit(np.ones((2, DIM), dtype=np.float32)), HashEmbedder(DIM))
        index.search_vectors(unit(np.ones((1, DIM), dtype=np.float32)), 1)
        assert faiss.omp_get_max_threads() == 2
    finally:
        faiss.omp_set_num_threads(before)
