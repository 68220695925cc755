"""Each operator of the rule set `text` applies and abstains where it should, and breaks its principle."""

from random import Random

import pytest
from perturb_factories import (
    CASES,
    FRAGMENTS,
    case_of,
    citing,
    rule,
    step_with,
    steps_of,
)

from data_builders.perturb.rules.edits import apply_edits
from data_builders.perturb.rules.engine import operators
from data_builders.perturb.rules.operators import Edit
from data_builders.perturb.rules.p2_values import _is_like
from data_builders.perturb.rules.steps import numbering
from data_builders.perturb.rules.text_match import contains
from judge_r1.core.records import Case

NAMES = sorted(o.name for rules in operators("text").values() for o in rules)
P2 = sorted(o.name for o in operators("text")[2])


def tries(name: str, case: Case, words: str = "", number: int = 20) -> list[Edit]:
    """The edits of an operator with several seeds, at the step with `words` or at all steps."""
    steps = [step_with(case, words)] if words else steps_of(case)
    edits = [rule(name).apply(case, step, Random(n)) for step in steps for n in range(number)]
    return [edit for edit in edits if edit is not None]


def after(case: Case, edit: Edit) -> str:
    return apply_edits(case.reference, [edit])[0]


def test_each_principle_has_operators() -> None:
    assert {number: {rule.name for rule in found} for number, found in operators("text").items()} == {
        1: {
            "fallacious_remark", "reversed_conclusion", "denied_conclusion", "reversed_link", "circular_reason",
            "foreign_reason", "contradicting_sentence",
        },
        2: {"other_name", "other_attribute", "opposite_attribute", "other_number", "other_date"},
        3: {"biased_remark"},
        4: {"unstated_matter"},
        5: {
            "vague_remark", "vague_sentence", "vague_reason", "vague_advice", "vague_measure", "vague_aim",
            "vague_bullet",
        },
        6: {"harmful_remark", "harmful_manner"},
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_operator_applies_to_some_step_and_stays_in_it(name: str) -> None:
    found = 0
    for case in (*CASES, FRAGMENTS):
        for step in steps_of(case):
            for seed in range(20):
                edit = rule(name).apply(case, step, Random(seed))
                if edit is None:
                    continue
                found += 1
                assert step.start <= edit.start <= edit.end <= step.end
                assert edit.replacement != case.reference[edit.start : edit.end]
                assert numbering(after(case, edit)) == numbering(case.reference)
                assert rule(name).apply(case, step, Random(seed)) == edit
    assert found, "the operator applies to no step"


@pytest.mark.parametrize("name", NAMES)
def test_operator_abstains_if_there_is_nothing_to_break(name: str) -> None:
    case = case_of("medical", "Nothing is known.", "- **Aims:**\n- ...\n- Yes.")
    assert not tries(name, case)


@pytest.mark.parametrize("name", P2)
def test_a_p2_flaw_changes_what_a_citation_says_and_points_to_the_fact(name: str) -> None:
    found = 0
    for case in (*CASES, FRAGMENTS):
        for edit in tries(name, case):
            [span] = edit.context_spans
            fact = case.context[span.start : span.end]
            start = case.reference.index(fact)
            assert start <= edit.start <= edit.end <= start + len(fact)
            new = fact[: edit.start - start] + edit.replacement + fact[edit.end - start :]
            assert not contains(case.context, new)
            assert new in after(case, edit)
            found += 1
    assert found


LIFE = "She was born in Gdynia. The wound was 36 mm long and 12 mm wide on the left arm. The visit lasted 36 minutes."
WOUND = citing("medical", LIFE, "The wound was 36 mm long and 12 mm wide on the left arm.")


def test_a_wrong_number_keeps_its_format() -> None:
    edits = [edit for edit in tries("other_number", WOUND, number=60) if edit.replacement.endswith("mm")]
    for edit in edits:
        assert edit.replacement.endswith(" mm")
        assert len(edit.replacement) == len("36 mm")
        assert not contains(WOUND.context, edit.replacement)
    olds = {WOUND.reference[edit.start : edit.end] for edit in edits}
    assert olds == {"36 mm", "12 mm"}
    assert {edit.replacement > "36 mm" for edit in edits} == {True, False}


def test_a_value_that_the_reference_has_twice_is_not_changed() -> None:
    """The other occurrence would contradict the changed one."""
    fact = "The wound was 36 mm long and 12 mm wide on the left arm."
    twice = citing("medical", LIFE, fact, reason="A wound of 36 mm is long.")
    assert {twice.reference[e.start : e.end] for e in tries("other_number", twice, number=60)} == {"12 mm"}
    fact = "The letter of 20 May 2003 was read by the judge."
    twice = citing("legal", fact, fact, reason="A judge knew of it on 20 May 2003.")
    assert not tries("other_date", twice)


@pytest.mark.parametrize(
    ("fact", "olds"),
    [
        ("The level was 432 mg/dL on the first day.", {"432 mg/dL"}),
        ("The heart was cooled for the operation (28°C).", {"28°C"}),
        ("A mass of 5 cm was seen on the left side.", {"5 cm"}),
        ("The mean number of deaths was 3,218.", {"3,218"}),
        ("The compound had a fit score of 2.59 and was retrieved.", {"2.59"}),
        ("The pressure was kept in the range of 110–130 mmHg.", set()),
        ("The library was read with version 2.1 in the laboratory.", set()),
    ],
)
def test_numbers_with_and_without_a_unit_are_changed_and_ranges_are_not(fact: str, olds: set[str]) -> None:
    case = citing("medical", f"{fact} The patient went home.", fact)
    assert {case.reference[edit.start : edit.end] for edit in tries("other_number", case, number=60)} == olds


def test_another_number_is_in_the_context_elsewhere_but_not_with_this_unit() -> None:
    fact = "The score was raised by 12% in the second group."
    others = " ".join(f"Ward {number} was closed." for number in range(2, 100) if number != 12)
    found = {edit.replacement for edit in tries("other_number", citing("medical", f"{fact} {others}", fact), number=60)}
    assert found
    assert all(new.endswith("%") for new in found)


@pytest.mark.parametrize("old", ["39.5", "40"])
def test_a_body_temperature_stays_one(old: str) -> None:
    fact = f"The skin was hot at night ({old}°C)."
    case = citing("medical", f"{fact} The patient went home.", fact)
    found = {edit.replacement.removesuffix("°C") for edit in tries("other_number", case, number=60)}
    assert found
    assert all(34 <= float(new) < 43 and new != old and len(new) == len(old) for new in found)


@pytest.mark.parametrize(
    ("fact", "changed"),
    [
        ("The applicant had left the room before the break of the hearing.", True),
        ("The applicant had told the story before a local court in May.", False),
    ],
)
def test_before_is_changed_in_front_of_a_time_and_not_of_a_court(fact: str, changed: bool) -> None:
    case = citing("legal", f"{fact} The file was closed.", fact)
    found = [edit for edit in tries("opposite_attribute", case, number=60) if edit.replacement == "after"]
    assert bool(found) is changed


def test_a_number_outside_citations_is_not_changed() -> None:
    case = case_of("medical", LIFE, "1. A wound of 36 mm was seen on the left arm, which is long.")
    assert not [edit for name in P2 for edit in tries(name, case)]


DATED = citing(
    "legal",
    "The letter of 14 May 2003 was read by the judge. Mr Lis was ill in autumn.",
    "The letter of 14 May 2003 was read by the judge.",
)


def test_a_wrong_date_changes_one_part() -> None:
    edits = tries("other_date", DATED)
    assert edits
    for edit in edits:
        parts = zip(edit.replacement.split(), ["14", "May", "2003"], strict=True)
        assert sum(new != old for new, old in parts) == 1
        assert [len(part) for part in edit.replacement.split()[::2]] == [2, 4]


def test_a_wrong_date_is_not_another_date_of_the_context() -> None:
    """Day and year can share digits: in 20 May 2003 the day is changed, not the year."""
    others = " ".join(f"On {day} May 2003 a letter came." for day in range(10, 32) if day not in (20, 23, 25))
    fact = "The letter of 20 May 2003 was read by the judge."
    found = {edit.replacement for edit in tries("other_date", citing("legal", f"{fact} {others}", fact), number=200)}
    assert [date for date in found if date.endswith("May 2003")] == ["23 May 2003"]  # the 25th is a Sunday
    assert _is_like("5 May", "6 May")
    assert not _is_like("5 May", "31 June")


def test_a_number_changes_by_a_fifth_at_most_or_by_two() -> None:
    for old, low, high in (("86", 69, 103), ("4", 2, 6), ("340", 272, 408)):
        fact = f"The patient was seen for {old} minutes by a nurse."
        case = citing("medical", f"{fact} It rained.", fact)
        found = {int(edit.replacement.split()[0]) for edit in tries("other_number", case, number=60)}
        assert len(found) > 1
        assert all(low <= new <= high for new in found)


@pytest.mark.parametrize(
    "fact",
    [
        "All numbers of the second table rise from 6 to 10 points.",
        "In the second year 9 of 51 corals were bleached.",
        "The dose was 5 to 7 mg at night.",
    ],
)
def test_a_number_that_another_one_bounds_is_kept(fact: str) -> None:
    assert not tries("other_number", citing("academic", f"{fact} It rained.", fact), number=60)


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("The court sat on 3 May 2003.", {"12 November 2001", "12 November 2002"}),
        ("The search of 17 November was lawful.", {"17 November 2003", "19 November 2003", "12 November 2004"}),
        ("An appeal was lodged in 2003.", {"12 November 2002", "12 November 2004"}),
        ("The court was asked on 11 November 2003.", {"10 November 2003", "11 November 2003"}),
    ],
)
def test_a_date_keeps_its_place_among_the_dates_of_the_reference(reason: str, shown: set[str]) -> None:
    """Otherwise the reference would show the flaw: a release before the arrest."""
    fact = "The flat was searched on 12 November 2003 by an officer."

    def drawn(reason: str) -> set[str]:
        case = citing("legal", f"{fact} It rained.", fact, reason=reason)
        return {edit.replacement for edit in tries("other_date", case, number=200)}

    assert shown <= drawn("The applicant was born in 1950.")
    found = drawn(reason)
    assert found
    assert not found & shown


def test_a_wrong_name_is_another_person_of_the_case() -> None:
    fact = "The report was read by Mr Nowak in the morning."
    case = citing("legal", f"{fact} Mr Kowal was late. Mrs Lis was ill. Mr Zielinski met nobody.", fact)
    assert {edit.replacement for edit in tries("other_name", case)} == {"Mr Kowal", "Mr Zielinski"}
    fact = "The report was read in the morning by Mr Nowak."
    case = citing("legal", f"{fact} Later it was burnt by Mr Kowal.", fact)
    assert {after(case, edit) for edit in tries("other_name", case)} == {case.reference.replace("Nowak", "Kowal")}
    fact = "The report was read by Mr Nowak in the morning."
    case = citing("legal", f"{fact} Mr Jan Nowak was late. Mr Kowal was ill.", fact)
    assert {edit.replacement for edit in tries("other_name", case)} == {"Mr Kowal"}
    fact = "The report was read by Białystok Court in the morning."
    case = citing("legal", f"{fact} Bialystok Court was late. Poznan Court met nobody.", fact)
    assert {edit.replacement for edit in tries("other_name", case)} == {"Poznan Court"}


def test_a_wrong_attribute_contradicts_the_context() -> None:
    assert {edit.replacement for edit in tries("other_attribute", WOUND)} == {"right"}
    assert all("the right arm" in after(WOUND, edit) for edit in tries("other_attribute", WOUND))


def test_an_attribute_is_kept_if_another_sentence_shows_which_is_right() -> None:
    fact = "The wound was on the left arm of the patient."
    alone = citing("medical", f"{fact} It was clean.", fact)
    assert {edit.replacement for edit in tries("other_attribute", alone)} == {"right"}
    for reason in ("The left hand was cold too.", "The right hand was not cold."):
        assert not tries("other_attribute", citing("medical", f"{fact} It was clean.", fact, reason=reason))
    fact = "The letter was sent three weeks later by the uncle."
    others = citing("legal", f"{fact} It was clean.", fact, reason="Two letters were lost.")
    assert {edit.replacement for edit in tries("other_attribute", others, number=60)} >= {"months", "days", "aunt"}


def test_an_opposite_takes_the_place_of_an_attribute() -> None:
    fact = "The level was higher in the second group of plants."
    case = citing("academic", f"{fact} It was clean.", fact)
    assert {edit.replacement for edit in tries("opposite_attribute", case)} == {"lower"}


def test_a_custom_domain_gets_p2_flaws() -> None:
    fields = ("context", "decision", "reference", "source", "license")
    case = Case.of(**{field: getattr(CASES[1], field) for field in fields}, domain="insurance")
    assert any(tries(name, case) for name in P2)
