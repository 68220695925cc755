"""A shortened reference keeps its conclusion, and no step that it keeps refers to one that it drops."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.build import build
from data_builders.export import export
from data_builders.exports import Options
from data_builders.reference_outline import Outline
from data_builders.short_reference import shorten_reference
from data_builders.sources import SOURCES
from data_builders.text_units.steps import numbering
from data_builders.validate import validate
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Case

CONTEXT = (
    "The fever lasted 9 days. Sodium was low and potassium was high at the first visit. The scan was clear at point 3."
)


def case_of(reference: str, context: str = CONTEXT) -> Case:
    return Case.of(
        domain="medical", context=context, decision="a cold", reference=reference, source="toy", license="MIT"
    )


def shortened(reference: str, max_steps: int) -> str:
    case = shorten_reference(case_of(reference), max_steps)
    assert case is not None
    return case.reference


def test_citations_reasons_and_numbers_of_the_case_are_kept_before_others() -> None:
    reference = (
        "1. The visit was in the autumn.\n2. Sodium was low and potassium was high at the first visit.\n"
        "3. The mood was rather good.\n4. A cold is likely, because the throat was red.\n"
        "5. Nine or 9 days are a long time.\n6. The plan should be to wait."
    )
    assert shortened(reference, 2) == (
        "1. Sodium was low and potassium was high at the first visit.\n2. The plan should be to wait."
    )
    for number, added in ((3, "because"), (4, "Nine or 9 days")):
        assert f"{number}. The plan" in shortened(reference, number)
        assert added in shortened(reference, number)


@pytest.mark.parametrize(
    ("last", "kept", "named"),
    [
        ("As in step 2, the plan should be to wait.", "As in step 1, the plan should be to wait.", [2, 5]),
        ("Steps 2 and 3 together mean a cold.", "Steps 1 and 2 together mean a cold.", [2, 3]),
        ("Points 2–4 together mean a cold.", "Points 1–3 together mean a cold.", [2, 3, 4]),
        ("This is why the plan should be to wait.", "This is why the plan should be to wait.", [5]),
        ("In view of the above findings a cold is likely.", "In view of the above findings a cold is likely.", [5]),
    ],
)
def test_what_a_kept_step_refers_to_is_kept_and_renumbered(last: str, kept: str, named: list[int]) -> None:
    steps = [f"The visit was in the {name}." for name in ("autumn", "winter", "spring", "summer", "evening")]
    reference = "\n".join(f"{number}. {step}" for number, step in enumerate([*steps, last], 1))
    wanted = [*(steps[number - 1] for number in named), kept]
    assert shortened(reference, len(wanted)) == "\n".join(f"{number}. {step}" for number, step in enumerate(wanted, 1))


def test_a_step_whose_reference_does_not_fit_is_dropped_and_such_a_conclusion_leaves_the_case_out() -> None:
    reference = (
        "1. The visit was early.\n2. This made it cheap.\n3. That was because of step 1.\n"
        "4. It was late.\n5. A cold is likely."
    )
    short = shortened(reference, 2)
    assert short == "1. The visit was early.\n2. A cold is likely."
    assert (
        shorten_reference(case_of("1. The visit was early.\n2. This made it cheap.\n3. It was then late."), 2) is None
    )


def test_numbers_of_the_case_are_no_references() -> None:
    reference = "1. The mood was good that day.\n2. The day was a warm one.\n3. The scan was clear at point 3."
    assert shortened(reference, 2).endswith("2. The scan was clear at point 3.")
    reference = (
        "1. The mood was good that day.\n2. The day was a warm one.\n3. A gain of points 2.5 and step 1 % is small."
    )
    assert shortened(reference, 2).endswith("2. A gain of points 2.5 and step 1 % is small.")


def test_headings_stay_with_what_they_head_and_nested_lists_are_renumbered() -> None:
    cited = "Sodium was low and potassium was high at the first visit."
    reference = (
        "1. **First thoughts:**\n   - The mood was rather good.\n   - The day was a warm one.\n\n"
        f"2. **Step 2: the blood:**\n   1. The visit was early in the day.\n   2. {cited}\n\n"
        "3. **Final:** A cold is likely. It will pass soon enough."
    )
    assert shortened(reference, 3) == (
        f"1. **Step 1: the blood:**\n   1. {cited}\n\n2. **Final:** A cold is likely. It will pass soon enough."
    )


def test_a_reference_that_is_short_enough_stays_as_it_is() -> None:
    case = case_of("1. The mood was good.\n2. A cold is likely.")
    assert shorten_reference(case, 2) is case


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    "The mood was rather good",
                    "It follows from step 2 that all is well",
                    "This is unlikely because of steps 1 and 3",
                    "**Then:** The case is clear, see point 4",
                    "The causes were these:",
                    "As noted above the day was warm",
                    "Yes",
                ]
            ),
            st.sampled_from(["", ". It was 9 days"]),
            st.sampled_from(["", "   "]),
        ),
        min_size=1,
        max_size=9,
    ),
    st.integers(2, 6),
)
def test_any_reference_is_shortened_consistently(parts: list[tuple[str, str, str]], max_steps: int) -> None:
    reference = "\n".join(f"{indent}{n}. {one}{two}." for n, (one, two, indent) in enumerate(parts, 1)).strip()
    case = case_of(reference)
    short = shorten_reference(case, max_steps)
    if short is None or short is case:
        assert (short is case) == (len(Outline(case).steps) <= max_steps)
        return
    assert short == shorten_reference(case, max_steps)
    assert short.case_id != case.case_id
    assert (short.context, short.decision) == (case.context, case.decision)
    assert short.meta["steps_dropped"] > 0
    assert short.meta["max_steps"] == max_steps
    before, after = Outline(case), Outline(short)
    ends = [re.sub(r"\d+", "#", outline.sentences[outline.steps[-1]].text) for outline in (before, after)]
    assert ends[0] == ends[1]
    assert len(after.steps) <= max_steps
    masked = [re.sub(r"\d+", "#", sentence.text) for sentence in before.sentences]
    position = -1
    for sentence in after.sentences:  # the kept sentences, in their order, with nothing but numbers changed
        position = masked.index(re.sub(r"\d+", "#", sentence.text), position + 1)


def test_builtin_builds_are_shorter_valid_and_deterministic(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        build("builtin", tmp_path / folder, max_steps=4, variants=1, kinds=["single"], limit=3)
    for name in ("cases.jsonl", "pairs.jsonl", "build.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    report = json.loads((tmp_path / "one" / "build.json").read_text())
    assert report["max_steps"] == 4
    cases = [json.loads(line) for line in (tmp_path / "one" / "cases.jsonl").read_text().splitlines()]
    assert len(cases) == 3
    for case in cases:
        assert case["meta"]["steps_dropped"] > 0
        numbers = [int(marker.strip(" .")) for marker in numbering(case["reference"])]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) <= 4
    assert validate(tmp_path / "one").good
    export(tmp_path / "one", tmp_path / "card", "sft", Options())
    card = (tmp_path / "card" / "README.md").read_text()
    assert "References shortened to at most 4 steps: 3 of 3 cases." in card


def test_every_builtin_case_has_a_short_form_with_its_last_sentence() -> None:
    for case in SOURCES.get("builtin").read(None, None, 0, Counter()):
        short = shorten_reference(case, 4)
        assert short is not None
        assert len(Outline(short).steps) == 4
        assert short.reference.endswith(case.reference[-30:])


def test_a_build_of_one_step_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="2 or more"):
        build("builtin", tmp_path, max_steps=1)
