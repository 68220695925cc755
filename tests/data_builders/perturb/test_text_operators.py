"""Each operator of the rule set `text` applies and abstains where it should, and breaks its principle."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perturb_factories import ACADEMIC, CASES, FRAGMENTS, LEGAL, MEDICAL, case_of, rule, step_with

from data_builders.perturb.rules.claims import absent_from, keeps_vocabulary_size
from data_builders.perturb.rules.edits import apply_edits
from data_builders.perturb.rules.engine import operators
from data_builders.perturb.rules.operators import Edit
from data_builders.perturb.rules.steps import numbering, split_steps
from data_builders.perturb.rules.text_match import contains, words
from judge_r1.core.records import Case

NAMES = sorted(o.name for rules in operators("text").values() for o in rules)


def tries(name: str, case: Case, words: str = "", number: int = 20) -> list[Edit]:
    """The edits of an operator with several seeds, at the step with `words` or at all steps."""
    steps = [step_with(case, words)] if words else split_steps(case.reference)
    edits = [rule(name).apply(case, step, Random(n)) for step in steps for n in range(number)]
    return [edit for edit in edits if edit is not None]


def after(case: Case, edit: Edit) -> str:
    return apply_edits(case.reference, [edit])[0]


def test_each_principle_has_three_operators() -> None:
    assert all(len(rules) >= 3 for rules in operators("text").values())


@pytest.mark.parametrize("name", NAMES)
def test_operator_applies_to_some_step_and_stays_in_it(name: str) -> None:
    found = 0
    for case in (*CASES, FRAGMENTS):
        for step in split_steps(case.reference):
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


@pytest.mark.parametrize("rule_name", [o.name for number in (2, 4) for o in operators("text")[number]])
def test_a_swap_keeps_the_number_of_distinct_words(rule_name: str) -> None:
    for case in CASES:
        for edit in tries(rule_name, case):
            assert len(set(words(after(case, edit)))) == len(set(words(case.reference)))


def test_a_term_that_occurs_twice_is_not_replaced() -> None:
    again = case_of("academic", ACADEMIC.context, f"{ACADEMIC.reference}\n7. Python is a good choice.")
    assert any("Python" in ACADEMIC.reference[e.start : e.end] for e in tries("invented_source", ACADEMIC))
    assert not any("Python" in again.reference[e.start : e.end] for e in tries("invented_source", again))


@given(st.lists(st.sampled_from("abcde"), min_size=1), st.sampled_from("abcde"), st.sampled_from("abcdef"))
def test_a_swap_is_allowed_in_both_directions_or_in_none(text: list[str], old: str, new: str) -> None:
    if old not in text or old == new:
        return
    index = text.index(old)
    before = case_of("medical", "x", " ".join(text))
    after = case_of("medical", "x", " ".join([*text[:index], new, *text[index + 1 :]]))
    assert keeps_vocabulary_size(before, old, new) == (len(set(text)) == len(set(after.reference.split())))
    assert keeps_vocabulary_size(before, old, new) == keeps_vocabulary_size(after, new, old)


def test_a_wrong_number_keeps_its_format() -> None:
    edits = tries("other_number", MEDICAL, "36 mm")
    for edit in edits:
        assert edit.replacement.endswith(" mm")
        assert len(edit.replacement) == len("36 mm")
        assert not contains(MEDICAL.context, edit.replacement)
        assert {MEDICAL.context[s.start : s.end] for s in edit.context_spans} == {"36 mm"}
    assert {edit.replacement > "36 mm" for edit in edits} == {True, False}


def test_a_number_that_the_context_lacks_is_not_changed() -> None:
    case = case_of("medical", "A mass was seen in the left kidney.", "1. A mass of 36 mm was seen in the kidney.")
    assert not tries("other_number", case)


def test_a_wrong_date_changes_one_part() -> None:
    for edit in tries("other_date", LEGAL, "14 May"):
        parts = zip(edit.replacement.split(), ["14", "May", "2003"], strict=True)
        assert sum(new != old for new, old in parts) == 1
        assert LEGAL.context[edit.context_spans[0].start : edit.context_spans[0].end] == "14 May 2003"


def test_a_wrong_date_is_not_another_date_of_the_context() -> None:
    """Day and year can share digits: in 20 May 2003 the day is changed, not the year."""
    others = " ".join(f"On {day} May 2003 a letter came." for day in range(10, 32) if day not in (20, 25))
    case = case_of(
        "legal", f"On 20 May 2003 he was heard. {others}", "1. The Court notes that he was heard on 20 May 2003."
    )
    found = {edit.replacement for edit in tries("other_date", case, number=200)}
    assert [date for date in found if date.endswith("May 2003")] == ["25 May 2003"]


def test_a_wrong_name_is_another_person_of_the_case() -> None:
    assert {edit.replacement for edit in tries("other_name", LEGAL, "Nowak")} == {"Mr Kowal", "Mr Zielinski"}


def test_a_wrong_finding_contradicts_the_context() -> None:
    edits = tries("other_finding", MEDICAL, "CT showed")
    assert {edit.replacement for edit in edits} == {"right kidney"}
    assert {MEDICAL.context[s.start : s.end] for edit in edits for s in edit.context_spans} == {"left"}


def test_general_statements_are_not_changed() -> None:
    law = case_of("legal", LEGAL.context, "1. The Court reiterates that the hospital issued a report for 45 days.")
    assert not any(tries(name, law) for name in NAMES if name.startswith(("other_", "invented_")))
    advice = case_of("academic", ACADEMIC.context, "1. Please report why 58 patients were in a retrospective study.")
    fit = {name for name in NAMES if name.startswith(("other_", "invented_")) and tries(name, advice)}
    assert fit == {"other_number"}  # advice repeats the paper's numbers


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("invented_") and n != "invented_exhibit"])
def test_an_invented_detail_shares_no_word_with_the_case(name: str) -> None:
    for case in CASES:
        for edit in tries(name, case):
            assert absent_from(case)(edit.replacement)
            assert contains(case.context, case.reference[edit.start : edit.end])
            assert edit.context_spans == ()


def test_an_invented_exhibit_has_a_number_of_the_other_kind() -> None:
    assert {edit.replacement for edit in tries("invented_exhibit", ACADEMIC)} == {"Table 2"}
