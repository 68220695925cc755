"""The operators of P1, P3, P5 and P6: what they break, where they leave a text alone, and any domain."""

from random import Random

import pytest
from perturb_factories import CASES, FRAGMENTS, MEDICAL, case_of, rule, step_with, steps_of

from data_builders.perturb.rules.citations import cite_facts
from data_builders.perturb.rules.edits import apply_edits
from data_builders.perturb.rules.engine import operators
from data_builders.perturb.rules.operators import Edit, Step
from data_builders.perturb.rules.premises import denials, denied_clause, foreign_reasons
from data_builders.perturb.rules.remarks import groups_for
from data_builders.perturb.rules.sentence_parts import advice_ends, replaceable_sentences, sentence_ends
from data_builders.perturb.rules.steps import split_steps
from data_builders.perturb.rules.wordings import themes_of
from judge_r1.core.records import Case

STYLE = (1, 3, 5, 6)
PLAIN_CUSTOM = case_of(
    "engineering",
    "A bridge of 1962 has cracks in two girders. The inspector measured them in spring. The river was high in April. "
    "The lamps of the bridge were replaced by the council. A lorry hit the eastern railing in 2019.",
    "1. The cracks in the girders are shallow, because the probe found no depth above the cover of the steel.\n"
    "2. The load should be limited to cars until the girders have been measured again in winter.\n"
    "3. A repair was considered, but the costs are high, which the council may not accept in this year.\n"
    "4. The bridge can therefore stay open, and the inspector should report to the council every month.",
)
CUSTOM = cite_facts(PLAIN_CUSTOM, 4)


def tries(name: str, case: Case, words: str = "", number: int = 30) -> list[Edit]:
    """The edits of an operator with several seeds, at the step with `words` or at all steps."""
    steps = [step_with(case, words)] if words else steps_of(case)
    edits = [rule(name).apply(case, step, Random(n)) for step in steps for n in range(number)]
    return [edit for edit in edits if edit is not None]


@pytest.mark.parametrize(
    ("name", "case", "old", "new"),
    [
        ("reversed_conclusion", MEDICAL, "likely", "unlikely"),
        ("reversed_link", MEDICAL, "due to", "despite"),
        ("denied_conclusion", FRAGMENTS, "A biopsy of the nodule is safe, ", "A biopsy of the nodule is not safe, "),
    ],
)
def test_logic_is_broken_as_named(name: str, case: Case, old: str, new: str) -> None:
    assert (old, new) in {(case.reference[edit.start : edit.end], edit.replacement) for edit in tries(name, case)}


def test_a_conclusion_without_a_ground_is_not_reversed() -> None:
    case = case_of("medical", "x", "1. The tumor is likely benign and the margin is clear.")
    assert not tries("reversed_conclusion", case)


@pytest.mark.parametrize(
    ("clause", "denied"),
    [
        ("There has been a violation of Article 8", "There has been no violation of Article 8"),
        ("There has been no violation of Article 8", "There has been a violation of Article 8"),
        ("the request was not justified", "the request was justified"),
        ("Excluded due to normal values", "Not excluded due to normal values"),
        ("the State cannot rely on it", "the State can rely on it"),
        ("No patient was treated", None),
        ("the patient was treated, but only in part", None),
        ("the patient left", None),
        ("The difficulties were admittedly in large measure of his making", None),
        ("The seal was not merely observed", None),
        ("The seal was merely observed", None),
        ("Of 12 hangers that were examined, 3 had cracks", None),
        ("Albumin was 31 g/L", None),
    ],
)
def test_a_clause_is_denied_if_the_denial_is_certain(clause: str, denied: str | None) -> None:
    assert denied_clause(clause) == denied


def test_a_contradiction_denies_what_another_step_states() -> None:
    step = step_with(FRAGMENTS, "Decision")
    assert "a biopsy of the nodule is not safe" in denials(FRAGMENTS.reference, step, step.text)


def test_a_foreign_reason_supports_another_conclusion() -> None:
    case = case_of(
        "medical",
        "x",
        "1. Pheochromocytoma was excluded due to normal hormone levels in urine.\n"
        "2. Castleman disease was considered based on vascular proliferation and lymphoid structure.",
    )
    first, second = split_steps(case.reference)
    assert foreign_reasons(case.reference, first, first.text) == [
        "based on vascular proliferation and lymphoid structure"
    ]
    assert foreign_reasons(case.reference, second, second.text) == ["due to normal hormone levels in urine"]


def test_bias_uses_groups_that_the_context_mentions() -> None:
    found = groups_for("medical", MEDICAL.context)
    assert {"women", "middle-aged patients"} <= set(found)
    assert not {"men", "farmers"} & set(found)
    assert "farmers" in groups_for("medical", FRAGMENTS.context)
    assert "Polish nationals" in groups_for("legal", "The applicant is a Polish national.")
    assert groups_for("engineering", "A bridge.") == groups_for("general", "A bridge.")


def test_phrases_are_about_the_theme_of_the_sentence() -> None:
    assert themes_of("medical", "CT showed a cyst, and creatinine was normal.") == ("imaging", "laboratory")
    assert themes_of("engineering", "CT showed a cyst.") == ()


def test_no_sentence_is_replaced_that_the_next_one_refers_to() -> None:
    text = (
        "1. The model is trained on all of the nine hospitals. It is therefore likely to be overfitted to them."
        " The authors should train the model again on other data."
    )
    step = Step(0, 0, len(text), text)
    first = text.index("It is")
    assert all(start >= first for start, _ in replaceable_sentences(step))
    assert all(start > first for start, _ in sentence_ends(step))


def test_the_manner_of_an_action_takes_the_place_of_its_aim() -> None:
    case = case_of("medical", "x", "- Reduce the dose of the drug to avoid further side effects in the kidney.")
    [step] = split_steps(case.reference)
    assert "to avoid further side effects in the kidney" in {step.text[a:b].strip() for a, b in advice_ends(step)}


def test_a_vague_aim_ends_behind_an_initial() -> None:
    text = "1. There is no evidence to show that a letter was sent to J.’s office in June. It was cold."
    olds = {text[edit.start : edit.end] for edit in tries("vague_aim", case_of("legal", "x", text))}
    assert olds == {"to show that a letter was sent to J.’s office in June"}
    quoted = "1. ‘There is no evidence to show that a letter was sent to the office.’ It was cold."
    olds = {quoted[edit.start : edit.end] for edit in tries("vague_aim", case_of("legal", "x", quoted))}
    assert olds == {"to show that a letter was sent to the office"}


@pytest.mark.parametrize(
    "dotted", ["the patient with E. coli", "the findings of Meyer et al. in court", "J. K.’s case"]
)
def test_nothing_is_vague_behind_a_full_stop_within_the_sentence(dotted: str) -> None:
    text = f"1. A letter was sent to the office to examine {dotted} in the year before. "
    text += f"The doctors should look at {dotted}."
    edits = [edit for name in ("vague_aim", "vague_advice") for edit in tries(name, case_of("legal", "x", text))]
    assert not edits


def test_what_nobody_should_suffer_is_not_made_vague() -> None:
    text = (
        "1. The seal in case no. 5 should be inspected by the court in June. No one should be subjected to arbitrary "
        "punishment. It cannot be accepted that a person should be subjected to arbitrary punishment."
    )
    olds = {text[edit.start : edit.end] for edit in tries("vague_measure", case_of("legal", "x", text))}
    assert olds == {"be inspected by the court in June"}


@pytest.mark.parametrize("number", STYLE)
def test_neutral_templates_break_the_principles_in_any_domain(number: int) -> None:
    found = [edit for rule_ in operators("text")[number] for edit in tries(rule_.name, CUSTOM)]
    assert len({edit.replacement for edit in found}) >= 5
    for edit in found:
        flawed = apply_edits(CUSTOM.reference, [edit])[0].lower()
        assert not any(word in flawed for word in ("patient", "court", "applicant", "authors", "{"))


FEW_WORDINGS = {"vague_measure": 5, "vague_bullet": 5}
"""Operators whose lexicon has few wordings for these cases."""


@pytest.mark.parametrize("name", [o.name for n in STYLE[1:] for o in operators("text")[n]])
def test_wordings_vary(name: str) -> None:
    edits = [edit for case in (*CASES, FRAGMENTS) for edit in tries(name, case, number=120)]
    assert len({edit.replacement for edit in edits}) > FEW_WORDINGS.get(name, 10)
