"""Removes paragraphs (12)."""

from bisect import bisect_left

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import CannotManipulate, Material, Task, by_density, draw


def edit(material: Material, task: Task) -> list[Edit]:
    """Each drawn unit goes with the gap behind it. The last one of the text stays. With `task.refill` a shortened
    document continues at its end for as many tokens as it lost; a full one has no continuation."""
    text, starts = material.text, [paragraph.start for paragraph in material.paragraphs]
    removable = [unit for unit in material.eligible if unit.end < starts[-1]]
    drawn = draw(task.random, removable, task.count, f"{material.unit}s to remove")
    edits = [Edit(unit.start, starts[bisect_left(starts, unit.end)], "") for unit in drawn]
    if task.refill and material.rest:
        lost = sum(text[edit.start : edit.end].count(" ") for edit in edits)
        pieces = material.rest.split(" ")[: lost + 1]
        if len(pieces) <= lost:
            raise CannotManipulate("too little text behind the short one to refill it")
        edits.append(Edit(len(text), len(text), " ".join(pieces)))
    return edits


register(by_density(12, "remove_content", "logical flow", edit, reads=("refill",)))
