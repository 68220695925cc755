"""Each operator of the rule set `text` applies and abstains where it should, and breaks its principle."""

from random import Random

import pytest
from perturb_factories import ACADEMIC, CASES, FAMILY, FRAGMENTS, LEGAL, MEDICAL, case_of, rule, step_with

from data_builders.perturb.rules.edits import apply_edits
from data_builders.perturb.rules.engine import operators
from data_builders.perturb.rules.operators import Edit
from data_builders.perturb.rules.steps import numbering, split_steps
from data_builders.perturb.rules.text_match import contains, content_words, sentences_with
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
    assert {edit.replacement for edit in edits} == {"right"}
    assert all("right kidney" in after(MEDICAL, edit) for edit in edits)
    assert {MEDICAL.context[s.start : s.end] for edit in edits for s in edit.context_spans} == {"left"}


def test_general_statements_are_not_changed() -> None:
    law = case_of("legal", LEGAL.context, "1. The Court reiterates that the hospital issued a report for 45 days.")
    assert not any(tries(name, law) for name in NAMES if name.startswith(("other_", "invented_")))
    advice = case_of("academic", ACADEMIC.context, "1. Please report why 58 patients were in a retrospective study.")
    assert not any(tries(name, advice) for name in NAMES if name.startswith(("other_", "invented_")))


@pytest.mark.parametrize(
    "name", [n for n in NAMES if n.startswith(("invented_", "added_")) and n != "invented_exhibit"]
)
def test_no_sentence_of_the_case_has_an_invented_detail(name: str) -> None:
    for case in CASES:
        for edit in tries(name, case):
            detail = content_words(edit.replacement)
            assert not sentences_with(case.context, detail)
            assert not sentences_with(case.reference, detail)
            assert edit.context_spans == ()


def test_a_custom_domain_gets_facts_and_details() -> None:
    case = case_of("insurance", LEGAL.context, LEGAL.reference)
    for number in (2, 4):
        assert any(tries(o.name, case) for o in operators("text")[number])


def test_a_negation_is_removed_or_added() -> None:
    edits = tries("negated", FAMILY, "not heard")
    assert {(FAMILY.reference[e.start : e.end], e.replacement) for e in edits} == {("was not heard", "was heard")}
    edits = tries("negated", FAMILY, "The keys")
    assert {e.replacement for e in edits} == {"were not returned"}


def test_two_values_change_places() -> None:
    edits = tries("exchanged", FAMILY, "mother")
    assert any("that the father lived in Warsaw and that the mother moved to Lublin" in after(FAMILY, e) for e in edits)


def test_a_peer_is_listed_beside_the_old_word() -> None:
    assert {e.replacement for e in tries("other_peer", FAMILY, "A social worker")} == {"piano", "football"}


def test_a_bare_word_is_no_evidence() -> None:
    """The context has `years`, but of something else."""
    case = case_of("legal", "He was married for six years. The lease was short.", "1. The lease ran for six years.")
    assert not [edit for name in NAMES if name.startswith("other_") for edit in tries(name, case)]


def test_an_invented_exhibit_has_a_number_of_the_other_kind() -> None:
    assert {edit.replacement for edit in tries("invented_exhibit", ACADEMIC)} == {"Table 2"}
