"""Replaces names of places and organisations by "it" (31)."""

import re

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.names import names
from data_builders.manipulations.operator import Material, Operator, Task, draw
from data_builders.manipulations.units import sentence_starts
from judge_r1.core.documents import COHERENCE

_ARTICLE, _POSSESSIVE = re.compile(r"\b[Tt]he\s$"), re.compile(r"['’]s\b")


def edit(material: Material, task: Task) -> list[Edit]:
    """An article in front goes with the name, and a possessive becomes "its"."""
    text = material.text
    starts = sentence_starts(text, material.tagger.sentences(text))
    edits = []
    for one in draw(task.random, names(material, "place"), task.count, "names of places"):
        article = _ARTICLE.search(text, max(0, one.start - 5), one.start)
        owner = _POSSESSIVE.match(text, one.end)
        start, end = article.start() if article else one.start, owner.end() if owner else one.end
        word = "its" if owner else "it"
        edits.append(Edit(start, end, word.capitalize() if start in starts else word))
    return edits


register(
    Operator(
        31,
        "pronouns",
        COHERENCE,
        "anaphora",
        intensity=35.0,
        edit=edit,
        units=lambda material: len(names(material, "place")),
        needs_tagger=True,
    )
)
