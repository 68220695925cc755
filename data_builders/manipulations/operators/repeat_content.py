"""Repeats paragraphs (14)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Task, by_density, draw


def edit(material: Material, task: Task) -> list[Edit]:
    """Each drawn paragraph is followed by `task.repeats` copies of itself."""
    drawn = draw(task.random, material.eligible, task.count, f"{material.unit}s to repeat")
    return [Edit(unit.end, unit.end, f"\n\n{unit.text}" * task.repeats) for unit in drawn]


register(by_density(14, "repeat_content", "logical flow", edit, reads=("repeats",)))
