"""Removes words (45)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Operator, Task, draw_characters
from data_builders.manipulations.units import words
from judge_r1.core.documents import FLUENCY


def edit(material: Material, task: Task) -> list[Edit]:
    """Each word goes with the space behind it. Where there is none, before a full stop, it goes with the space in front
    of it, unless the word there goes with that space."""
    text, ends = material.text, dict(words(material.text))
    removed: list[Edit] = []
    for start in draw_characters(task, list(ends), "words"):
        end = ends[start]
        if text[end : end + 1] == " ":
            removed.append(Edit(start, end + 1, ""))
        else:
            before = start > 0 and text[start - 1] == " " and (not removed or removed[-1].end < start)
            removed.append(Edit(start - before, end, ""))
    return removed


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
