"""The text of a report is stable: its layout is that of the published reports."""

from judge_r1.core.memory import DocumentMemory, SectionNote
from judge_r1.judges.memo.aggregate import aggregated
from judge_r1.judges.memo.metrics import COHERENCE, FLUENCY
from judge_r1.judges.memo.pipeline import render_report

MEMORY = DocumentMemory(
    document="d",
    metrics=("fluency", "coherence"),
    sections=(
        SectionNote(
            number=1,
            start=0,
            end=300,
            scores={"fluency": 4.5, "coherence": 4.0},
            issues={"fluency": {"[GRAMMAR]": ("a verb is missing",)}, "coherence": {"[LOGIC]": ("one", "two")}},
        ),
        SectionNote(
            number=2,
            start=301,
            end=401,
            scores={"fluency": None, "coherence": 2.0},
            issues={"fluency": {}, "coherence": {"[LOGIC]": ("three",)}},
            summary="Rain fell.",
            ended="length",
        ),
    ),
)
BY_SECTION = """=== Evaluation Report ===

Section section_01 (Chars 0–300):
Scores:
  - Fluency: 4.5
  - Coherence: 4.0
Issues:
  Fluency Issues:
    - [GRAMMAR]:
        • a verb is missing
  Coherence Issues:
    - [LOGIC]:
        • one
        • two

Section section_02 (Chars 301–401):
Section Summary: Rain fell.
Scores:
  - Fluency: not given
  - Coherence: 2.0
Issues:
  Fluency Issues: None
  Coherence Issues:
    - [LOGIC]:
        • three
"""
BY_TAG = """=== Evaluation Report ===

Fluency Issues:
    - [GRAMMAR]:
        • section_01: a verb is missing

Coherence Issues:
    - [LOGIC]:
        • section_01: one
        • section_01: two
        • section_02: three

Section Summaries:
section_02: Rain fell.

=== Section Scores ===
Section section_01 (Chars 0–300):
  - Fluency: 4.5
  - Coherence: 4.0
Section section_02 (Chars 301–401):
  - Fluency: not given
  - Coherence: 2.0
"""


def test_the_report_by_section() -> None:
    assert render_report(MEMORY, (FLUENCY, COHERENCE)) == BY_SECTION


def test_the_report_by_tag() -> None:
    assert render_report(MEMORY, (FLUENCY, COHERENCE), by_tag=True) == BY_TAG


def test_aggregations_leave_missing_scores_out() -> None:
    assert aggregated(MEMORY) == {
        "char_mean": {"fluency": 4.5, "coherence": 3.5},
        "section_mean": {"fluency": 4.5, "coherence": 3.0},
        "min": {"fluency": 4.5, "coherence": 2.0},
    }
    nothing = MEMORY.model_copy(update={"metrics": ("style",)})
    assert aggregated(nothing) == {name: {"style": None} for name in ("char_mean", "section_mean", "min")}
    assert (MEMORY.missing_scores, MEMORY.truncated) == (1, 1)
