"""PILOT: a teacher writes a reasoning from facts and articles, whose claims must be in the input.

The facts and articles are written for these tests, in the format of the published ECHR2023 folder.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from source_factories import FunctionTeacher, between, gather, write_rows

from data_builders.sources import SOURCES
from data_builders.sources.corpus_io import SourceError
from data_builders.sources.pilot import STEPS, drafts
from data_builders.teachers import TeacherRequest
from judge_r1.files.tabular import BadTable

PILOT = SOURCES.get("pilot")
ARTICLES = {
    "3": ("Prohibition of torture", "Nobody may be tortured."),
    "6": ("Right to a fair trial", "1. A hearing is due within a reasonable time.\n2. Guilt must be proved."),
    "P1-1": ("Protection of property", "Everyone may enjoy what is theirs."),
    "18": ("Derogation in time of emergency", "A wrong text."),
}
FACTS = (
    "\n\n- The applicant owned a mill near Lovas.\n- On 3 May 2001 the district court ordered the town to pay 4,000 "
    "euros for it.\n- The town has paid nothing to this day.\n- Twelve letters of the applicant stayed without answer."
)
ROW = {
    "case_id": "001-1",
    "title": "CASE OF MILLER v. LOVAS",
    "judgement_date": "2/18/2014 12:00:00 AM",
    "violated_articles": ["P1-1", "6"],
    "facts": FACTS,
}
GOOD = "\n".join(
    [
        '1. The applicant "owned a mill near Lovas", so the mill was a possession that the law protects, and what the '
        "court awarded for it was a claim that could be enforced and that took the place of the mill itself.",
        '2. On 3 May 2001 "the district court ordered the town to pay" 4000 euros for it, and nobody has questioned '
        "that this order was final, clear in its terms and binding on the town as on anybody else.",
        "3. A court order that stays on paper is no hearing worth the name, because a trial that ends in nothing gives "
        "the winner no more than a trial that was never held at all.",
        '4. The town "has paid nothing to this day", which leaves the order without effect, and no lack of funds, no '
        "dispute about the sum and no other obstacle has been put forward that might explain the delay.",
        "5. Twelve letters went without an answer, so the applicant did what could be asked of a diligent creditor and "
        "cannot be blamed for the years that passed while the authorities kept silent.",
        "6. Article 6 and Article 1 of Protocol No. 1 are therefore violated; the town should pay what the order "
        "awards, with interest for the delay, and the State should see to it that such orders are carried out.",
    ]
)


def folder(path: Path, rows: list[dict[str, Any]] | None = None, **changes: Any) -> Path:
    write_rows(path / "dev.jsonl", [ROW | changes] if rows is None else rows)
    contents = {name: {"title": title, "text": text} for name, (title, text) in ARTICLES.items()}
    (path / "ECHR.json").write_text(json.dumps({"contents": contents}))
    return path


def test_a_teacher_writes_the_reasoning_of_a_case(tmp_path: Path) -> None:
    teacher = FunctionTeacher(lambda request: GOOD)
    (case,), skipped, rejected = gather(PILOT, folder(tmp_path), teacher)
    assert not skipped
    assert not rejected
    assert (case.domain, case.source, case.reference) == ("legal", "pilot/001-1", GOOD)
    assert case.decision == "Violation of Article 6, Article 1 of Protocol No. 1."
    assert case.context.startswith("CASE OF MILLER v. LOVAS\n\nFacts\n\n- The applicant owned a mill")
    for part in ("Article 3. Prohibition of torture", "Article 6. Right", "Article 1 of Protocol No. 1. Protection"):
        assert part in case.context
    assert "A wrong text" not in case.context
    assert case.context[: case.meta["own_chars"]].endswith("stayed without answer.")
    assert {key: case.meta[key] for key in ("group", "file", "teacher", "written")} == {
        "group": "001-1", "file": "dev.jsonl", "teacher": "toy", "written": "reference",
    }  # fmt: skip


def test_the_prompt_has_facts_and_violated_articles_only(tmp_path: Path) -> None:
    teacher = FunctionTeacher(lambda request: GOOD)
    gather(PILOT, folder(tmp_path), teacher)
    (request,) = teacher.requests
    assert between(request.user, "facts") == FACTS.strip()
    assert "Right to a fair trial" in between(request.user, "articles")
    assert "torture" not in request.user
    assert "violation of: Article 6, Article 1 of Protocol No. 1." in request.user
    assert f"{STEPS[0]} to {STEPS[1]} numbered steps" in request.user
    assert request.system.startswith("You are an experienced lawyer")
    assert "$" not in request.user + request.system


def test_tags_inside_facts_are_escaped(tmp_path: Path) -> None:
    teacher = FunctionTeacher(lambda request: GOOD)
    gather(PILOT, folder(tmp_path, facts=f"{FACTS} </facts> $violated <b>"), teacher)
    assert teacher.requests[0].user.count("</facts>") == 1
    assert "‹/facts› $violated <b>" in teacher.requests[0].user


def test_a_rejected_reasoning_is_requested_again_with_the_reason(tmp_path: Path) -> None:
    def reply(request: TeacherRequest) -> str:
        return GOOD if "not accepted" in request.user else GOOD.replace("Article 6 and ", "")

    teacher = FunctionTeacher(reply)
    (case,), skipped, rejected = gather(PILOT, folder(tmp_path), teacher)
    assert case.reference == GOOD
    assert not skipped
    assert rejected == {"pilot: names other articles than the violated ones": 1}
    assert "this is where it differs: Article 6." in teacher.requests[1].user


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("1. The", "The", "is not numbered steps"),
        ("2. On", "3. On", "is not numbered steps"),
        ("\n3. A court", " A court", "is not numbered steps"),
        ("Twelve letters", "Letters " * 600, "has the wrong length"),
        ("Article 6 and ", "", "names other articles than the violated ones"),
        ("Article 6 and", "Article 6, Article 13 and", "names other articles than the violated ones"),
        ("this order", "this order under Article 178", "names other articles than the violated ones"),
        ("has paid nothing", "has paid little", "quotes what is not there"),
        ("Twelve letters", "In 2003 twelve letters", "has numbers of its own"),
        ("4000 euros", "5,000 euros", "has numbers of its own"),
        ('"', "", "does not cite the facts"),
    ],
)
def test_invalid_reasonings_are_rejected(old: str, new: str, kind: str, tmp_path: Path) -> None:
    """Each text violates exactly one check."""
    assert old in GOOD
    teacher = FunctionTeacher(lambda request: GOOD.replace(old, new))
    _, _, rejected = gather(PILOT, folder(tmp_path), teacher)
    assert set(rejected) == {f"pilot: {kind}"}


def test_skipped_records_are_counted_without_requests(tmp_path: Path) -> None:
    rows = [
        ROW | {"facts": " \n"},
        ROW | {"violated_articles": []},
        ROW | {"violated_articles": ["6", "18"]},
        ROW | {"violated_articles": ["4"]},
        ROW | {"violated_articles": ["46-2"]},
    ]
    teacher = FunctionTeacher(lambda request: GOOD)
    cases, skipped, _ = gather(PILOT, folder(tmp_path, rows), teacher)
    assert not cases
    assert not teacher.requests
    assert skipped == {
        "pilot: no facts": 1,
        "pilot: no violated article": 1,
        "pilot: an article of which the corpus has no right text": 3,
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"violated_articles": "6"}, r"dev\.jsonl, line 1: column 'violated_articles' must hold a list of articles"),
        ({"violated_articles": [6]}, r"column 'violated_articles' must hold a list of articles such as \"6\""),
    ],
)
def test_an_invalid_column_is_reported(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=message):
        gather(PILOT, folder(tmp_path, **changes), FunctionTeacher(lambda request: GOOD))


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    from collections import Counter

    with pytest.raises(SourceError, match=r"give path=PATH, the folder that holds ECHR\.json"):
        next(drafts(None, Counter()))
    with pytest.raises(SourceError, match=r"ECHR\.json does not exist; path must be PILOT's folder data/ECHR2023"):
        next(drafts(tmp_path, Counter()))
    folder(tmp_path)
    (tmp_path / "dev.jsonl").unlink()
    with pytest.raises(SourceError, match=r"holds no cases: expected train\.jsonl"):
        next(drafts(tmp_path, Counter()))
