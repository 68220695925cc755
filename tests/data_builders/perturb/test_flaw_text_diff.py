"""Changes take words from the variant, and white space and the style of quotation marks from the reference."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perturb_factories import MEDICAL

from data_builders.perturb.teacher.text_diff import find_changes
from data_builders.text_units.edits import apply_edits
from data_builders.text_units.steps import split_steps

REFERENCE = MEDICAL.reference
STEPS = split_steps(REFERENCE)
WORDS = ["kidney", "the", "because", "negative", "47", "2.5", "however", "mass"]
TOKEN = re.compile(r"\d+(?:[.,·]\d+)*|[^\W\d_]+|[^\w\s]|_")


def words_of(text: str) -> list[list[str]]:
    """The tokens of each line, with plain punctuation."""
    straight = text.replace("’", "'").replace("“", '"').replace("”", '"').replace("–", "-")
    return [TOKEN.findall(line) for line in straight.split("\n") if line.strip()]


def changed(reference: str, rng: Random, edits: int) -> str:
    """The reference with some words replaced, deleted or inserted, and with other white space."""
    lines = [TOKEN.findall(line) for line in reference.split("\n")]
    for _ in range(edits):
        line = rng.choice(lines)
        index = rng.randrange(len(line))
        match rng.randrange(3):
            case 0:
                line[index] = rng.choice(WORDS)
            case 1 if len(line) > 1:
                del line[index]
            case _:
                line.insert(index, rng.choice(WORDS))
    return "\n".join(rng.choice(["", "  "]) + " ".join(line) + rng.choice(["", " "]) for line in lines)


@given(st.randoms(use_true_random=False), st.integers(0, 6))
def test_edits_produce_the_words_of_the_variant(rng: Random, edits: int) -> None:
    variant = changed(REFERENCE, rng, edits)
    found = find_changes(REFERENCE, STEPS, variant)
    assert found is not None
    assert len(found) <= edits
    text, _ = apply_edits(REFERENCE, [change.edit for change in found])
    assert words_of(text) == words_of(variant)
    outside = REFERENCE
    for change in reversed(found):
        outside = outside[: change.edit.start] + change.edit.replacement + outside[change.edit.end :]
    assert outside == text


@pytest.mark.parametrize(
    ("reference", "variant", "text"),
    [
        ("The court’s view is “clear”.", 'The court\'s view is "clear".', "The court’s view is “clear”."),
        ("It is a 5–10 day course.", "It  is a 5-10 day\tcourse.", "It is a 5–10 day course."),
        ("It is not so.", "It is so.", "It is so."),
        ("It is so today.", "It is so.", "It is so."),
        ("However, it is so.", "It is so.", "It is so."),
        ("It is so.", "It is so, they say.", "It is so, they say."),
        ("It is so.", "In sum, it is so.", "In sum, it is so."),
        ("  - It is so.", "- It was so.", "  - It was so."),
        ("A dose of 2.5 mg.", "A dose of 3.5 mg.", "A dose of 3.5 mg."),
        ("p < 0.05 here", "p > 0.05 here", "p > 0.05 here"),
        ("the applicant's home", "the applicant left home", "the applicant left home"),
    ],
)
def test_only_words_are_taken_from_the_variant(reference: str, variant: str, text: str) -> None:
    found = find_changes(reference, split_steps(reference), variant)
    assert found is not None
    assert apply_edits(reference, [change.edit for change in found])[0] == text
    assert (found == []) == (text == reference)


def test_flaws_in_neighbouring_sentences_are_two_changes() -> None:
    reference = "He came home late. She had left for Rome. They met in May."
    found = find_changes(
        reference, split_steps(reference), "He came home drunk. Her bags were gone by noon. They met in May."
    )
    assert found is not None
    assert [change.steps for change in found] == [(0,), (1,)]
    found = find_changes(
        reference, split_steps(reference), "so He came home late. and She had left for Rome. They met in May."
    )
    assert found is not None, "words inserted before a sentence belong to that sentence"
    assert [change.steps for change in found] == [(0,), (1,)]


def test_joined_or_added_lines_are_rejected() -> None:
    assert find_changes("a\nb", split_steps("a\nb"), "a b") is None
    assert find_changes("a\nb", split_steps("a\nb"), "a\nb\nc") is None
    assert find_changes("a\nb", split_steps("a\nb"), "a\n\nb\n") == []
