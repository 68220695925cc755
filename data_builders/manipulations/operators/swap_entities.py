"""Exchanges the names of persons among each other (22 in the data set, 21 in the thesis)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Operator, Task, need
from data_builders.manipulations.operators.exchange_entities import persons
from judge_r1.core.documents import COHERENCE


def edit(material: Material, task: Task) -> list[Edit]:
    """A cyclic permutation of `task.count` different names: at every mention each name becomes the next one. An
    operation is one name."""
    mentions = persons(material)
    names = sorted({material.text[one.start : one.end] for one in mentions})
    need(len(names), task.count, "different names of persons")
    chosen = task.random.sample(names, task.count)
    following = dict(zip(chosen, [*chosen[1:], chosen[0]], strict=True))
    return [
        Edit(one.start, one.end, following[name])
        for one in mentions
        if (name := material.text[one.start : one.end]) in following
    ]


def _names(material: Material) -> int:
    return len({material.text[one.start : one.end] for one in persons(material)})


register(
    Operator(
        22,
        "swap_entities",
        COHERENCE,
        "plot",
        intensity=30.0,
        edit=edit,
        units=_names,
        least=2,
        needs_tagger=True,
    )
)
