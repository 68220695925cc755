"""Removes punctuation (44)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Operator, Task, draw_characters
from data_builders.manipulations.units import words
from judge_r1.core.documents import FLUENCY

MARKS = frozenset(".,;:!?\"'()-–—…“”‘’")


def positions(material: Material) -> list[int]:
    """The punctuation marks of the text, without those of words, as in `isn't` and `Mr.`, and of numbers."""
    text = material.text
    of_words = {at for start, end in words(text) for at in range(start, end)}
    return [
        at
        for at, character in enumerate(text)
        if character in MARKS
        and at not in of_words
        and not (text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum())
    ]


def edit(material: Material, task: Task) -> list[Edit]:
    drawn = draw_characters(task, positions(material), "punctuation marks")
    return [Edit(at, at + 1, "") for at in drawn]


register(
    Operator(
        44,
        "punctuation",
        FLUENCY,
        "grammar",
        intensity=10.0,
        edit=edit,
        units=lambda material: len(positions(material)),
        can_be_dense=True,
    )
)
