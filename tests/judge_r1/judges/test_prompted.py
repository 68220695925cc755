"""The prompt judge: reading one of its allowed answers, and its options."""

from pathlib import Path

import pytest

from judge_r1.core.errors import JudgeError
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict, ScoresVerdict
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_judge
from judge_r1.judges.prompted import NO_ANSWER, SEVERAL, AnswerReader, read_answers


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("pass", 0),
        ("It fails here, so:\n**Fail**.", 1),
        ('{"label": "fail", "reason": "it should pass"}', 1),
        ('{"label": "pass"}\n```json\n{"verdict": "fail"}\n```', 1),
        ("pass\nno, rather:\nfail", 1),
    ],
)
def test_the_last_allowed_answer_counts(text: str, place: int) -> None:
    assert AnswerReader(("pass", "fail"))(text) == ScoresVerdict(scores=(float(place),))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("It passes.", NO_ANSWER),
        ("", NO_ANSWER),
        ('{"label": "maybe"}', NO_ANSWER),
        ('{"label": "pass", "verdict": "fail"}', SEVERAL),
    ],
)
def test_other_texts_are_no_answer(text: str, reason: str) -> None:
    assert AnswerReader(("pass", "fail"))(text) == InvalidVerdict(reason=reason)


def test_numbers_and_sides() -> None:
    scale = AnswerReader(read_answers("1-5"))
    assert scale('{"score": 4.0}') == ScoresVerdict(scores=(3.0,))
    assert scale("4/5") == InvalidVerdict(reason=NO_ANSWER)
    sides = AnswerReader(read_answers("A/B/tie"))
    assert [sides(text) for text in ("a", "B", "tie")] == [
        PairwiseVerdict(winner="A"),
        PairwiseVerdict(winner="B"),
        PairwiseVerdict(winner="tie"),
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("answers=pass/fail", "needs file=…"),
        ("file={file}", "needs answers=…"),
        ("file={file},answers=pass", "two different answers"),
        ("file={file},answers=5-1", "no scale"),
        ("file={file},answers=A/B", "has no field $a"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, options: str, said: str) -> None:
    file = tmp_path / "p.txt"
    file.write_text("$output")
    with pytest.raises(JudgeError, match=said.replace("$", r"\$")):
        make_judge(f"prompt:{options.format(file=file)}@http://127.0.0.1:9/v1#m", JudgeBuild(""))
