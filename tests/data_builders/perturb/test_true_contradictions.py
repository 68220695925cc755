"""Changes of values in real references: rules confirm most true contradictions, and no value in another form.

Both lists were written before the rules.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from data_builders.perturb.teacher.label_checks import contradicts, restates
from data_builders.perturb.teacher.text_diff import find_changes
from data_builders.sources import SOURCES
from data_builders.text_units.edits import apply_edits
from data_builders.text_units.steps import split_steps
from judge_r1.core.records import Case

pytestmark = pytest.mark.real_data
FOLDERS = {
    "medrbench": "medical_medrbench",
    "echr": "legal_echr_argmining",
    "f1000rd": "academic_f1000rd",
    "elife": "academic_elife",
}
TRUE = [
    ("medrbench", 15, "risk of 16%", "risk of 26%"),
    ("medrbench", 19, "while low Ki67", "while high Ki67"),
    ("medrbench", 55, "(50 mg PO TID)", "(75 mg PO TID)"),
    ("medrbench", 14, "p.Gly1050Ala", "p.Gly1500Ala"),
    ("medrbench", 34, "positive CD34", "positive CD43"),
    ("medrbench", 46, "identified CD38+", "identified CD138+"),
    ("medrbench", 0, "(CD117, DOG-1)", "(CD171, DOG-1)"),
    ("echr", 0, "detained on 28 June 2000", "detained on 28 July 2000"),
    ("echr", 0, "only on 14 October 2000", "only on 14 November 2000"),
    ("echr", 2, "three bypass roads", "two bypass roads"),
    ("echr", 2, "40 km/h", "60 kilometres per hour"),
    ("echr", 2, "from 1998 onwards", "from 1996 onwards"),
    ("echr", 2, "In 2001 further", "In 2003 further"),
    ("echr", 3, "detention after 3 January 2007", "detention after 3 June 2007"),
    ("echr", 4, "and October 1994", "and October 1995"),
    ("echr", 6, "6 July 2011", "6 May 2011"),
    ("echr", 7, "care order of 11 February 2005", "care order of 11 April 2005"),
    ("echr", 8, "to 5 May 2008", "to 5 May 2007"),
    ("echr", 1, "within three days", "within seven days"),
    ("f1000rd", 1, "160M reads", "120 million reads"),
    ("f1000rd", 1, "for 16 tissues", "for twelve tissues"),
    ("f1000rd", 4, "60 second period", "two-minute period"),
    ("f1000rd", 5, "70% of surveyed", "57% of surveyed"),
    ("f1000rd", 10, "0.0012% general", "0.012% general"),
    ("f1000rd", 12, "432 mg/dL", "342 mg/dL"),
    ("f1000rd", 15, "65 year-old lady", "56 year-old lady"),
    ("f1000rd", 17, "0.5 million eggs", "5 million eggs"),
    ("f1000rd", 18, "about 200 ml", "about 2 L"),
    ("elife", 7, "of 15 SNARE", "of 25 SNARE"),
    ("f1000rd", 14, "two cases", "three cases"),
]
"""(source, number of the case in it, text of the reference, false text)."""
SAME = [
    ("medrbench", 15, "risk of 16%", "risk of sixteen per cent"),
    ("medrbench", 55, "(50 mg PO TID)", "(0.05 g PO TID)"),
    ("echr", 0, "28 June 2000", "June 28, 2000"),
    ("echr", 0, "14 October 2000", "2000-10-14"),
    ("echr", 2, "three bypass", "3 bypass"),
    ("echr", 2, "40 km/h", "40 kilometres per hour"),
    ("echr", 1, "three days", "72 hours"),
    ("f1000rd", 1, "160M reads", "160 million reads"),
    ("f1000rd", 4, "60 second", "one-minute"),
    ("f1000rd", 5, "70% of surveyed", "seventy percent of surveyed"),
    ("f1000rd", 12, "432 mg/dL", "4.32 g/L"),
    ("f1000rd", 15, "65 year-old", "sixty-five-year-old"),
    ("f1000rd", 17, "0.5 million", "500,000"),
    ("f1000rd", 18, "200 ml", "0.2 L"),
    ("elife", 7, "15 SNARE", "fifteen SNARE"),
    ("f1000rd", 14, "two cases", "2 cases"),
]
"""The same with a text that says the same."""
Row = tuple[str, int, str, str]


@cache
def cases(source: str, data: Path) -> Sequence[Case]:
    return list(SOURCES.get(source).read(data / FOLDERS[source], 56, 0, Counter()))


def checked(row: Row, data: Path) -> tuple[bool | None, bool]:
    source, number, old, new = row
    case = cases(source, data)[number]
    changes = find_changes(case.reference, split_steps(case.reference), case.reference.replace(old, new, 1))
    assert changes is not None
    [change] = changes
    flawed, [span] = apply_edits(case.reference, [change.edit])
    replaced = case.reference[change.edit.start : change.edit.end]
    return contradicts(case, flawed, span, replaced), restates(flawed, span, replaced)


def test_most_true_contradictions_are_confirmed_and_none_is_refuted(real_data: Path) -> None:
    assert Counter(checked(row, real_data)[0] for row in TRUE) == {True: 25, None: 5}


@pytest.mark.parametrize("row", SAME)
def test_a_value_in_another_form_is_no_contradiction(row: Row, real_data: Path) -> None:
    assert checked(row, real_data) == (None, True)
