"""Rules confirm or refute a P2 label where numbers, dates and names decide, and leave the rest to a verifier."""

from pathlib import Path

import pytest
from factories import make_case

from data_builders.build import write_pairs
from data_builders.perturb.teacher.answer_parser import Rejection, Variant
from data_builders.perturb.teacher.label_checks import certain, checks_by_rules, contradicts
from data_builders.perturb.teacher.variant_checks import Accepted, check_variant
from data_builders.text_units.steps import split_steps
from data_builders.validate import validate
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span
from judge_r1.files.pair_set import PairSet

CASE = make_case(
    "The left kidney measured 11 cm. The right kidney measured 9 cm. Dr Adler saw the patient on 3 May 2021. "
    "The dose was raised from 5 mg to 10 mg. Her temperature was normal.",
    reference="1. The left kidney measured 11 cm.\n2. Dr Adler saw her on 3 May 2021.\n3. The dose rose to 10 mg.\n"
    "4. Her temperature was normal.\n5. So she was well.",
)


def checked(old: str, new: str, principle: int = 2) -> Accepted | Rejection:
    assert old in CASE.reference
    variant = Variant(1, CASE.reference.replace(old, new))
    return check_variant(CASE, split_steps(CASE.reference), variant, "single", (principle,))


def pair_of(found: Accepted | Rejection, case: Case = CASE) -> ReasoningPair:
    assert isinstance(found, Accepted)
    origin = Origin(teacher="chat:toy", seed=0, prompt_hash="x" * 16, flaws=found.flaws)
    return ReasoningPair.of(case, found.flawed, variant=1, origin=origin, seed=0)


@pytest.mark.parametrize(
    ("old", "new", "label"),
    [
        ("11 cm", "12 cm", "P2: contradicts the case"),
        ("left kidney measured 11 cm", "left kidney measured 9 cm", "P2: contradicts the case"),
        ("3 May 2021", "3 June 2021", "P2: contradicts the case"),
        ("Dr Adler", "Dr Brandt", "P2: contradicts the case"),
        ("rose to 10 mg", "rose to 5 mg", "P2: not checked by rules"),
        ("was normal", "was raised", "P2: not checked by rules"),
    ],
)
def test_labels_of_p2(old: str, new: str, label: str) -> None:
    pair = pair_of(checked(old, new))
    assert list(checks_by_rules(CASE, pair)) == [label]
    assert certain(CASE, pair) == (label == "P2: contradicts the case")


def test_a_value_that_the_case_states_is_no_contradiction() -> None:
    found = checked("left kidney measured 11 cm", "right kidney measured 9 cm")
    assert isinstance(found, Rejection)
    assert found.reason == "P2: the case states the new value"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("She weighs 7 kg.", "She weighs seven kg."),
        ("She weighs 7 kg.", "She weighs 7000 g."),
        ("The dose was 100 µg.", "The dose was 0.1 mg."),
        ("Platelets were 0.72 × 10⁹/L.", "Platelets were 720 per µL."),
        ("He came on 3 May 2021.", "He came on 2021-05-03."),
        ("He came on 3 May 2021.", "He came on May 3rd, 2021."),
    ],
)
def test_a_value_in_another_form_is_no_flaw(old: str, new: str) -> None:
    case = make_case(f"It was late. {old} It ended well.", reference=f"1. {old}\n2. It ended well.\n3. So it was paid.")
    variant = Variant(1, case.reference.replace(old, new))
    for principle in range(1, 7):
        found = check_variant(case, split_steps(case.reference), variant, "single", (principle,))
        assert isinstance(found, Rejection)
        assert found.reason == "the same value in another form"
    start = case.reference.index(old)
    span = Span(start=start, end=start + len(new))
    assert contradicts(case, variant.text, span, old) is None


def test_two_changes_in_one_sentence_are_not_certain() -> None:
    pair = pair_of(checked("The left kidney measured 11 cm.", "Both kidneys together measured 12 cm."))
    assert not certain(CASE, pair)


@pytest.mark.parametrize(("principle", "label"), [(4, "P4: not found in the case"), (1, "P1: not checked by rules")])
def test_labels_of_others(principle: int, label: str) -> None:
    pair = pair_of(checked("So she was well.", "So she was well enough to run a marathon.", principle))
    assert list(checks_by_rules(CASE, pair)) == [label]
    assert not certain(CASE, pair)


def test_validate_refutes_a_label_and_counts_the_others(tmp_path: Path) -> None:
    """A build rejects such a variant, but a file may come from elsewhere: its flaw states what the case states."""
    pairs = [pair_of(checked("11 cm", "12 cm")), pair_of(checked("was normal", "was raised"))]
    flawed = CASE.reference.replace("left kidney measured 11 cm", "right kidney measured 9 cm")
    start = flawed.index("right")
    flaw = Flaw(principle=2, operator="teacher", span=Span(start=start, end=start + len("right kidney measured 9")))
    origin = Origin(teacher="chat:toy", seed=0, prompt_hash="x" * 16, flaws=(flaw,))
    wrong = ReasoningPair.of(CASE, flawed, variant=2, origin=origin, seed=0)
    write_pairs(PairSet({CASE.case_id: CASE}, [*pairs, wrong]), tmp_path)
    report = validate(tmp_path)
    assert report.problems["P2: the case states the new value"] == (1, wrong.pair_id)
    assert report.notes[-1] == (
        "labels of a teacher: P2: contradicts the case in 1, P2: not checked by rules in 1, "
        "P2: the case states the new value in 1"
    )
