"""The last complete score on the scale of 1 to 5 counts. Layouts, ranges and other scales are no scores."""

import pytest

from judge_r1.judges.memo.metrics import FLUENCY
from judge_r1.judges.memo.parser import parse_evaluation


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("FINAL Fluency Score: [1-5]\nFINAL Fluency Score: 4", 4.0),
        ("FINAL Fluency Score: [1-5]", None),
        ("FINAL Fluency Score: 4/10", None),
        ("FINAL Fluency Score: 4%", None),
        ("FINAL Fluency Score: 3-4", None),
        ("FINAL Fluency Score: 3.5 - 4", None),
        ("FINAL Fluency Score: 4 out of 10", None),
        ("FINAL Fluency Score: 4/50", None),
        ("Fluency Score: 2\nSection 2\nFluency Score: 3\nFINAL Fluency Score: 4", 4.0),
        ("**Fluency Score:** 2\nSection 2\nFluency Score: 3", 3.0),
        ("FINAL Fluency Score: 2\nOn reflection:\nFINAL Fluency Score: 3.5/5", 3.5),
        ("FINAL Fluency Score: 4 out of 5", 4.0),
        ("FINAL Fluency Score: 4.", 4.0),
        ("FINAL Fluency Score: 9", None),
    ],
)
def test_the_score_of_an_answer(answer: str, score: float | None) -> None:
    assert parse_evaluation(answer, [FLUENCY]).scores == {"fluency": score}
