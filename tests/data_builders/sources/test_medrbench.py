"""MedRBench: the context ends before the discussion and contains the cited facts but not the reasoning."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from data_builders.sources.corpus_io import SourceError
from data_builders.sources.medrbench import read, report_before_discussion
from judge_r1.core.records import Case

REPORT = """
A title that gives the illness away
Background
Short abstract background.
Case presentation
Abstract case.
Conclusion
Abstract conclusion.

1. Introduction

Stones are common.

2. Case Report:

A man of 41 had colic.\r
Imaging
A stone of 7 mm was seen.

3. Discussion

It must have been the stone because nothing else fits.

Patient consent
Given.
"""


def record(task: str, **changes: Any) -> dict[str, Any]:
    case: dict[str, Any] = {"case_summary": "- Age: 41\n- Sign: colic"}
    if task == "diagnosis":
        case |= {"differential_diagnosis": "1. Colic points to a stone of 7 mm.\n---\n", "diagnosis_results": "Stone."}
    else:
        case |= {"treatment_planning_analysis": "- Aim: no pain.", "treatment_plan_results": "Give ibuprofen."}
    return {"raw_case": REPORT, "generate_case": case | changes}


def corpus(folder: Path, diagnosis: Any = None, treatment: Any = None) -> Path:
    data = folder / "data" / "MedRBench"
    data.mkdir(parents=True)
    for task, records in (("diagnosis", diagnosis), ("treatment", treatment)):
        (data / f"demo_{task}_100.json").write_text(json.dumps({"PMC2": record(task)} if records is None else records))
    return folder


def cases(path: Path, limit: int | None = None) -> tuple[list[Case], Counter[str]]:
    skipped: Counter[str] = Counter()
    return list(read(path, limit, 0, skipped)), skipped


def test_the_context_is_summary_introduction_and_case_without_abstract_and_discussion(tmp_path: Path) -> None:
    (case, _), _ = cases(corpus(tmp_path))
    assert case.context == (
        "Case summary\n- Age: 41\n- Sign: colic\n\n1. Introduction\n\nStones are common.\n\n2. Case Report:\n\n"
        "A man of 41 had colic.\nImaging\nA stone of 7 mm was seen."
    )
    assert not case.meta["uncut"]
    assert (
        case.meta["cut_words"] == len(REPORT.split()) - len(case.context.split()) + 8
    )  # 8: the summary and its heading


def test_an_outcome_named_by_the_report_is_marked(tmp_path: Path) -> None:
    named = record("diagnosis", diagnosis_results="A stone of 7 mm")
    (case, other), _ = cases(corpus(tmp_path, diagnosis={"PMC2": named}))
    assert case.meta["decision_in_context"]
    assert not other.meta["decision_in_context"]


def test_reports_without_a_discussion_heading_are_skipped_or_marked() -> None:
    assert report_before_discussion("Title\nJust text about a case presentation in a long line of many words.") is None
    assert report_before_discussion("Case report\nA man.\nNo end.") == ("Case report\nA man.\nNo end.", False)


def test_skips_are_counted_and_order_and_limit_hold(tmp_path: Path) -> None:
    diagnosis = {
        "PMC9": record("diagnosis"),
        "PMC3": record("diagnosis", differential_diagnosis=" \n---"),
        "PMC4": record("diagnosis") | {"raw_case": "No headings at all."},
        "PMC1": record("diagnosis", case_summary=""),
    }
    path = corpus(tmp_path, diagnosis=diagnosis)
    found, skipped = cases(path)
    assert [case.source for case in found] == ["medrbench/treatment/PMC2", "medrbench/diagnosis/PMC9"]
    assert sorted(skipped.values()) == [1, 1, 1]
    assert any("heading" in reason for reason in skipped)
    assert any("differential_diagnosis is empty" in reason for reason in skipped)
    assert cases(path, limit=1)[0] == found[:1]


@pytest.mark.parametrize(
    ("diagnosis", "message"),
    [
        ({"PMC7": {"generate_case": {}}}, "record PMC7: field raw_case is missing"),
        ({"PMC7": {"raw_case": REPORT}}, "record PMC7: field generate_case is missing"),
        ({"PMC7": record("treatment")}, "record PMC7: field generate_case.differential_diagnosis is missing"),
        (
            {"PMC7": record("diagnosis", diagnosis_results=3)},
            "field generate_case.diagnosis_results must be str, not int",
        ),
        ([], "must hold a JSON object, not list"),
    ],
)
def test_an_invalid_file_is_reported_with_record_and_field(diagnosis: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=rf"demo_diagnosis_100\.json.*{re.escape(message)}"):
        cases(corpus(tmp_path, diagnosis=diagnosis))


def eight_grams(text: str) -> list[tuple[str, ...]]:
    tokens = re.findall(r"\w+", text.lower())
    return [tuple(tokens[n : n + 8]) for n in range(len(tokens) - 7)]


@pytest.mark.real_data
def test_real_contexts_contain_the_facts_but_not_the_reasoning(real_data: Path) -> None:
    found, skipped = cases(real_data)
    raw = {}
    for task in ("diagnosis", "treatment"):
        file = real_data / "medical_medrbench" / "data" / "MedRBench" / f"demo_{task}_100.json"
        raw |= {(task, article): entry["raw_case"] for article, entry in json.loads(file.read_text("utf-8")).items()}
    assert len(found) == len(raw) == 150
    assert not skipped
    cited = findable = 0
    for case in found:
        context = set(eight_grams(case.context))
        reference = eight_grams(case.reference)
        assert sum(gram in context for gram in reference) <= 0.05 * len(reference), case.source
        numbers = re.findall(r"\d+(?:[.,]\d+)*", re.sub(r"(?m)^\s*\d+\. ", "", case.reference))
        there = set(re.findall(r"\d+(?:[.,]\d+)*", case.context))
        cited, findable = cited + len(numbers), findable + sum(number in there for number in numbers)
        discussion = re.split(r"(?im)^(?:\d+\.? )?discussions?\b.{0,25}$", raw[case.meta["task"], case.meta["group"]])[
            -1
        ]
        long_lines = [line.strip() for line in discussion.split("\n") if len(line.split()) > 25]
        assert long_lines, case.source
        assert not any(line in case.context for line in long_lines), case.source
        assert not case.meta["uncut"]
    assert cited > 150
    assert findable >= 0.9 * cited
