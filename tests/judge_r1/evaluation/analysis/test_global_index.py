"""The share of passages of other cases in one index over many cases."""

import subprocess
import sys
from pathlib import Path

import pytest
from analysis_factories import answer, evaluate_judges
from hash_embedder import HashEmbedder

from judge_r1.core.records import Turn
from judge_r1.core.verdicts import Evidence
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError
from judge_r1.evaluation.analysis.global_index import (
    Asked,
    asked,
    doubling,
    global_figure,
    global_grid,
    out_of_case,
    shown_of_own_case,
    sources,
)
from judge_r1.judges.search_r1 import Corpus
from retrieval.errors import EmptyQuery
from retrieval.retriever import Retriever

TEXTS = {f"case {n}": f"The fee was {20 + n}. The court sat. Word{n} was said." for n in range(8)}


@pytest.mark.parametrize("method", ["bm25", "toy"])
def test_index_over_one_case_returns_only_that_case(method: str) -> None:
    """The same passages in the same order as the retriever that judges have."""
    used = HashEmbedder(64) if method == "toy" else method
    corpus, retriever = Corpus(TEXTS, used, 4), Retriever(TEXTS, method=used, passage_words=4)
    for case_id in TEXTS:
        [owners] = sources(corpus, [case_id], ["when the court sat"], 3)
        [hits] = retriever.search([(case_id, "when the court sat")], 3)
        assert owners == [case_id] * len(hits)
    assert out_of_case(corpus, [Asked("case 3", "court")], k=3, sizes=[1])[0]["from_others"] == 0


@pytest.mark.parametrize("method", ["bm25", "toy"])
def test_unique_word_finds_its_case_in_any_index(method: str) -> None:
    corpus = Corpus(TEXTS, HashEmbedder(256) if method == "toy" else method, 4)
    queries = [Asked(f"case {n}", f"word{n} was said") for n in range(8)]
    [row] = out_of_case(corpus, queries, k=1, sizes=[8])
    assert (row["from_others"], row["queries"], row["left_out"]) == (0, 8, 0)


def test_equal_passages_follow_the_shuffled_order() -> None:
    """`the court sat` is a passage of each case: in an index of n cases the first one of the order takes the tie, so
    that all others see a foreign passage: (n - 1) / n."""
    corpus = Corpus(TEXTS, "bm25", 4)
    queries = [Asked(case_id, "court sat") for case_id in TEXTS]
    rows = out_of_case(corpus, queries, k=1, sizes=[1, 2, 4, 8])
    assert [row["from_others"] for row in rows] == [0, 0.5, 0.75, 0.875]
    assert [row["all_from_others"] for row in rows] == [0, 0.5, 0.75, 0.875]


def test_ties_do_not_favor_cases_with_queries() -> None:
    """Seven cases without a query say the same: over seeds the one with the query is first in one of eight orders."""
    corpus = Corpus(TEXTS, "bm25", 4)
    found = [out_of_case(corpus, [Asked("case 3", "court sat")], k=1, sizes=[8], seed=seed)[0] for seed in range(48)]
    assert 36 <= sum(row["from_others"] for row in found) < 48


def test_share_is_counted_over_the_top_k() -> None:
    corpus = Corpus({"one": "The court sat.", "two": "The court sat."}, "bm25", 4)
    [row] = out_of_case(corpus, [Asked("one", "court"), Asked("two", "court")], k=2, sizes=[2])
    assert (row["from_others"], row["all_from_others"]) == (0.5, 0)


def test_left_out_queries_are_counted() -> None:
    rows = out_of_case(Corpus(TEXTS, "bm25", 4), [Asked(c, "court sat") for c in TEXTS], k=1, sizes=[3])
    assert (rows[0]["queries"], rows[0]["left_out"]) == (6, 2)


def test_same_seed_gives_the_same_rows() -> None:
    corpus, queries = Corpus(TEXTS, "bm25", 4), [Asked(c, "court sat fee") for c in TEXTS]
    assert out_of_case(corpus, queries, k=2) == out_of_case(corpus, queries, k=2)
    assert [row["cases"] for row in out_of_case(corpus, queries, k=2)] == [1, 2, 5, 8]
    assert doubling(1) == [1]
    assert doubling(120) == [1, 2, 5, 10, 20, 50, 100, 120]


def test_wrong_queries_are_rejected() -> None:
    corpus = Corpus(TEXTS, "bm25", 4)
    with pytest.raises(AnalysisError, match="there are no queries"):
        out_of_case(corpus, [], k=1)
    with pytest.raises(AnalysisError, match="case elsewhere, which the cases given do not hold"):
        out_of_case(corpus, [Asked("elsewhere", "x")], k=1)
    with pytest.raises(EmptyQuery):
        out_of_case(corpus, [Asked("case 1", " ")], k=1)


def test_queries_are_those_of_the_episodes(tmp_path: Path) -> None:
    def says(pair, ask):  # type: ignore[no-untyped-def]
        text = ask.task.context
        own = Evidence(case_id=pair.case_id, start=0, end=9, text=text[:9], score=1)
        found = answer("A>B")
        turns = (
            Turn(text="<search>fee</search>", query="fee", passages=(own,)),
            Turn(text="<search>more</search>", query="more", notice="no searches left"),
        )
        return found.model_copy(update={"turns": (*turns, *found.turns)})

    [row] = evaluate_judges(tmp_path, {"row": says})
    cases = {item.case_id for item in row.benchmark.items}
    assert set(asked(row)) == {Asked(case_id or "", "fee") for case_id in cases}
    assert len(asked(row)) == len(cases)
    assert shown_of_own_case(row) == (48, 48)


def test_global_index_table_and_figure() -> None:
    rows = out_of_case(Corpus(TEXTS, "bm25", 4), [Asked(c, "court sat") for c in TEXTS], k=1)
    grid = global_grid("row", {"retriever": "bm25", "k": 1, "sizes": rows, "own": 3, "shown": 3})
    assert [cells[0] for cells in grid.rows] == ["1", "2", "5", "8"]
    assert "global index from 0 to 0.875; one index per case from 0 to 0" in global_figure("row", rows).svg


def test_judges_do_not_import_the_global_index() -> None:
    code = (
        "import sys, judge_r1.episode.rollout, judge_r1.evaluation.runner\n"
        "from judge_r1.judges.base import JUDGES; JUDGES.names()\n"
        "sys.exit(any(name.startswith('judge_r1.evaluation.analysis') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
