"""Repeats paragraphs (14)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Task, by_density, draw


def edit(material: Material, task: Task) -> list[Edit]:
    """Each drawn paragraph stands there twice in a row."""
    drawn = draw(task.random, material.eligible, task.count, "paragraphs to repeat")
    return [Edit(paragraph.end, paragraph.end, f"\n\n{paragraph.text}") for paragraph in drawn]


register(by_density(14, "repeat_content", "logical flow", edit))
