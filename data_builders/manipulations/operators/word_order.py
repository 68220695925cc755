"""Shuffles the inner words of sentences (43). Selected for the data set."""

from random import Random

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Operator, Task, consecutive, draw
from data_builders.manipulations.units import CHAPTER, words
from judge_r1.core.documents import FLUENCY

_FIXED = 2
"""Words that stay at either end of a sentence."""


def inner_words(material: Material) -> list[list[tuple[int, int]]]:
    """The spans of the inner words of each sentence whose inner words differ. Headings are no sentences."""
    text, found = material.text, []
    for start, end in material.tagger.sentences(text):
        inner = [(start + first, start + last) for first, last in words(text[start:end])][_FIXED:-_FIXED]
        if len({text[first:last] for first, last in inner}) > 1 and not text[start:end].startswith(CHAPTER):
            found.append(inner)
    return found


def edit(material: Material, task: Task) -> list[Edit]:
    """A new order of the inner words of each drawn sentence, as one edit; punctuation stays in its place."""
    choose = consecutive if task.spread == "dense" else draw
    chosen = choose(task.random, inner_words(material), task.count, "sentences with inner words to shuffle")
    return [_shuffled(material.text, inner, task.random) for inner in chosen]


def _shuffled(text: str, inner: list[tuple[int, int]], random: Random) -> Edit:
    own = [text[first:last] for first, last in inner]
    order = list(own)
    while order == own:
        random.shuffle(order)
    parts, at = [], inner[0][0]
    for (first, last), word in zip(inner, order, strict=True):
        parts += [text[at:first], word]
        at = last
    return Edit(inner[0][0], at, "".join(parts))


def _sentences(material: Material) -> int:
    return len(material.tagger.sentences(material.text))


register(Operator(43, "word_order", FLUENCY, "grammar", intensity=5.0, edit=edit, units=_sentences, can_be_dense=True))
