"""F1000RD: the context is the reviewed paper; the reference is the review in steps, without form text."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from data_builders.sources.corpus_io import SourceError
from data_builders.sources.f1000rd import RECOMMENDATIONS, markup_text, paper_text, read
from data_builders.sources.review_steps import review_steps
from data_builders.sources.text_repair import JOINED, Changes
from judge_r1.core.records import Case

TABLE = (
    '<table-wrap xmlns:xlink="x"><caption><title>Ages.</title></caption><table><tr><th>Name</th><th>Age</th></tr>'
    "<tr><td>A <break/>n</td><td>41</td></tr></table></table-wrap>"
)
PAPER = [
    ("article-title", "On stones"),
    ("abstract", "Abstract"),
    ("p", "We studied 12 stones."),
    ("title", "Results"),
    ("label", "Figure 1."),
    ("fig", "<fig/>"),
    ("label", "Table 1."),
    ("table-wrap", TABLE),
    ("list", "- one\n- two"),
    ("preformat", "<preformat>x = 1</preformat>"),
    ("ref", "1 Doe J : Stones."),
]
REVIEW = [
    ("article-title", "Reviewer response for version 1"),
    ("p", "The paper studies\n12 stones."),
    ("p", "Minor comments:"),
    ("list", "- The age 41 is odd.\n2. Figure 1 is\nblurred.\n- Too short"),
    ("p", "-----"),
    ("p", "Is the study design appropriate?"),
    ("p", "Partly"),
    ("p", "Competing Interests: none."),
    ("ref", "1 Roe R"),
]


def nodes(entries: list[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"ntype": kind, "content": text, "meta": {"caption": "A stone."}} for kind, text in entries]


def paper(**changes: Any) -> dict[str, Any]:
    return {"nodes": nodes(PAPER), "meta": {"license": "by/3.0", "doi": "10.1/x"}} | changes


def review(**changes: Any) -> dict[str, Any]:
    return {"nodes": nodes(REVIEW), "meta": {"license": "by/4.0", "recommendation": "approve"}} | changes


def add(folder: Path, name: str, reviews: dict[str, Any], text: Any = None) -> Path:
    (folder / "data" / "itg" / name / "reviews").mkdir(parents=True)
    (folder / "data" / "itg" / name / "v1.json").write_text(json.dumps(text or paper()))
    for key, value in reviews.items():
        data = gzip.compress(json.dumps(value).encode())
        (folder / "data" / "itg" / name / "reviews" / f"{key}.json.gz").write_bytes(data)
    return folder


def cases(path: Path, limit: int | None = None) -> tuple[list[Case], Counter[str]]:
    skipped: Counter[str] = Counter()
    return list(read(path, limit, 0, skipped)), skipped


def test_a_review_becomes_a_case(tmp_path: Path) -> None:
    (case,), skipped = cases(add(tmp_path, "1-2", {"report7": review()}))
    assert not skipped
    assert (case.domain, case.source, case.decision) == ("academic", "f1000rd/1-2/report7", "approve")
    assert case.license == "CC BY-SA 4.0 (F1000RD); paper by/3.0; review by/4.0"
    assert case.context == (
        "On stones\n\nAbstract\n\nWe studied 12 stones.\n\nResults\n\nFigure 1. A stone.\n\n"
        "Table 1. Ages.\nName | Age\nA n | 41\n\n- one\n- two"
    )
    assert case.reference == (
        "1. The paper studies 12 stones.\n2. Minor comments: The age 41 is odd.\n3. Figure 1 is blurred.\n4. Too short"
    )
    assert (case.meta["group"], case.meta["doi"], case.meta["dropped"]) == ("1-2", "10.1/x", 6)
    assert case.meta["cut_words"] == 8  # words of the form and of the bibliography


def test_skipped_records_are_counted_by_reason(tmp_path: Path) -> None:
    add(
        tmp_path, "1-1", {"r": review(nodes=nodes(REVIEW[:1])), "s": review(meta={"license": "", "recommendation": ""})}
    )
    add(tmp_path, "1-2", {"r": review()}, paper(nodes=nodes(PAPER[-1:])))
    path = add(tmp_path, "1-3", {})
    found, skipped = cases(path)
    assert not found
    assert sorted(skipped) == [
        "f1000rd: no recommendation",
        "f1000rd: paper without a review",
        "f1000rd: paper without text",
        "f1000rd: review without text",
    ]
    assert set(skipped.values()) == {1}


def test_a_heading_without_a_step_after_it_is_kept() -> None:
    steps, dropped = review_steps(nodes([("p", "Fine."), ("p", "Strengths"), ("p", "Methods:")]), "toy", Changes())
    assert (steps, dropped) == (["Fine.", "Strengths Methods:"], 0)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("They open the page of X from|which it runs.|Next.", "They open the page of X from which it runs.|Next."),
        ("It is used in the way of|“The lead was.”|it helps.", "It is used in the way of “The lead was.” it helps."),
        ("A line of sixteen words. Please add the following three things to this part of the text:|1. sizes (cm)|"
         "2. images|3. results, if any.",
         "A line of sixteen words. Please add the following three things to this part of the text: sizes (cm); images; "
         "results, if any."),
        ("The whole decision was left to them|The Court agrees.|p. 3 is unclear.",
         "The whole decision was left to them|The Court agrees.|p. 3 is unclear."),
    ],
)  # fmt: skip
def test_a_sentence_that_goes_on_in_the_next_paragraph_is_one_step(text: str, steps: str) -> None:
    changes = Changes()
    found, _ = review_steps(nodes([("p", part) for part in text.split("|")]), "toy", changes)
    assert found == steps.split("|")
    assert changes[JOINED] == text.count("|") - steps.count("|")


def test_a_form_answer_is_dropped_with_its_question() -> None:
    steps, dropped = review_steps(nodes([("p", "A claim."), ("p", "Yes")]), "toy", Changes())
    assert (steps, dropped) == (["A claim."], 1)


def test_unknown_node_kinds_are_kept_as_text() -> None:
    assert paper_text({"nodes": nodes([("disp-quote", "Quoted.")])}, "toy", Changes()) == ("Quoted.", 0)


def test_markup_keeps_every_word_of_paragraphs_and_rows() -> None:
    xml = "<boxed-text><list><list-item><label>i</label><p>Be <b>kind</b>.</p></list-item></list></boxed-text>"
    assert markup_text(xml, "x", Changes()) == "i\nBe kind."


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (review(nodes=None), r"reviews/r\.json\.gz: field nodes must be list"),
        (review(nodes=[{"ntype": "p"}]), r"reviews/r\.json\.gz, node 0: field content is missing"),
        (review(meta={"license": "x"}), r"reviews/r\.json\.gz: field meta\.recommendation is missing"),
        (review(meta={"recommendation": "approve"}), r"reviews/r\.json\.gz: field meta\.license is missing"),
        (
            review(meta={"recommendation": "maybe", "license": "x"}),
            r"r\.json\.gz: .* must be one of approve, .* 'maybe'",
        ),
    ],
)
def test_an_invalid_review_is_reported_with_its_field(broken: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=message):
        cases(add(tmp_path, "1-1", {"r": broken}))


def test_an_invalid_paper_is_reported(tmp_path: Path) -> None:
    path = add(tmp_path, "1-1", {"r": review()}, paper(nodes=nodes([("table-wrap", "<table-wrap>")])))
    with pytest.raises(SourceError, match=r"v1\.json, node 0: field content is not valid XML"):
        cases(path)
    (path / "data" / "itg" / "1-1" / "v1.json").unlink()
    with pytest.raises(SourceError, match=r"1-1: file v1\.json\(\.gz\) is missing"):
        cases(path)


def test_an_empty_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "data" / "itg").mkdir(parents=True)
    with pytest.raises(SourceError, match="itg holds no paper"):
        cases(tmp_path)


@pytest.mark.real_data
def test_real_papers_contain_no_review_text_except_quotes(real_data: Path) -> None:
    found, skipped = cases(real_data)
    assert len(found) == 95
    assert not skipped
    assert {case.decision for case in found} == set(RECOMMENDATIONS)
    steps = quotes = 0
    for case in found:
        context = " ".join(re.findall(r"\w+", case.context.lower()))
        assert "Reviewer response for version" not in case.context + case.reference
        assert "xmlns:" not in case.context, case.source
        for line in case.reference.split("\n"):
            step = re.findall(r"\w+", line.lower())[1:]
            if len(step) >= 8:
                steps += 1
                quotes += " ".join(step) in context
    assert steps > 600
    assert quotes <= 0.01 * steps
