"""Repeats paragraphs (14)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Operator, Task, draw
from judge_r1.core.documents import COHERENCE


def edit(material: Material, task: Task) -> list[Edit]:
    """Each drawn paragraph stands there twice in a row."""
    drawn = draw(task.random, material.eligible, task.count, "paragraphs to repeat")
    return [Edit(paragraph.end, paragraph.end, f"\n\n{paragraph.text}") for paragraph in drawn]


register(
    Operator(
        14,
        "repeat_content",
        COHERENCE,
        "logical flow",
        intensity=1.0,
        edit=edit,
        units=lambda material: len(material.eligible),
        share=False,
    )
)
