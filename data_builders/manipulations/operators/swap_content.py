"""Swaps pairs of paragraphs (11)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Operator, Task, need
from judge_r1.core.documents import COHERENCE


def edit(material: Material, task: Task) -> list[Edit]:
    """`task.count` disjoint pairs of different paragraphs change places: two edits for each pair."""
    different = list({paragraph.text: paragraph for paragraph in material.eligible}.values())
    need(len(different), 2 * task.count, "paragraphs to swap")
    drawn = task.random.sample(different, 2 * task.count)
    pairs = zip(drawn[::2], drawn[1::2], strict=True)
    return [Edit(to.start, to.end, source.text) for one, other in pairs for to, source in ((one, other), (other, one))]


register(
    Operator(
        11,
        "swap_content",
        COHERENCE,
        "logical flow",
        intensity=1.0,
        edit=edit,
        units=lambda material: len(material.eligible),
        share=False,
    )
)
