"""MedCaseReasoning: the context is prompt and truncated report; the reference is the reasoning of the clinicians.

The rows are written for these tests.
"""

from collections import Counter
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from source_factories import write_rows

from data_builders.sources.medcasereasoning import read
from judge_r1.core.records import Case

TEXT = (
    "A rare cough\n\nAbstract\n\nWe report scurvy.\n\nIntroduction\n\nCoughs are common.\n\nCase presentation\n\n"
    "A man of 41 coughed for 3 weeks.\n\nDiscussion\n\nScurvy explains it all."
)
ROW = {
    "pmcid": "PMC1",
    "title": "A rare cough",
    "journal": "J Toy",
    "article_link": "https://example.org",
    "publication_date": "2024-01-01",
    "text": TEXT,
    "case_prompt": "A man of 41 coughs.",
    "diagnostic_reasoning": '1. Cough for "3 weeks" speaks for scurvy.\n2. No fever speaks against a cold.',
    "final_diagnosis": "Scurvy",
}


def cases(path: Path, limit: int | None = None) -> tuple[list[Case], Counter[str]]:
    skipped: Counter[str] = Counter()
    return list(read(path, limit, 0, skipped)), skipped


def test_a_row_becomes_a_case_without_discussion(tmp_path: Path) -> None:
    (case,), skipped = cases(write_rows(tmp_path / "train.jsonl", [ROW]))
    assert not skipped
    assert (case.domain, case.source, case.decision) == ("medical", "medcasereasoning/PMC1", "Scurvy")
    assert case.reference == ROW["diagnostic_reasoning"]
    assert case.context == (
        "Case prompt\nA man of 41 coughs.\n\nIntroduction\n\nCoughs are common.\n\nCase presentation\n\n"
        "A man of 41 coughed for 3 weeks."
    )
    assert case.meta == {"group": "PMC1", "file": "train.jsonl", "row": 1, "report": True, "decision_in_context": False}


@pytest.mark.parametrize("text", [None, "A man coughed.", TEXT.replace("Discussion", "Thoughts of ours")])
def test_a_report_without_a_discussion_boundary_is_skipped(text: str | None, tmp_path: Path) -> None:
    ((case,), _) = cases(write_rows(tmp_path / "t.jsonl", [ROW | {"text": text}]))
    assert case.context == "Case prompt\nA man of 41 coughs."
    assert case.meta["report"] is False


def test_the_core_table_without_reports_is_enough(tmp_path: Path) -> None:
    rows = [{k: v for k, v in ROW.items() if k in ("pmcid", "case_prompt", "diagnostic_reasoning", "final_diagnosis")}]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "core.parquet")
    ((case,), _) = cases(tmp_path)
    assert case.meta["report"] is False


def test_order_and_limit_hold_and_skips_are_counted(tmp_path: Path) -> None:
    write_rows(tmp_path / "train.jsonl", [ROW | {"pmcid": f"PMC{n}", "case_prompt": f"Man {n}."} for n in range(5)])
    write_rows(tmp_path / "test.jsonl", [ROW | {column: ""} for column in ("case_prompt", "final_diagnosis")])
    found, skipped = cases(tmp_path)
    assert [case.source[-4:] for case in found] == [f"PMC{n}" for n in range(5)]
    assert skipped == {"medcasereasoning: case_prompt is empty": 1, "medcasereasoning: final_diagnosis is empty": 1}
    assert cases(tmp_path, 2)[0] == found[:2]
