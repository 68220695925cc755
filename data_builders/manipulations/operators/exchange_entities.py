"""Replaces names of persons by new names (21 in the data set, 22 in the thesis)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.names import names
from data_builders.manipulations.operator import CannotManipulate, Material, Operator, Task, draw
from data_builders.manipulations.tagger import Mention
from data_builders.manipulations.wordings import wordings
from judge_r1.core.documents import COHERENCE


def persons(material: Material) -> list[Mention]:
    """The mentions of persons by one word."""
    return [one for one in names(material, "person") if len(material.text[one.start : one.end].split()) == 1]


def edit(material: Material, task: Task) -> list[Edit]:
    """Each drawn mention gets a name that the text does not contain."""
    new = [name for name in wordings().pool if name not in material.text]
    if not new:
        raise CannotManipulate("too few names that the text does not contain")
    drawn = draw(task.random, persons(material), task.count, "names of persons")
    return [Edit(mention.start, mention.end, task.random.choice(new)) for mention in drawn]


register(
    Operator(
        21,
        "exchange_entities",
        COHERENCE,
        "plot",
        intensity=25.0,
        edit=edit,
        units=lambda material: len(persons(material)),
        needs_tagger=True,
    )
)
