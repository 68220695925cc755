"""Removes paragraphs (12)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Operator, Task, draw
from data_builders.manipulations.units import Paragraph
from judge_r1.core.documents import COHERENCE


def edit(material: Material, task: Task) -> list[Edit]:
    """Each drawn paragraph goes with the gap behind it. The last paragraph of the text stays."""
    drawn = draw(task.random, _removable(material), task.count, "paragraphs to remove")
    following = {
        one.start: after.start for one, after in zip(material.paragraphs, material.paragraphs[1:], strict=False)
    }
    return [Edit(paragraph.start, following[paragraph.start], "") for paragraph in drawn]


def _removable(material: Material) -> list[Paragraph]:
    return [paragraph for paragraph in material.paragraphs[:-1] if paragraph.eligible]


register(
    Operator(
        12,
        "remove_content",
        COHERENCE,
        "logical flow",
        intensity=1.0,
        edit=edit,
        units=lambda material: len(_removable(material)),
        share=False,
    )
)
