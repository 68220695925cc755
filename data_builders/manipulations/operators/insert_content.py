"""Inserts paragraphs of one other document (13)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Task, by_density, draw, need


def edit(material: Material, task: Task) -> list[Edit]:
    """Different paragraphs of one donor, each behind a paragraph of this document."""
    need(len(material.donors), 1, "other documents")
    donor = material.foreign(task.random.choice(material.donors))
    foreign = draw(task.random, donor, task.count, f"{material.unit}s in the other document")
    units = draw(task.random, material.eligible, task.count, f"{material.unit}s to insert behind")
    return [Edit(unit.end, unit.end, f"\n\n{one.text}") for unit, one in zip(units, foreign, strict=True)]


register(by_density(13, "insert_content", "logical flow", edit))
