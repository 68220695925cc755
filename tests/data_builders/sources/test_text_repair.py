"""What extraction from PDF did to a text is undone where it is certain, counted, and left elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.sources.text_repair import CITATIONS, Changes, changes_as_meta, repaired


@pytest.mark.parametrize(
    ("text", "expected", "kind"),
    [
        ("pulmonary ﬁbrosis, eﬀect, ﬂow, oﬃce", "pulmonary fibrosis, effect, flow, office", "ligatures"),
        ("inter\u00adnational", "international", "soft hyphens"),
        ("cardio\u00ad\nvascular", "cardiovascular", "soft hyphens"),
        ("investigation, inves-\ntigation", "investigation, investigation", "words broken at a line end"),
        ("an Investigation INVES-\n  TIGATION", "an Investigation INVESTIGATION", "words broken at a line end"),
        ("a well-\nknown fact", "a well-known fact", "words broken at a line end"),
        ("HIV-\npositive", "HIV-positive", "words broken at a line end"),
        ("the Anglo-\nSaxon king", "the Anglo-Saxon king", "words broken at a line end"),
        ("long-term use, long-\nterm harm", "long-term use, long-term harm", "words broken at a line end"),
        ("a long road, a term; long-\nterm", "a long road, a term; long-term", "words broken at a line end"),
        ("preoperative care, pre-\noperative", "preoperative care, preoperative", "words broken at a line end"),
        ("WBC 3.8 × 109/L", "WBC 3.8 × 10^9/L", "powers of ten"),
        ("311×103/μL", "311×10^3/μL", "powers of ten"),
        ("5 x 106 cells", "5 x 10^6 cells", "powers of ten"),
        ("4 × 10 8 reads", "4 × 10^8 reads", "powers of ten"),
        ("WBC 26.2 10 3 /µL", "WBC 26.2 10^3 /µL", "powers of ten"),
        ("0.978 × 10−3 mm2/s", "0.978 × 10^−3 mm2/s", "powers of ten"),
        ("2 × 10 −5 M", "2 × 10^−5 M", "powers of ten"),
        ("2 × 10-5 M", "2 × 10^-5 M", "powers of ten"),
        ("were normal.12 He left", "were normal. He left", CITATIONS),
        ("in adults.1,6–11 Although", "in adults. Although", CITATIONS),
        ("of the case.2\n\nIntroduction", "of the case.\n\nIntroduction", CITATIONS),
        ("tumours (CD).7 If", "tumours (CD). If", CITATIONS),
    ],
)
def test_what_is_certain_is_repaired_and_counted(text: str, expected: str, kind: str) -> None:
    changes = Changes()
    assert repaired(text, changes) == expected
    assert set(changes_as_meta(changes)["text_changes"]) == {kind}


@pytest.mark.parametrize(
    "text",
    [
        "a stent of 6 × 109 mm",
        "5 × 10 − 5",
        "5 × 10-12 repetitions",
        "2 × 100 mg",
        "pulse 109/min",
        "6.3 × 109 (normal)",
        "No.5 The rest, Fig.2 The rest, Table.1 Patients, Section.3 Costs",
        "nach Abs.2 Satz 1, Rn.12 Die Klage, Ziff.3 AGB, under Sched.2 Part 1, by Ord.53 RSC, see fn.12 Below",
        "a share of.05 The rest",
        "grew 2.3\nThen",
        "see 10.7717/peerj-cs.86",
        "www.example.org/page.1\nnext",
        "pre- and postoperative, 5-\nfold, -\nitem, well-known",
        "COVID19, type2 and IL6",
        "H₂O, 10⁹/L, m²",
    ],
)
def test_what_may_be_right_stays(text: str) -> None:
    changes = Changes()
    assert repaired(text, changes) == text
    assert changes_as_meta(changes) == {}


@given(st.text(st.sampled_from("aB.1 0×x/L-−\n,()ﬁ\u00ad"), max_size=40))
def test_a_text_is_the_same_exactly_if_no_change_is_counted(text: str) -> None:
    changes = Changes()
    assert (repaired(text, changes) == text) == (not +changes)
