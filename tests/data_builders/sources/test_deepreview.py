"""DeepReview: the reference is a best-mode review; a teacher condenses the paper without adding anything.

The papers and reviews are written for these tests, in the formats of the evaluation files and of the hub.
"""

import csv
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from source_factories import FunctionTeacher, between, gather, write_rows

from data_builders.sources import SOURCES
from data_builders.sources.deepreview import ASKED, CONDENSED, review_of, review_sections, verdict
from data_builders.sources.text_repair import Changes
from data_builders.teachers import TeacherRequest
from judge_r1.core.errors import JudgeError

DEEPREVIEW = SOURCES.get("deepreview")
REVIEW = r"""I will think first. \boxed_simreviewers{
## Summary:

Not this one.
}
So:

\boxed_review{
## Summary:

The paper sorts stones by weight with a balance built from \frac{1}{2} a beam.

## Soundness:

3.25

## Strengths:

1. The balance is cheap and anyone who can drill a hole can build it.
2. The data are open.

## Weaknesses:

Only 40 stones were weighed.
None of them was wet.

The error of 2.5 percent is not explained.

## Questions:

- Why 40?
- Why stones?

## Rating:

6.75

## Decision:

Accept
}"""
STEPS = [
    r"Summary: The paper sorts stones by weight with a balance built from \frac{1}{2} a beam.",
    "Strengths: The balance is cheap and anyone who can drill a hole can build it.",
    "The data are open.",
    "Weaknesses: Only 40 stones were weighed. None of them was wet.",
    "The error of 2.5 percent is not explained.",
    "Questions: Why 40?",
    "Why stones?",
]


def prose(count: int, seed: int = 0) -> str:
    rng = Random(seed)
    return " ".join(
        rng.choice(["stone", "beam", "weight", "pan", "drill", "river", "sand", "cord"]) for _ in range(count)
    )


PAPER = rf"\section{{Method}} We weigh 40 stones ($1{{,}}250$ g in all) with an error of 2.50\%. {prose(3000)}"
SHORT = f"Method\nWe weigh 40 stones, 1,250 g in all, with an error of 2.5%. {prose(900, 1)}"
ROW: dict[str, Any] = {
    "id": "abc",
    "title": "On stones",
    "paper_context": PAPER,
    "decision": "Accept (Poster)",
    "review": [{"id": "r1", "rating": "6: ok", "content": {"summary": "Human."}}],
    "pred_fast_mode": "",
    "pred_standard_mode": "",
    "pred_best_mode": REVIEW,
}
MESSAGES = [{"role": "system", "content": "You review."}, {"role": "user", "content": PAPER}]
HUB_ROW = {
    "inputs": json.dumps(MESSAGES),
    "outputs": json.dumps([{"role": "assistant", "content": "thoughts"}, {"role": "assistant", "content": REVIEW}]),
    "year": "2024",
    "id": "abc",
    "mode": "Best Mode",
    "rating": "[6, 7]",
    "decision": "Accept",
    "reviewer_comments": "[]",
}


def test_a_teacher_condenses_the_paper(tmp_path: Path) -> None:
    teacher = FunctionTeacher(lambda request: SHORT)
    (case,), skipped, rejected = gather(DEEPREVIEW, write_rows(tmp_path / "s.jsonl", [ROW]), teacher)
    assert not skipped
    assert not rejected
    assert (case.domain, case.source, case.decision) == ("academic", "deepreview/abc", "Accept (Poster)")
    assert case.context == f"On stones\n\n{SHORT}"
    assert case.reference == "\n".join(f"{n}. {step}" for n, step in enumerate(STEPS, 1))
    assert case.meta["paper_words"] == len(PAPER.split())
    assert (case.meta["group"], case.meta["written"], case.meta["teacher"]) == ("abc", "context", "toy")
    (request,) = teacher.requests
    assert between(request.user, "paper") == PAPER
    assert between(request.user, "review") == case.reference
    assert f"{ASKED[0]} to {ASKED[1]} words" in request.user
    assert "Human." not in request.user


def test_both_layouts_give_the_same_case(tmp_path: Path) -> None:
    teacher = FunctionTeacher(lambda request: SHORT)
    (tmp_path / "sample.json").write_text(json.dumps([ROW | {"decision": "Accept", "title": ""}]))
    with (tmp_path / "train.csv").open("w", newline="") as out:
        writer = csv.DictWriter(out, list(HUB_ROW))
        writer.writeheader()
        writer.writerows([HUB_ROW | {"mode": "Fast Mode"}, HUB_ROW | {"mode": "standard_mode"}, HUB_ROW])
    (first,), _, _ = gather(DEEPREVIEW, tmp_path / "sample.json", teacher)
    (second,), skipped, _ = gather(DEEPREVIEW, tmp_path / "train.csv", teacher)
    assert first.case_id == second.case_id
    assert skipped == {"deepreview: a review of another mode": 2}
    parsed = write_rows(tmp_path / "p.jsonl", [HUB_ROW | {"inputs": MESSAGES, "mode": "best"}])
    assert gather(DEEPREVIEW, parsed, teacher)[0][0].case_id == first.case_id


def test_the_last_boxed_review_is_used_without_scores_and_verdict() -> None:
    sections = review_sections(REVIEW)
    assert list(sections) == [
        "summary", "soundness", "strengths", "weaknesses", "questions", "rating", "decision"
    ]  # fmt: skip
    assert sections["decision"] == "Accept"
    assert review_of(sections, Changes()) == STEPS
    assert review_sections("no box") == {}
    assert review_sections("\\boxed_review{\n## Decision:\nReject}") == {"decision": "Reject"}
    assert [verdict(text) for text in ("Accept (oral)", "reject", "Withdrawn", "accept or reject")] == [
        "accept", "reject", None, None
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"paper_context": ""}, "no paper"),
        ({"pred_best_mode": "I will think."}, r"no review in \boxed_review{}"),
        ({"pred_best_mode": None}, r"no review in \boxed_review{}"),
        ({"paper_context": prose(CONDENSED[1])}, "a paper of less than 2500 or more than 40000 words"),
        ({"paper_context": prose(40_001)}, "a paper of less than 2500 or more than 40000 words"),
        ({"decision": "Withdrawn"}, "neither accepted nor rejected"),
        ({"decision": "Reject"}, "a review that decides otherwise than the venue"),
    ],
)
def test_skipped_records_are_counted_without_requests(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    teacher = FunctionTeacher(lambda request: SHORT)
    cases, skipped, _ = gather(DEEPREVIEW, write_rows(tmp_path / "s.jsonl", [ROW | changes]), teacher)
    assert not cases
    assert not teacher.requests
    assert skipped == {f"deepreview: {reason}": 1}


@pytest.mark.parametrize(
    ("answer", "kind", "advice"),
    [
        (f"{SHORT} We found 41.", "has numbers of its own", "these numbers: 41."),
        (prose(CONDENSED[0] - 1), "has the wrong length", "It has 499 words, not 800 to 1800."),
        (prose(CONDENSED[1] + 1), "has the wrong length", "It has 2501 words"),
        (
            f"{SHORT} Anyone who can drill a hole can build it.",
            "repeats the review",
            'the review: "anyone who can drill a hole can build".',
        ),
    ],
)
def test_invalid_condensations_are_rejected(answer: str, kind: str, advice: str, tmp_path: Path) -> None:
    def reply(request: TeacherRequest) -> str:
        return SHORT if "not accepted" in request.user else answer

    teacher = FunctionTeacher(reply)
    (case,), skipped, rejected = gather(DEEPREVIEW, write_rows(tmp_path / "s.jsonl", [ROW]), teacher)
    assert case.context.endswith(SHORT)
    assert not skipped
    assert rejected == {f"deepreview: {kind}": 1}
    assert advice in teacher.requests[1].user


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (HUB_ROW | {"mode": "Slow"}, r"line 1: column 'mode' must be Fast, Standard or Best Mode, not 'Slow'"),
        (HUB_ROW | {"inputs": "["}, r"column 'inputs' must hold messages as JSON, not str"),
        (HUB_ROW | {"outputs": "[]"}, r"column 'outputs' must hold a list of messages \{role, content\}"),
        (HUB_ROW | {"outputs": [{"role": "x"}]}, r"column 'outputs' must hold a list of messages"),
        ({"title": "T", "sections": [], "messages": []}, r"'outputs' is missing: these are rows of Research-14K"),
    ],
)
def test_an_invalid_column_is_reported(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=message):
        gather(DEEPREVIEW, write_rows(tmp_path / "s.jsonl", [row]), FunctionTeacher(lambda request: SHORT))
