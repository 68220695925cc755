"""P4 in generated cases states a detail of another case, which this case does not have."""

from random import Random

from perturb_factories import case_of, steps_of

from data_builders.perturb.rules.adapted_facts import with_names_of_case, with_years_of_case
from data_builders.perturb.rules.corpus_facts import CorpusFacts
from data_builders.perturb.rules.operators import Edit
from data_builders.perturb.rules.p4_details import ForeignDetails
from judge_r1.core.records import Case

KINDS = {"surveyor": 0, "plumber": 1, "gardener": 2}
"""The number of a toy detail by the person that it names."""


def detail_kind(domain: str, text: str) -> int | None:
    return next((kind for person, kind in KINDS.items() if person in text), None) if domain == "legal" else None


ROAD = "The owner was heard by the judge in spring."
OWN = "A surveyor was paid for a sketch of the garden wall."
OTHERS = ("A plumber was called to the cellar in the winter.", "The gardener was ill for most of the summer.")
CASE = case_of("legal", f"{ROAD} {OWN}", f"1. The claim is sound. {OWN}\n2. It succeeds. {ROAD}")
OTHER = case_of("legal", f"{ROAD} {' '.join(OTHERS)}", "1. The claim fails.")
MEDICAL = case_of("medical", "The lamp of the ward was out for two nights.", "1. It was dark.")


def edits(pool: ForeignDetails, case: Case) -> list[Edit]:
    [operator] = pool.operators
    found = (operator.apply(case, step, Random(n)) for step in steps_of(case) for n in range(30))
    return [edit for edit in found if edit is not None]


def test_a_detail_takes_the_place_of_a_detail_and_comes_from_another_case() -> None:
    found = edits(ForeignDetails(CorpusFacts([CASE, OTHER, MEDICAL], detail_kind)), CASE)
    assert {next(text for text in OTHERS if text in edit.replacement) for edit in found} == set(OTHERS)
    assert {CASE.reference[edit.start : edit.end] for edit in found} == {OWN}
    assert all(edit.context_spans == () for edit in found)


def test_a_detail_that_the_case_has_is_not_taken() -> None:
    both = case_of("legal", f"{CASE.context} {' '.join(OTHERS)}", CASE.reference)
    assert not edits(ForeignDetails(CorpusFacts([CASE, OTHER], detail_kind)), both)


def test_a_detail_is_of_the_same_domain() -> None:
    assert not edits(ForeignDetails(CorpusFacts([CASE, MEDICAL], detail_kind)), CASE)


def test_a_foreign_fact_gets_names_of_the_case_of_the_same_kind() -> None:
    case = case_of("legal", "Mr Adler wrote to the Lublin District Court. Mr Sowa was heard in Poland.", "1. He left.")
    stated = "Mr Kowal wrote to the Warsaw District Court, and Mr Kowal was heard."
    given = {with_names_of_case(case, stated, Random(n)) for n in range(20)}
    assert given == {
        f"{name} wrote to the Lublin District Court, and {name} was heard." for name in ("Mr Adler", "Mr Sowa")
    }
    assert with_names_of_case(case, "She was heard in Poland.", Random(0)) == "She was heard in Poland."
    for unknown in ("She was heard in Austria.", "The claim was sent to the Vilnius Regional Office."):
        assert with_names_of_case(case, unknown, Random(0)) is None


def test_the_years_of_a_foreign_fact_become_years_of_the_case() -> None:
    case = case_of("legal", "He came in 2004 and left in 2007.", "1. He left.")
    foreign = "On 3 May 1991 she moved, and in 1993 she returned."
    moved = {with_years_of_case(case, foreign, Random(n)) for n in range(20)}
    assert moved == {None, "On 3 May 2004 she moved, and in 2006 she returned."}
    assert with_years_of_case(case, "She moved in May.", Random(0)) == "She moved in May."
    assert with_years_of_case(case_of("legal", "He came.", "1. He left."), "She moved in 1991.", Random(0)) is None
