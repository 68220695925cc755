"""The form of variants: sentences that the model rewrites, in a copy of the reference."""

import asyncio
from collections.abc import Sequence

import pytest
from perturb_factories import MEDICAL

from data_builders.perturb.teacher.answer_parser import parse_answer
from data_builders.perturb.teacher.variant_checks import Accepted, check_variant
from data_builders.perturb.teacher.variant_form import VariantForm
from data_builders.text_units.steps import split_steps

STEPS = split_steps(MEDICAL.reference)
NEW = "CT showed a mass of 63 mm in the left kidney, so a renal origin is likely."


class Writer:
    """Chooses the first option that has the next of `wishes`, and writes `text`."""

    def __init__(self, *wishes: str, text: str = NEW, finished: bool = True) -> None:
        self.wishes, self.text, self.finished = list(wishes), text, finished
        self.read = ""
        self.offered: list[Sequence[str]] = []

    def add(self, text: str) -> None:
        self.read += text

    async def choose(self, options: Sequence[str], end: str = "\n") -> str:
        self.offered.append(options)
        chosen = next(option for option in options if self.wishes[0] in option)
        self.wishes.pop(0)
        self.read += chosen + end
        return chosen

    async def write(self, max_tokens: int, end: str = "\n") -> tuple[str, bool]:
        return self.text, self.finished


def answer(writer: Writer, principle: int | None, wanted: Sequence[int] = (1,), used: Sequence[int] = ()) -> str:
    async def write() -> str:
        return await VariantForm(MEDICAL.reference, STEPS, wanted, principle, used)(writer)

    return asyncio.run(write())


def test_a_single_variant_is_the_reference_with_one_sentence_rewritten() -> None:
    writer = Writer("36 mm")
    [variant], _ = parse_answer(answer(writer, 2), [1], "single")
    assert variant.text == MEDICAL.reference.replace("36 mm", "63 mm")
    assert isinstance(check_variant(MEDICAL, STEPS, variant, "single", (2,)), Accepted)
    assert f'Rewritten: "{NEW}"\n' in writer.read
    assert all("Imaging" not in option for option in writer.offered[0]), "headings stay"


def test_each_variant_breaks_a_step_of_its_own() -> None:
    first = next(step.index for step in STEPS if "Presentation" in step.text)
    writer = Writer("CT showed", "Biopsy")
    answer(writer, 2, [2, 5], used=[first])
    assert not any("fever" in option for option in writer.offered[0])
    assert set(writer.offered[0]) - set(writer.offered[1]) == {o for o in writer.offered[0] if o.startswith("CT ")}


def test_a_multi_variant_breaks_later_steps_for_later_principles() -> None:
    writer = Writer("4, 1]", "CT showed", "Biopsy")
    text = answer(writer, None)
    assert text.startswith("Flawed Variant 1:\nViolated Principles: [4, 1]\n1. **Presentation")
    assert text.count(NEW) == 2
    assert not any("fever" in option or option.startswith("CT ") for option in writer.offered[2])
    assert all("partial nephrectomy" not in option for option in writer.offered[1]), (
        "the last step is for the last flaw"
    )


def test_variants_without_a_step_are_missing() -> None:
    writer = Writer("", "")
    assert answer(writer, 1, [1, 2], used=[step.index for step in STEPS]) == ""


@pytest.mark.parametrize(
    ("written", "finished", "expected"),
    [
        ("CT showed a liver mass", True, "CT showed a liver mass."),
        ("CT showed a liver mass.\nThis breaks P2.", False, "CT showed a liver mass."),
        ("CT showed no mass. It was a liver", False, "CT showed no mass."),
        ('CT showed a mass."', True, "CT showed a mass."),
        ('CT showed a "mass".', True, 'CT showed a "mass".'),
        ("CT showed a liver", False, None),
        ("", True, None),
        ('"', True, None),
        ("</think> CT showed it.", True, None),
        ("Flawed Variant 2: CT showed it.", True, None),
        ("2. CT showed it.", True, None),
    ],
)
def test_only_a_whole_sentence_is_used(written: str, finished: bool, expected: str | None) -> None:
    writer = Writer("CT showed", text=written, finished=finished)
    variants, rejections = parse_answer(answer(writer, 2), [1], "single")
    old = next(option for option in writer.offered[0] if option.startswith("CT "))
    assert [variant.text for variant in variants] == ([MEDICAL.reference.replace(old, expected)] if expected else [])
    assert [rejection.reason for rejection in rejections] == ([] if expected else ["the variant is empty"])
