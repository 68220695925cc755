"""Each operator of the rule set `text` edits the reference's own sentences and abstains where it has no place."""

from math import gcd
from random import Random

import pytest
from perturb_factories import CASES, FRAGMENTS, case_of, rule, steps_of

from data_builders.perturb.rules.engine import operators
from data_builders.text_units.edits import Edit, apply_edits
from data_builders.text_units.steps import numbering
from judge_r1.core.records import Case

NAMES = sorted(o.name for rules in operators("text").values() for o in rules)
P2 = sorted(o.name for o in operators("text")[2])


def tries(name: str, case: Case, number: int = 12) -> list[Edit]:
    """The edits of an operator with several seeds, at all steps."""
    return [edit for step in steps_of(case) for n in range(number) for edit in rule(name).apply(case, step, Random(n))]


def texts(name: str, case: Case, number: int = 12) -> set[str]:
    return {edit.replacement for edit in tries(name, case, number)}


def after(case: Case, edit: Edit) -> str:
    return apply_edits(case.reference, [edit])[0]


def afters(name: str, case: Case) -> set[str]:
    return {after(case, edit) for edit in tries(name, case)}


@pytest.mark.parametrize("name", NAMES)
def test_edits_stay_in_their_step_and_are_reproducible(name: str) -> None:
    for case in (*CASES, FRAGMENTS):
        for step in steps_of(case):
            edits = list(rule(name).apply(case, step, Random(1)))
            assert list(rule(name).apply(case, step, Random(1))) == edits
            for edit in edits:
                assert step.start <= edit.start <= edit.end <= step.end
                assert numbering(after(case, edit)) == numbering(case.reference)


@pytest.mark.parametrize("name", NAMES)
def test_an_operator_abstains_if_there_is_nothing_to_break(name: str) -> None:
    assert not tries(name, case_of("medical", "Nothing is known.", "- **Aims:**\n- ...\n- Yes."))


def medical(reference: str, context: str = "Nothing is known.") -> Case:
    return case_of("medical", context, reference)


@pytest.mark.parametrize(
    ("reference", "flawed"),
    [
        ("7. There has accordingly been a violation of Article 8 of the Convention.", "been no violation"),
        ("7. The Court concludes that the refusal was not in accordance with the law.", "was in accordance"),
        ("7. Therefore, the lists cannot be compared with each other at all.", "can be compared"),
        ("7. It follows that the complaint must be rejected under the Convention.", "must not be rejected"),
    ],
)
def test_a_conclusion_is_denied(reference: str, flawed: str) -> None:
    [found] = afters("denied_conclusion", case_of("legal", "Nothing.", reference))
    assert flawed in found


@pytest.mark.parametrize(
    "reference",
    [
        "7. The central question is, therefore, whether the fine was large enough to be a penalty.",
        "7. Therefore, it is unclear what this state of the model stands for in the end.",
        "7. Thus, the lists were about 30 pages long when the office received them.",
    ],
)
def test_a_conclusion_that_a_not_would_make_unnatural_is_not_denied(reference: str) -> None:
    assert not tries("denied_conclusion", case_of("legal", "Nothing.", reference))


def test_an_opposite_needs_a_ground_in_its_sentence_and_a_verb() -> None:
    grounded = medical("1. Carcinoma was excluded based on the picture of the second sample.")
    assert afters("reversed_conclusion", grounded) == {
        "1. Carcinoma was considered likely based on the picture of the second sample."
    }
    assert not tries("reversed_conclusion", medical("1. Carcinoma was excluded on the second day of the stay."))
    attributive = "1. They must take all reasonable steps because the child was young and alone."
    assert not tries("reversed_conclusion", medical(attributive))
    contrast = "1. Carcinoma was considered but was excluded based on the picture of the second sample."
    assert not tries("reversed_conclusion", medical(contrast))
    telling = "1. Carcinoma was excluded based on the absence of dysplastic features."
    assert not tries("reversed_conclusion", medical(telling)), "it would contradict itself without the case"
    for verb in ("argued", "submits", "maintains"):
        of_a_party = f"1. The Government {verb} that the fine was justified because the flat had been let at once."
        assert not tries("reversed_conclusion", medical(of_a_party))


WOUND = "The wound on the left arm was 36 mm long and was cleaned three times on 14 May 2003."


def test_a_number_of_the_case_gets_another_value_of_its_form() -> None:
    case = medical("1. The wound of 36 mm was long enough for a suture.", WOUND + " The suture was long.")
    found = tries("other_number", case, 40)
    assert {edit.context_spans for edit in found} == {found[0].context_spans}
    assert "36 mm" in case.context[found[0].context_spans[0].start - 3 : found[0].context_spans[0].end + 3]
    values = {int(edit.replacement.removesuffix(" mm")) for edit in found}
    assert len(values) > 3
    assert all(19 <= value <= 62 and abs(value - 36) > 4 for value in values)


@pytest.mark.parametrize(
    "reference",
    [
        "1. The ward of 36 mm was red enough for a picture.",  # the case says this of something else
        "1. The long wound of 47 mm was cleaned with water.",  # not a value of the case
        "1. The long wound of 36 mm was cleaned. A cut of 36 mm is long.",  # the other one would show the flaw
        "1. The long wound of 36 mm should be cleaned with water.",  # advice states no fact
        "1. The long wound measured 30 to 36 mm when it was cleaned.",
    ],
)
def test_a_number_is_left_where_the_case_does_not_contradict_the_new_one(reference: str) -> None:
    assert not tries("other_number", medical(reference, WOUND))


@pytest.mark.parametrize(("dose", "coarse"), [("325 mg", 25), ("65 mg", 5), ("40 mg", 10), ("36 mg", 1)])
def test_a_round_number_gets_another_round_one(dose: str, coarse: int) -> None:
    reference = f"1. The dose of {dose} was enough for the whole morning."
    case = medical(reference, f"The morning dose was {dose}, which was enough.")
    values = {int(edit.replacement.removesuffix(" mg")) for edit in tries("other_number", case, 40)}
    assert len(values) > 1
    assert gcd(*values) % coarse == 0


def test_an_attribute_of_an_acronym_stays() -> None:
    context = "The patient had selective internal radiation of the liver."
    for reference, expected in (
        ("1. The patient had selective internal radiation of the liver.", {"external"}),
        ("1. The patient had selective internal radiation (SIR) of the liver.", set()),
    ):
        assert texts("other_attribute", medical(reference, context)) == expected


def test_dates_counts_and_attributes_follow_the_case() -> None:
    case = medical("1. The long wound on the left arm was cleaned three times on 14 May 2003.", WOUND)
    dates = texts("other_date", case, 60)
    assert len(dates) > 5
    assert all(len(set(date.split()) & {"14", "May", "2003"}) == 2 for date in dates)
    assert texts("other_count", case, 40) == {"two", "four", "five", "six"}
    assert texts("other_attribute", case) == {"right"}
    both = medical(case.reference, WOUND + " A wound on the right arm was cleaned as well.")
    assert not tries("other_attribute", both), "the case has the other one, too"


def test_a_date_keeps_its_place_among_the_dates_of_the_reference() -> None:
    context = "The flat was searched by an officer on 12 November 2003."
    case = case_of(
        "legal", context, "1. An officer searched the flat on 12 November 2003, after a letter of 3 May 2003."
    )
    assert texts("other_date", case, 200)
    assert not [new for new in texts("other_date", case, 200) if new.endswith(("2002", "2001", "2000"))]


def test_a_name_is_another_one_of_the_case_of_the_same_kind() -> None:
    context = (
        "The report of the fire was read by Mr Nowak. Mr Kowal was late. Mrs Lis was ill. The Court of Appeal sat. "
        "The fire was examined by the Poznan Court. The Lodz Court was closed."
    )
    case = case_of("legal", context, "1. Mr Nowak read the report of the fire, which the Poznan Court examined.")
    assert texts("other_name", case) == {"Mr Kowal", "Lodz Court"}
    general = case_of("legal", context, "1. The report of the fire was examined by a Poznan Court.")
    assert not tries("other_name", general)


INFECTION = "1. Infection was excluded by negative results on the third day of the stay."


def test_a_detail_is_invented_only_if_the_whole_case_has_no_trace_of_its_matter() -> None:
    assert ", and an HIV test was negative" in texts("invented_detail", medical(INFECTION), 40)
    for trace in ("He was tested for the human immunodeficiency virus.", "AIDS was discussed."):
        assert not [t for t in texts("invented_detail", medical(INFECTION, trace), 40) if "HIV" in t]
    in_decision = Case.of(
        domain="medical", context="Nothing.", decision="HIV", reference=INFECTION, source="toy", license="none"
    )
    assert not [text for text in texts("invented_detail", in_decision, 40) if "HIV" in text]


@pytest.mark.parametrize(
    ("domain", "reference", "texts_found"),
    [
        (
            "academic",
            "1. The table is short. The authors should report the raw counts of each row in it.",
            "The table is short. The authors should {}.",
        ),
        (
            "academic",
            "1. The test is short. Please explain why the second list was left out of it.",
            "The test is short. Please {}.",
        ),
        ("medical", "1. Carcinoma was excluded due to the lack of dysplastic cells.", "Carcinoma was excluded {}."),
    ],
)
def test_an_instruction_or_a_reason_becomes_vague(domain: str, reference: str, texts_found: str) -> None:
    before, end = texts_found.split("{}")
    found = afters("vague", case_of(domain, "Nothing.", reference))
    assert found
    assert all(text.startswith(f"1. {before}") and text.endswith(end) for text in found)
    assert all(len(text) < len(reference) for text in found)


@pytest.mark.parametrize(
    "reference",
    [
        "1. It must be recalled that this is a question of procedure as well.",
        "1. The question is whether the letter should be returned to the owner at once.",
        "1. The authors should realize that great results are repeated by others.",
        "1. Repeat the second measurement of the whole series in the spring.",
        "- Preserve the catheter while avoiding a change to another treatment.",
        "1. The authors should report the raw counts of each row in a table.",  # a vague `this` would refer to nothing
        "1. The table is short. Please report the raw counts of each row. These would help.",  # the next one needs them
        "1. The table is short. The authors should report the raw counts of: 1) rows; 2) columns; 3) blocks.",
        "1. The table is short. Since it is, the authors should report the raw counts of each row in it.",
        "1. The labels were few, mainly because the words of the annotations differed.",
        "1. There has been a violation on account of the search of the home in May.",  # a holding
        "1. The opinion, on the basis of a report issued by an office, is in breach of the duty of neutrality.",
        "1. The car stopped on the way home because the road was wet and dark.",  # a cause, and no judgement
    ],
)
def test_what_would_read_oddly_if_vague_stays(reference: str) -> None:
    assert not tries("vague", case_of("academic", "Nothing.", reference))


@pytest.mark.parametrize(
    ("domain", "reference", "flawed"),
    [
        ("medical", "1. Ibuprofen should be avoided in the first week.", "can be used freely"),
        ("medical", "1. Steroids were tapered slowly over six weeks.", "tapered abruptly"),
        ("academic", "1. They should be cautious about the small groups.", "They can be confident about the small"),
        ("academic", "1. The limitations should be discussed in the last part.", "need not be discussed"),
        (
            "legal",
            "1. A search must be accompanied by adequate safeguards.",
            "A search does not call for any safeguards",
        ),
    ],
)
def test_a_safeguard_is_dropped(domain: str, reference: str, flawed: str) -> None:
    [found] = afters("dropped_safeguard", case_of(domain, "Nothing.", reference))
    assert flawed in found


def test_a_safeguard_with_its_ground_stays() -> None:
    for ground in ("since it may bring on a crisis", "because it may harm the child", "as it may harm the child"):
        assert not tries("dropped_safeguard", medical(f"1. Ibuprofen should be avoided in the first week, {ground}."))


def test_a_custom_domain_gets_p2_flaws() -> None:
    case = case_of("medical", WOUND, "1. The long wound on the left arm was cleaned three times on 14 May 2003.")
    fields = ("context", "decision", "reference", "source", "license")
    other = Case.of(**{field: getattr(case, field) for field in fields}, domain="insurance")
    assert {name for name in P2 if tries(name, other)} >= {"other_attribute", "other_count", "other_date"}
