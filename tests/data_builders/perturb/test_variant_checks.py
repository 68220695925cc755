"""Invalid variants of a teacher are rejected with a reason; the flaws of valid ones are located."""

from dataclasses import replace

import pytest
from perturb_factories import MEDICAL, case_of

from data_builders.perturb.pair_checks import check_pair
from data_builders.perturb.teacher.answer_parser import Kind, Rejection, Variant
from data_builders.perturb.teacher.variant_checks import Accepted, check_variant, find_conflict
from data_builders.text_units.steps import split_steps
from judge_r1.core.records import Origin, ReasoningPair

STEPS = split_steps(MEDICAL.reference)


def checked(
    *changes: tuple[str, str], kind: Kind = "single", principles: tuple[int, ...] = (1,)
) -> Accepted | Rejection:
    text = MEDICAL.reference
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return check_variant(MEDICAL, STEPS, Variant(1, text, principles), kind, principles)


def accepted(*changes: tuple[str, str], kind: Kind = "single", principles: tuple[int, ...] = (1,)) -> Accepted:
    found = checked(*changes, kind=kind, principles=principles)
    assert isinstance(found, Accepted), found
    return found


def pair_of(found: Accepted) -> ReasoningPair:
    origin = Origin(teacher="chat:test", seed=0, prompt_hash="x", flaws=found.flaws)
    return ReasoningPair.of(MEDICAL, found.flawed, variant=1, origin=origin, seed=0)


def test_the_kth_listed_principle_is_the_kth_flaw() -> None:
    changes = (("36 mm", "63 mm"), ("should be stopped", "should be doubled"))
    found = accepted(*changes, kind="multi", principles=(6, 2))
    assert [(f.principle, found.flawed[f.span.start : f.span.end]) for f in found.flaws] == [(6, "63"), (2, "doubled")]
    assert (found.combination, found.steps) == ((2, 6), (1, 3))
    assert pair_of(found).violated == (2, 6)
    assert check_pair(MEDICAL, pair_of(found)) is None


@pytest.mark.parametrize(
    ("changes", "kind", "principles", "reason"),
    [
        ((), "single", (1,), "the same text as the reference"),
        ((("2. **Imaging", "7. **Imaging"),), "single", (1,), "the numbering differs"),
        ((("2. **Imaging", "**Imaging"),), "single", (1,), "the numbering differs"),
        ((("the chronic loss", "the chronic loss" + " and pain" * 40),), "single", (1,), "the length differs"),
        ((("renal origin is likely.", "renal origin\nis likely."),), "single", (1,), "the lines differ"),
        ((("36 mm", "63 mm [flaw]"),), "single", (2,), "a leak marker"),
        ((("36 mm", "**63 mm**"),), "single", (2,), "a leak marker"),
        ((("likely.", "Likely!"),), "single", (1,), "no word is changed"),
        ((("36 mm", "63 mm"), ("March 2019", "May 2019")), "single", (2,), "more than one step is changed"),
        ((("36 mm", "63 mm"),), "multi", (2, 4), "changes and principles differ in number"),
        (
            (("36 mm", "63 mm"), ("March 2019", "May 2019"), ("fever", "mumps")),
            "multi",
            (2, 4),
            "changes and principles differ in number",
        ),
        ((("flank pain", "ceftriaxone in March 2019"),), "single", (4,), None),
        (
            (("so a renal origin is likely", "and a normal liver"),),
            "single",
            (4,),
            "P4: the case has the invented detail",
        ),
    ],
)
def test_the_reason_of_a_rejection(
    changes: tuple[tuple[str, str], ...], kind: Kind, principles: tuple[int, ...], reason: str | None
) -> None:
    found = checked(*changes, kind=kind, principles=principles)
    assert (found.reason if isinstance(found, Rejection) else None) == reason


def test_a_changed_sign_is_a_change() -> None:
    """p < 0.05 and p > 0.05 have the same words."""
    case = case_of(
        "academic", "The trial had p < 0.05.", "1. The trial had p < 0.05.\n2. So the drug works as they say."
    )
    variant = Variant(1, case.reference.replace("<", ">"))
    assert isinstance(check_variant(case, split_steps(case.reference), variant, "single", (2,)), Accepted)


def test_variants_of_a_set_change_different_steps_and_break_different_principles() -> None:
    first = accepted(("36 mm", "63 mm"), principles=(2,))
    again = replace(accepted(("left kidney", "right kidney"), principles=(2,)), number=2)
    other = replace(accepted(("March 2019", "May 2019"), principles=(2,)), number=3)
    assert "same place" in str(find_conflict(again, [first], "single", {}))
    assert find_conflict(other, [first], "single", {}) is None
    assert "identical" in str(find_conflict(other, [first], "single", {other.flawed: "variant 2 for P4"}))
    one = accepted(("36 mm", "63 mm"), ("March 2019", "May 2019"), kind="multi", principles=(2, 6))
    same = replace(accepted(("fever", "mumps"), ("March 2019", "May 2019"), kind="multi", principles=(6, 2)), number=2)
    new = replace(accepted(("36 mm", "65 mm"), ("March 2019", "July 2019"), kind="multi", principles=(2, 1)), number=3)
    assert "same principles" in str(find_conflict(same, [one], "multi", {}))
    assert "same place" in str(find_conflict(new, [one], "multi", {}))
