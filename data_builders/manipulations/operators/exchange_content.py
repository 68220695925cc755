"""Replaces paragraphs by paragraphs of other documents (17). Selected for the data set."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import CannotManipulate, Material, Task, by_density, draw, need


def edit(material: Material, task: Task) -> list[Edit]:
    """The i-th exchanged paragraph gets one of the i-th donor. Where there are fewer donors than operations they take
    turns, so that the text resembles none of them; no donor paragraph is used twice."""
    need(len(material.donors), 1, "other documents")
    used = {unit.text for unit in material.eligible}
    edits = []
    for number, unit in enumerate(draw(task.random, material.eligible, task.count, f"{material.unit}s to exchange")):
        donor = material.donors[number % len(material.donors)]
        fresh = [one.text for one in material.foreign(donor) if one.text not in used]
        if not fresh:
            raise CannotManipulate(f"too few {material.unit}s in the other documents")
        used.add(chosen := task.random.choice(fresh))
        edits.append(Edit(unit.start, unit.end, chosen))
    return edits


register(by_density(17, "exchange_content", "logical flow", edit, legacy_bias=2.0))
