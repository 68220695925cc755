"""Removes paragraphs (12)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Task, by_density, draw
from data_builders.manipulations.units import Paragraph


def edit(material: Material, task: Task) -> list[Edit]:
    """Each drawn paragraph goes with the gap behind it. The last paragraph of the text stays."""
    drawn = draw(task.random, _removable(material), task.count, "paragraphs to remove")
    following = {
        one.start: after.start for one, after in zip(material.paragraphs, material.paragraphs[1:], strict=False)
    }
    return [Edit(paragraph.start, following[paragraph.start], "") for paragraph in drawn]


def _removable(material: Material) -> list[Paragraph]:
    return [paragraph for paragraph in material.paragraphs[:-1] if paragraph.eligible]


register(by_density(12, "remove_content", "logical flow", edit))
