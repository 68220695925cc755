"""Replaces names of places and organisations by "it" (31)."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Operator, Task, draw
from data_builders.manipulations.tagger import Mention
from data_builders.manipulations.units import sentence_starts
from judge_r1.core.documents import COHERENCE


def places(material: Material) -> list[Mention]:
    """The mentions of places, buildings and organisations."""
    return [mention for mention in material.tagger.mentions(material.text) if mention.kind == "place"]


def edit(material: Material, task: Task) -> list[Edit]:
    starts = sentence_starts(material.text, material.tagger.sentences(material.text))
    drawn = draw(task.random, places(material), task.count, "names of places")
    return [Edit(one.start, one.end, "It" if one.start in starts else "it") for one in drawn]


register(
    Operator(
        31, "pronouns", COHERENCE, "anaphora", intensity=35.0, edit=edit, units=lambda material: len(places(material))
    )
)
