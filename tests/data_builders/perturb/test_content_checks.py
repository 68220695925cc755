"""Refused without a verifier: what breaks no principle, or another one than it claims. The rest passes."""

import pytest
from factories import make_case

from data_builders.perturb.teacher.answer_parser import Rejection, Variant
from data_builders.perturb.teacher.variant_checks import check_variant
from data_builders.text_units.steps import split_steps

CASE = make_case(
    "The patient, a farmer from Galicia, weighed 7 kg less than in spring. He had high blood pressure and took 5 mg of "
    "amlodipine daily. The doctor noted bruises on both arms. He had smoked for twenty years and lived alone. The left "
    "kidney measured 11 cm. The ward asked him to come back after two weeks.",
    reference="1. He weighed 7 kg less than in spring, which is a warning sign.\n"
    "2. He took 5 mg of amlodipine daily, so the pressure was treated.\n"
    "3. The bruises were recent, because the doctor noted them at the first visit.\n"
    "4. His account deserves weight, since it agrees with the findings.\n"
    "5. The kidney was of normal size, and no further imaging is needed.\n"
    "6. He should come back after two weeks, or earlier if the pain returns.\n"
    "7. Treatment with the same dose can go on.",
)
STEPS = split_steps(CASE.reference)


def reason(principle: int, old: str, new: str) -> str | None:
    assert CASE.reference.count(old) == 1
    found = check_variant(CASE, STEPS, Variant(1, CASE.reference.replace(old, new)), "single", (principle,))
    return found.reason if isinstance(found, Rejection) else None


REFUSED = [
    (2, "weighed 7 kg", "weighed seven kg", "the same value in another form"),
    (1, "because the doctor noted them at the first visit.", "because the doctor.", "a sentence is cut"),
    (5, "He should come back after two weeks, or earlier if the pain returns.",
     "He should come back after two weeks or if the", "a sentence is cut"),
    (6, "and no further imaging is needed", "and no further imaging is safe because of the", "a sentence is cut"),
    (1, "since it agrees with the findings", "since qwzx jkvbt xqpl zzvrk mlkqw", "no words"),
    (1, "since it agrees with the findings", "since it agrees agrees agrees with the findings", "no words"),
    (5, "He should come back after two weeks, or earlier if the pain returns.",
     "Er soll nach zwei Wochen wieder kommen, oder früher, falls die Schmerzen nicht weg sind.", "another language"),
    (5, "He should come back after two weeks, or earlier if the pain returns.",
     "Il doit revenir dans une semaine, et la douleur est pour les autres jours.", "another language"),
    (3, "since it agrees with the findings", "as far as one can trust a filthy farmer", "P3: a slur"),
    (1, "because the doctor noted them at the first visit", "as they were old, which is of course a wrong conclusion",
     "a leak marker"),
    (2, "The kidney was of normal size, and no further imaging is needed.", "The left kidney measured 11 cm.",
     "the case says the same"),
    (5, "or earlier if the pain returns", "or earlier if the pain returns, as he weighed less than in spring",
     "P5: it only adds what the case says"),
    (4, "so the pressure was treated", "so the hypertension was treated",
     "P4: the case has the detail in other words"),
    (4, "The bruises were recent", "The contusions on both arms were recent",
     "P4: the case has the detail in other words"),
    (4, "He weighed 7 kg less", "He weighed 9 kg less", "P4: only a value is changed"),
    (4, "He took 5 mg of amlodipine daily", "He took 8 mg of amlodipine daily at breakfast",
     "P4: the case contradicts the detail"),
    (3, "He took 5 mg of", "He took 8 mg of", "P3: only a value is changed"),
    (5, "after two weeks, or", "after five weeks, or", "P5: only a value is changed"),
]  # fmt: skip
PASSED = [
    (6, "or earlier if the pain returns", "or earlier if it is a pain that he is not used to"),
    (1, "because the doctor noted them at the first visit", "because no other doctor could have overlooked them"),
    (2, "He took 5 mg of", "He took 8 mg of"),
    (2, "The kidney was of normal size", "The kidney was of reduced size"),
    (3, "since it agrees with the findings", "as far as one can rely on a man from the country"),
    (4, "which is a warning sign", "as his sister had noticed in July, a warning sign"),
    (4, "which is a warning sign", "which (a mistake in its reading aside) the scale of a clinic showed"),
    (5, "or earlier if the pain returns", "or earlier where this seems to be of use"),
    (6, "or earlier if the pain returns", "and should bear any pain at home until then"),
    (6, "Treatment with the same dose can go on.", "Treatment with twice the dose can go on."),
]


@pytest.mark.parametrize(("principle", "old", "new", "why"), REFUSED)
def test_refused_without_a_verifier(principle: int, old: str, new: str, why: str) -> None:
    assert reason(principle, old, new) == why


@pytest.mark.parametrize(("principle", "old", "new"), PASSED)
def test_what_may_be_a_flaw_passes(principle: int, old: str, new: str) -> None:
    assert reason(principle, old, new) is None
