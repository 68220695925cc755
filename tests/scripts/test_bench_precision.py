"""The comparison of vector precisions, on random vectors of a few cases."""

import numpy as np
import pytest

from retrieval.passages import Passage
from scripts.bench.case_search import NoEmbedder
from scripts.bench.precision import CaseVectors, compare, pieces

DIM, PASSAGES = 64, 40


def units(random: np.random.Generator, rows: int) -> np.ndarray:
    vectors = random.standard_normal((rows, DIM), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_bytes_and_recall_of_each_precision() -> None:
    random, passages = np.random.default_rng(0), [Passage(n, n, n + 1, "x") for n in range(PASSAGES)]
    cases = [CaseVectors(passages, units(random, PASSAGES), units(random, 10), NoEmbedder(DIM)) for _ in range(3)]
    exact, half, byte = compare(cases)
    assert exact["store_bytes"] == 3 * PASSAGES * DIM * 4
    assert half["store_bytes"] * 2 == exact["store_bytes"]
    assert byte["store_bytes"] == 3 * (PASSAGES * DIM + 2 * 4 * DIM)
    assert (exact["recall@3"], exact["changed"]) == (1.0, 0.0)
    assert half["recall@3"] > 0.97
    assert 0 < half["score_error"] < 1e-3
    assert half["score_error"] < byte["score_error"] < 0.05


def test_an_index_that_finds_other_passages_has_less_recall() -> None:
    random, passages = np.random.default_rng(1), [Passage(n, n, n + 1, "x") for n in range(PASSAGES)]
    case = CaseVectors(passages, units(random, PASSAGES), units(random, 10), NoEmbedder(DIM))
    case.indexes["float16"].reset()
    case.indexes["float16"].add(units(random, PASSAGES))
    _, half, _ = compare([case])
    assert half["recall@3"] < 0.5
    assert half["changed"] == pytest.approx(1.0)


def test_pieces_are_words_of_the_text() -> None:
    from random import Random

    found = pieces("a b c d e f g h i j", 4, Random(0))
    assert len(found) == 4
    assert all(piece in "a b c d e f g h i j" for piece in found)
