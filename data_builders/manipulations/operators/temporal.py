"""Appends sentences about today's technology (24). Selected for the data set."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Task, by_density, draw, need
from data_builders.manipulations.wordings import modern_sentences


def edit(material: Material, task: Task) -> list[Edit]:
    """A different sentence at the end of each drawn paragraph. The templates take turns."""
    templates = modern_sentences()
    need(sum(len(group) for group in templates), task.count, "different modern sentences")
    pools = [task.random.sample(group, len(group)) for group in task.random.sample(templates, len(templates))]
    added = [pools[number % len(pools)][number // len(pools)] for number in range(task.count)]
    drawn = draw(task.random, material.eligible, task.count, f"{material.unit}s to append to")
    return [Edit(unit.end, unit.end, f" {sentence}") for unit, sentence in zip(drawn, added, strict=True)]


register(by_density(24, "temporal", "plot", edit, legacy_bias=1.0))
