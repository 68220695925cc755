"""Replaces names of places and organisations by "the thing" or "the stuff" (32). Selected for the data set."""

from random import Random

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.names import names
from data_builders.manipulations.operator import Material, Operator, Task, draw
from data_builders.manipulations.units import sentence_starts
from data_builders.manipulations.wordings import wordings
from judge_r1.core.documents import COHERENCE

_ARTICLES = frozenset({"a", "an", "the"})
_BEFORE = 60
"""Characters that hold the two tokens before a name."""


def edit(material: Material, task: Task) -> list[Edit]:
    """The term gets an article unless one of the two tokens before it is one, and a capital at a sentence's start."""
    text = material.text
    starts = sentence_starts(text, material.tagger.sentences(text))
    return [
        Edit(one.start, one.end, _term(text[max(0, one.start - _BEFORE) : one.start], one.start in starts, task.random))
        for one in draw(task.random, names(material, "place"), task.count, "names of places")
    ]


def _term(before: str, at_start: bool, random: Random) -> str:
    term = random.choice(wordings().terms)
    if at_start or not _ARTICLES & {word.lower() for word in before.split()[-2:]}:
        term = f"the {term}" if term == "stuff" else f"{random.choice(('a', 'the'))} {term}"
    return term[0].upper() + term[1:] if at_start else term


register(
    Operator(
        32,
        "terms",
        COHERENCE,
        "anaphora",
        intensity=35.0,
        edit=edit,
        units=lambda material: len(names(material, "place")),
        needs_tagger=True,
    )
)
