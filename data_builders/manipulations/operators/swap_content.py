"""Swaps pairs of paragraphs (11)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Task, by_density, need


def edit(material: Material, task: Task) -> list[Edit]:
    """`task.count` disjoint pairs of different paragraphs change places: two edits for each pair."""
    different = list({paragraph.text: paragraph for paragraph in material.eligible}.values())
    need(len(different), 2 * task.count, f"{material.unit}s to swap")
    drawn = task.random.sample(different, 2 * task.count)
    pairs = zip(drawn[::2], drawn[1::2], strict=True)
    return [Edit(to.start, to.end, source.text) for one, other in pairs for to, source in ((one, other), (other, one))]


register(by_density(11, "swap_content", "logical flow", edit))
