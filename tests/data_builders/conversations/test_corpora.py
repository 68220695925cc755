"""The contexts of RankJudge's three corpora, from rows with their published columns. The texts are ours."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from data_builders.generators.conversations import read_documents
from judge_r1.core.conversations import Document
from judge_r1.files.tabular import BadTable

PAPER: dict[str, Any] = {
    "id": "p1", "title": "On Mills", "venue": "", "keywords": "mills, wind", "abstract": "Mills turn.",
    "qa_pairs": [{"question": "Do mills turn?", "answer": " Yes "}]
    + [{"question": f"Why {n}?", "answer": f"Because {n}."} for n in range(12)],
}  # fmt: skip
ABSTRACT = {
    "pubid": 7, "question": "Do walks help?", "context": {"contexts": ["We asked 40 people.", "They walked."]},
    "long_answer": "Walks help.", "final_decision": "yes",
}  # fmt: skip
FILING = {
    "cik": "0000123", "company": "MILL CO", "date": "2011-03-04 00:00:00", "sic": 2870, "mkt_cap": 5.0,
    "ret": float("nan"), "item_1": "We mill. " * 400, "item_1A": "x" * 3100, "item_7": "",
}  # fmt: skip


def documents(path: Path, *rows: Any) -> tuple[list[Document], Counter[str]]:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    skipped = Counter[str]()
    return list(read_documents(path, None, skipped)), skipped


def test_contexts_of_papers_and_abstracts(tmp_path: Path) -> None:
    (paper, abstract), _ = documents(tmp_path / "rows.jsonl", PAPER, ABSTRACT)
    assert (paper.domain, paper.source) == ("ml", "rows.jsonl/p1")
    assert paper.context.startswith(
        "Title: On Mills\nKeywords: mills, wind\n\nAbstract:\nMills turn.\n\nReference QA Pairs:\nQ1: Why 0?"
    )
    assert paper.context.endswith("Q10: Why 9?\nA10: Because 9.")
    assert (abstract.domain, abstract.license) == ("med", "MIT (PubMedQA)")
    assert abstract.context == (
        "Title: Do walks help?\n\nContext:\nWe asked 40 people.\nThey walked.\n\nReference Answer:\nWalks help."
    )


def test_a_table_of_the_user_may_have_questions(tmp_path: Path) -> None:
    own = {"id": "one", "question": "Do walks help?", "context": "We asked 40 people."}
    (found,), _ = documents(tmp_path / "rows.jsonl", own)
    assert (found.domain, found.context, found.source) == ("general", "We asked 40 people.", "rows.jsonl/one")


def test_contexts_of_filings_from_parquet(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(
        pyarrow.Table.from_pylist([FILING, FILING | {"cik": "9", "item_1": "short", "item_1A": None}]),
        tmp_path / "2011.parquet",
    )
    skipped = Counter[str]()
    (filing,) = read_documents(tmp_path / "2011.parquet", None, skipped)
    assert skipped == {"a filing of fewer than 2,000 characters": 1}
    assert (filing.domain, filing.source) == ("fin", "2011.parquet/0000123_2011-03-04")
    head, business, risks = filing.context.split("\n\n")
    assert head == "Company: MILL CO\nFiling Date: 2011-03-04\nIndustry (SIC): 2870\nMarket Cap: 5.0"
    assert business.startswith("Business Description:\nWe mill.")
    assert business.endswith("We mill.")
    assert 2_950 < len(business.partition("\n")[2]) <= 3_000
    assert risks == "Risk Factors:\n" + "x" * 3_000


@pytest.mark.parametrize(
    ("row", "named"),
    [(PAPER | {"qa_pairs": ["q"]}, "'qa_pairs' must hold"), (ABSTRACT | {"context": "t"}, "'context' must hold"),
     ({"item_7": "t", "date": "2011"}, "'company' is missing")],
)  # fmt: skip
def test_a_row_that_differs_is_refused_by_name(row: Any, named: str, tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=named):
        documents(tmp_path / "rows.jsonl", row)
