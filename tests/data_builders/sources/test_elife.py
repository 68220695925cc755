"""eLife: a case per round of a decision letter and per report on a preprint; contexts contain no review."""

import re
from collections import Counter
from pathlib import Path

import pytest

from data_builders.sources.corpus_io import SourceError
from data_builders.sources.elife import read
from judge_r1.core.records import Case

FORM = "In the interests of transparency, eLife includes the letter."
GREETING = "Thank you for submitting your article for consideration by eLife."
DECISION = "The Reviewing Editor has drafted this to help you prepare a revised submission."
POINTS = ["Essential revisions:", "1) Give the temperature.", "2) Count again.", "3) Cite Doe (2001)."]
ASSESSMENT = "This important study is convincing."


def letter(*paragraphs: str, kind: str = "decision-letter", where: str = "sa1") -> str:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f'<sub-article article-type="{kind}" id="{where}"><body>{text}</body></sub-article>'


def article(
    *parts: str, kind: str = "research-article", title: str = "On stones", body: str = "<p>We count.</p>"
) -> str:
    return (
        f'<article article-type="{kind}" xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>'
        f'<article-id pub-id-type="publisher-id">7</article-id><title-group><article-title>{title}</article-title>'
        '</title-group><permissions><license xlink:href="by/4.0"/></permissions></article-meta></front>'
        f"<body>{body}</body>{''.join(parts)}</article>"
    )


def found(folder: Path, limit: int | None = None, **files: str) -> tuple[list[Case], Counter[str]]:
    (folder / "xml").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / "xml" / f"{name.replace('_', '-')}.xml").write_text(text)
    skipped: Counter[str] = Counter()
    return list(read(folder, limit, 0, skipped)), skipped


def test_a_letter_becomes_a_case(tmp_path: Path) -> None:
    parts = letter(FORM, GREETING, DECISION, *POINTS, "Reviewer #1:", "It is nice work.")
    (case,), skipped = found(tmp_path, a=article(parts))
    assert not skipped
    assert (case.domain, case.source, case.license) == ("academic", "elife/7/sa1-1", "by/4.0")
    assert case.context == "On stones\n\nWe count."
    assert case.decision == DECISION
    assert case.reference == "1. Essential revisions: Give the temperature.\n2. Count again.\n3. Cite Doe (2001)."
    assert case.meta == {
        "group": "elife-7", "file": "xml/a.xml", "context_version": "revised after the review", "dropped": 3,
        "cut_words": 6,
    }  # fmt: skip


def test_preprint_reports_are_cases_with_the_assessment_as_decision(tmp_path: Path) -> None:
    report = ("I read it.", "It is short.", "Count again.")
    parts = [
        letter(ASSESSMENT, kind="editor-report", where="sa0"),
        letter(*report, kind="referee-report", where="sa1"),
        letter(*report[::-1], kind="referee-report", where="sa2"),
        letter("We thank you.", kind="author-comment", where="sa3"),
    ]
    cases, skipped = found(tmp_path, a=article(*parts))
    assert [case.source for case in cases] == ["elife/7/sa1", "elife/7/sa2"]
    assert {case.decision for case in cases} == {ASSESSMENT}
    assert {case.meta["context_version"] for case in cases} == {"as reviewed"}
    assert not skipped
    assert found(tmp_path, limit=1)[0] == cases[:1]


def test_skipped_records_are_counted_by_reason(tmp_path: Path) -> None:
    good = letter(DECISION, *POINTS)
    cases, skipped = found(
        tmp_path,
        a=article(good, kind="correction"),
        b=article(good, title="RETRACTED: On stones"),
        c=article(good, body=""),
        d=article(letter("Dear editor", kind="reply")),
        e=article(letter(*POINTS)),
        f=article(letter(DECISION, "Fine.")),
        g_v1=article(good),
        g_v2=article(good),
    )
    assert [case.meta["file"] for case in cases] == ["xml/g-v2.xml"]
    assert skipped == {
        "elife: article of type correction": 1, "elife: retracted article": 1, "elife: article without a body": 1,
        "elife: no decision letter or referee report": 1, "elife: no decision stated": 1,
        "elife: review with too few points": 1, "elife: older version of an article": 1,
    }  # fmt: skip


def test_version_ten_is_later_than_version_nine(tmp_path: Path) -> None:
    cases, _ = found(tmp_path, a_v9=article(letter(DECISION, *POINTS)), a_v10=article(letter(DECISION, *POINTS)))
    assert [case.meta["file"] for case in cases] == ["xml/a-v10.xml"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("publisher-id", "doi", r"a\.xml: field front/article-meta/article-id.*publisher-id.* is missing"),
        ('xlink:href="by/4.0"', "", r"a\.xml: field front/article-meta/permissions/license has no xlink:href"),
    ],
)
def test_a_missing_field_is_reported(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=message):
        found(tmp_path, a=article(letter(DECISION, *POINTS)).replace(old, new))


def test_an_empty_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="xml holds no article"):
        found(tmp_path)


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


@pytest.mark.real_data
def test_real_articles_contain_no_review_text_except_quotes(real_data: Path) -> None:
    skipped: Counter[str] = Counter()
    cases = list(read(real_data, None, 0, skipped))
    assert len(cases) == 17
    assert skipped == {"elife: review with too few points": 2, "elife: retracted article": 1}
    assert len({case.meta["group"] for case in cases}) == 15
    assert Counter(case.meta["group"] for case in cases).most_common(2) == [("elife-09580", 2), ("elife-85111", 2)]
    steps = copied = 0
    for case in cases:
        context = words(case.context)
        assert len(context.split()) > 3500, case.source
        assert words(case.decision) not in context
        for phrase in ("decision letter", "essential revisions", "author response", "reviewer 1", "reviewing editor"):
            assert phrase not in context, case.source
        for line in case.reference.split("\n"):
            step = words(line).split()[1:]
            steps += 1
            copied += any(" ".join(step[at : at + 20]) in context for at in range(max(1, len(step) - 19)))
            assert not re.match(r"\d+\. (?:Thank you for|In the interests|eLife posts)", line)
    assert steps > 130
    assert copied <= 0.05 * steps
