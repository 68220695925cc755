"""Removes words (45)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Operator, Task, draw_characters
from data_builders.manipulations.units import words
from judge_r1.core.documents import FLUENCY


def edit(material: Material, task: Task) -> list[Edit]:
    """Each word goes with the space behind it, if there is one."""
    text, ends = material.text, dict(words(material.text))
    drawn = draw_characters(task, list(ends), "words")
    return [Edit(start, ends[start] + (text[ends[start] : ends[start] + 1] == " "), "") for start in drawn]


register(
    Operator(
        45,
        "word_removal",
        FLUENCY,
        "grammar",
        intensity=3.0,
        edit=edit,
        units=lambda material: len(words(material.text)),
        can_be_dense=True,
    )
)
