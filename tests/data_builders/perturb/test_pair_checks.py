"""`check_pair` accepts the pairs of the engine and gives the reason against invalid ones."""

from collections import Counter

import pytest
from perturb_factories import CASES, MEDICAL, case_of

from data_builders.perturb.pair_checks import check_pair, replaced_texts
from data_builders.perturb.rules.engine import perturb
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span

CONTEXT_MM = MEDICAL.context.index("36 mm")


def pair_of(case: Case, old: str, new: str, principle: int, context_spans: tuple[Span, ...] = ()) -> ReasoningPair:
    start = case.reference.index(old)
    flawed = case.reference[:start] + new + case.reference[start + len(old) :]
    flaw = Flaw(
        principle=principle, operator="test", span=Span(start=start, end=start + len(new)), context_spans=context_spans
    )
    return ReasoningPair.of(case, flawed, variant=1, origin=Origin(teacher="rules", seed=0, flaws=(flaw,)), seed=0)


CONTEXT_SPANS = (Span(start=CONTEXT_MM, end=CONTEXT_MM + 5),)


@pytest.mark.parametrize(
    ("old", "new", "principle", "context_spans", "reason"),
    [
        ("36 mm", "39 mm", 2, CONTEXT_SPANS, None),
        ("fever", "jaundice", 4, (), None),
        ("36 mm", "39 mm", 2, (), "names no context span"),
        ("36 mm", "47 mm", 2, (Span(start=0, end=5),), "does not have the old value"),
        ("36 mm", "39 mm", 2, (Span(start=0, end=9999),), "ends outside"),
        ("36 mm", "36 mm mm", 2, CONTEXT_SPANS, "no new value"),
        ("fever, cough", "pain", 4, (), "the case has the invented detail"),
        ("fever", "jaundice", 4, CONTEXT_SPANS, "contradicts nothing"),
        ("2. **Imaging", "7. **Imaging", 1, (), "numbering"),
        ("CT showed", "CT showed " + "very " * 60, 5, (), "times as long"),
    ],
)
def test_the_reason_of_a_rejection(
    old: str, new: str, principle: int, context_spans: tuple[Span, ...], reason: str | None
) -> None:
    found = check_pair(MEDICAL, pair_of(MEDICAL, old, new, principle, context_spans))
    assert (found is None) if reason is None else (reason in str(found))


def test_a_value_that_the_context_also_has_is_not_a_flaw() -> None:
    case = case_of("medical", MEDICAL.context + " Later 39 mm.", MEDICAL.reference)
    assert "the new value too" in str(check_pair(case, pair_of(case, "36 mm", "39 mm", 2, CONTEXT_SPANS)))


def test_another_case_and_a_hidden_change_are_rejected() -> None:
    pair = pair_of(MEDICAL, "fever", "jaundice", 4)
    assert "not the case's reference" in str(check_pair(CASES[1], pair))
    span = pair.origin.flaws[0].span
    hidden = pair.flawed[: span.end] + pair.flawed[span.end :].replace("mass", "lump", 1)
    moved = ReasoningPair.of(MEDICAL, hidden, variant=1, origin=pair.origin, seed=0)
    assert "outside the spans" in str(check_pair(MEDICAL, moved))


def test_replaced_texts_restore_the_reference() -> None:
    for case in CASES:
        for pair in perturb(case, abstained=Counter()):
            olds = replaced_texts(pair)
            assert olds is not None
            text, shift = pair.flawed, 0
            for flaw, old in zip(pair.origin.flaws, olds, strict=True):
                text = text[: flaw.span.start + shift] + old + text[flaw.span.end + shift :]
                shift += len(old) - (flaw.span.end - flaw.span.start)
            assert text == case.reference


@pytest.mark.parametrize(
    ("old", "new", "principle", "context_spans", "reason"),
    [
        ("36 mm", "39 mm", 2, (), None),
        ("36 mm", "thirty-nine millimetres", 2, (), None),
        ("36 mm", "39 mm", 2, (Span(start=0, end=9999),), "ends outside"),
        ("fever, cough", "pain", 4, (), "the case has the invented detail"),
        ("fever", "jaundice", 4, (), None),
        ("36 mm", "39 mm (incorrect)", 2, (), "leak marker"),
        ("likely.", "Likely!", 1, (), "changes no word"),
        ("2. **Imaging", "7. **Imaging", 1, (), "numbering"),
    ],
)
def test_a_writer_other_than_the_rules_may_paraphrase(
    old: str, new: str, principle: int, context_spans: tuple[Span, ...], reason: str | None
) -> None:
    """Its flaws need no string match, but must be flaws in any wording."""
    pair = pair_of(MEDICAL, old, new, principle, context_spans)
    origin = pair.origin.model_copy(update={"teacher": "ana"})
    pair = ReasoningPair.of(MEDICAL, pair.flawed, variant=1, origin=origin, seed=0)
    found = check_pair(MEDICAL, pair)
    assert (found is None) if reason is None else (reason in str(found))
