"""Each operator of the rule set `text` applies and abstains where it should, and breaks its principle."""

import re
from random import Random

import pytest
from perturb_factories import (
    CASES,
    CITED_MEDICAL,
    FOREIGN,
    FRAGMENTS,
    PREPRINT,
    case_of,
    citing,
    rule,
    step_with,
    steps_of,
)

from data_builders.perturb.rules.adapted_facts import with_names_of_case, with_years_of_case
from data_builders.perturb.rules.corpus_facts import CorpusFacts
from data_builders.perturb.rules.edits import apply_edits
from data_builders.perturb.rules.engine import operators, rules_and_steps
from data_builders.perturb.rules.facts import facts
from data_builders.perturb.rules.foreign_fit import MIN_NEW, can_move, fits_case
from data_builders.perturb.rules.operators import Edit
from data_builders.perturb.rules.p4_groundedness import ForeignFacts
from data_builders.perturb.rules.steps import numbering
from data_builders.perturb.rules.text_match import contains, content_words, sentences_with, stems
from judge_r1.core.records import Case

NAMES = sorted([*(o.name for rules in operators("text").values() for o in rules), *(o.name for o in FOREIGN.operators)])
P2 = sorted(o.name for o in operators("text")[2])


def tries(name: str, case: Case, words: str = "", number: int = 20) -> list[Edit]:
    """The edits of an operator with several seeds, at the step with `words` or at all steps."""
    steps = [step_with(case, words)] if words else steps_of(case)
    edits = [rule(name).apply(case, step, Random(n)) for step in steps for n in range(number)]
    return [edit for edit in edits if edit is not None]


def after(case: Case, edit: Edit) -> str:
    return apply_edits(case.reference, [edit])[0]


def test_each_principle_has_operators_and_p4_one_for_each_corpus() -> None:
    rules, _ = rules_and_steps(CITED_MEDICAL, "text", FOREIGN)
    assert {number: {rule.name for rule in found} for number, found in rules.items()} == {
        1: {
            "fallacious_remark", "reversed_conclusion", "denied_conclusion", "reversed_link", "circular_reason",
            "foreign_reason", "contradicting_sentence",
        },
        2: {"other_name", "other_item", "other_finding", "exchanged", "denied", "other_number", "other_date"},
        3: {"biased_remark"},
        4: {"foreign_fact"},
        5: {
            "vague_remark", "vague_sentence", "vague_reason", "vague_advice", "vague_measure", "vague_aim",
            "vague_bullet",
        },
        6: {"harmful_remark", "harmful_manner"},
    }  # fmt: skip
    assert operators("text")[4] == []


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
    others = " ".join(f"On {day} May 2003 a letter came." for day in range(10, 32) if day not in (20, 25))
    fact = "The letter of 20 May 2003 was read by the judge."
    found = {edit.replacement for edit in tries("other_date", citing("legal", f"{fact} {others}", fact), number=200)}
    assert [date for date in found if date.endswith("May 2003")] == ["25 May 2003"]


def test_a_wrong_name_is_another_person_of_the_case() -> None:
    fact = "The report was read by Mr Nowak in the morning."
    case = citing("legal", f"{fact} Mr Kowal was late. Mrs Lis was ill. Mr Zielinski met nobody.", fact)
    assert {edit.replacement for edit in tries("other_name", case)} == {"Mr Kowal", "Mr Zielinski"}


def test_a_wrong_finding_contradicts_the_context() -> None:
    assert {edit.replacement for edit in tries("other_finding", WOUND)} == {"right"}
    assert all("the right arm" in after(WOUND, edit) for edit in tries("other_finding", WOUND))


def test_a_negation_is_removed_or_added() -> None:
    heard, keys = "The son was not heard by the judge.", "The keys of the flat were returned to the landlord."
    case = citing("legal", f"{heard} {keys}", f"{heard} {keys}")
    assert {edit.replacement for edit in tries("denied", case)} == {"", "not "}
    assert {after(case, edit) for edit in tries("denied", case)} == {
        case.reference.replace("not heard", "heard"),
        case.reference.replace("were returned", "were not returned"),
    }
    born = "The old farmer was born in Gdynia in the war."
    assert not tries("denied", citing("legal", born, born))


def test_two_values_change_places() -> None:
    fact = "The mother was married in spring, whereas the father was divorced."
    case = citing("legal", fact, fact)
    assert {after(case, edit) for edit in tries("exchanged", case)} >= {
        case.reference.replace(fact, "The mother was divorced in spring, whereas the father was married.")
    }
    pair = "The left and right kidney were examined by the surgeon."
    assert not tries("exchanged", citing("medical", pair, pair))


def test_another_thing_of_the_case_takes_the_place_of_the_old_one() -> None:
    for case in CASES:
        assert all(contains(case.context, edit.replacement) for edit in tries("other_item", case))
    fact = "The slides were read in Python by a student."
    case = citing("academic", f"{fact} The figures were drawn in MATLAB.", fact)
    assert {edit.replacement for edit in tries("other_item", case)} == {"MATLAB"}


def _nameless(text: str) -> str:
    """A text without names and years, which change with the case."""
    return re.sub(r"(?<=[\w,] )[A-Z][\w’'.-]*|\d+", "", text)


def test_a_foreign_fact_is_stated_in_another_case_and_not_in_this_one() -> None:
    texts = [case.context for case in (*CASES, FRAGMENTS, PREPRINT)]
    found = 0
    for case in CASES:
        known = stems(f"{case.context} {case.reference}")
        for edit in tries("foreign_fact", case):
            detail = content_words(edit.replacement)
            said = [
                fact
                for text in texts
                if text != case.context
                for fact in facts(text)
                if _nameless(fact.text) in _nameless(edit.replacement)
            ]
            assert said
            assert not contains(case.context, said[0].text)
            assert not sentences_with(case.context, detail)
            assert not sentences_with(case.reference, detail)
            assert sum(word not in known for word in content_words(said[0].text)) >= MIN_NEW
            assert edit.context_spans == ()
            found += 1
    assert found > 20


def test_a_foreign_fact_is_of_the_same_domain() -> None:
    by_domain = {case.domain: ForeignFacts(CorpusFacts([case])) for case in CASES}
    for domain, pool in by_domain.items():
        [operator] = pool.operators
        others = [case for case in CASES if case.domain != domain]
        assert not [s for case in others for s in steps_of(case) if operator.apply(case, s, Random(0)) is not None]


@pytest.mark.parametrize(
    "identity",
    ["A woman of 47 years was brought in by a neighbour.", "The farmer is a 62-year-old who was found in a barn."],
)
def test_who_somebody_is_never_is_a_foreign_fact_and_is_never_replaced(identity: str) -> None:
    """Every case says it of its people, so that a judge need not read the case."""
    plain = "The tractor was driven over half of the rows."
    about, other = citing("medical", identity, identity), citing("medical", plain, plain)
    [from_about], [from_other] = (ForeignFacts(CorpusFacts([case])).operators for case in (about, other))
    for n in range(10):
        assert all(from_about.apply(other, step, Random(n)) is None for step in steps_of(other))
        assert all(from_other.apply(about, step, Random(n)) is None for step in steps_of(about))


@pytest.mark.parametrize(
    ("stated", "fits"),
    [
        ("The nurse of the ward signed the form in ink.", True),
        ("The second surgeon signed the form in ink.", False),
        ("A surgeon signed it at the request of the lawyer.", False),
        ("Dr Brandt signed the form in ink.", False),
        ("The infant was put on the ward in ink.", False),
    ],
)
def test_a_case_knows_whom_a_foreign_fact_names_and_what_it_takes_as_known(stated: str, fits: bool) -> None:
    case = case_of("medical", "The nurse went to the ward. He asked for a form at the request of Dr Adler.", "1. A.")
    assert fits_case(case, stated) is fits


@pytest.mark.parametrize(
    ("stated", "moves"),
    [
        ("No recurrence was observed during follow-up.", True),
        ("The enforcement order was issued on 30 December 2002.", True),
        ("However, the claim was rejected.", False),
        ("The claim for compensation was, therefore, rejected.", False),
        ("The lawyer agreed to that request.", False),
        ("All of them were rejected following an inquiry.", False),
        ("Showed nodules and masses in the lung.", False),
        ("The drain was removed on postoperative day 5.", False),
        ("She was discharged three weeks later.", False),
        ("Acute shortness of breath and chest pressure for four days.", False),
        ("A patient is guaranteed confidentiality of the data.", False),
        ("A woman of 47 years lives in a barn.", False),
    ],
)
def test_a_sentence_that_refers_to_others_or_to_a_time_of_its_case_does_not_move(stated: str, moves: bool) -> None:
    assert can_move(stated) is moves


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


def test_a_custom_domain_gets_facts_of_its_own_cases() -> None:
    case, other = (
        Case.of(
            **{k: getattr(c, k) for k in ("context", "decision", "reference", "source", "license")}, domain="insurance"
        )
        for c in (CASES[1], CASES[3])
    )
    assert any(tries(name, case) for name in P2)
    [operator] = ForeignFacts(CorpusFacts([case, other])).operators
    assert any(operator.apply(case, step, Random(n)) for step in steps_of(case) for n in range(10))
