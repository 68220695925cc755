"""Removes paragraphs (12)."""

from bisect import bisect_left

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Task, by_density, draw


def edit(material: Material, task: Task) -> list[Edit]:
    """Each drawn unit goes with the gap behind it. The last one of the text stays."""
    starts = [paragraph.start for paragraph in material.paragraphs]
    removable = [unit for unit in material.eligible if unit.end < starts[-1]]
    drawn = draw(task.random, removable, task.count, "paragraphs to remove")
    return [Edit(unit.start, starts[bisect_left(starts, unit.end)], "") for unit in drawn]


register(by_density(12, "remove_content", "logical flow", edit))
