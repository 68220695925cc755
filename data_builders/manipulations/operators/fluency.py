"""Manipulations that degrade fluency: characters, verbs, words and punctuation are wrong or missing (41-45)."""

from random import Random

from data_builders.manipulations import manipulation
from data_builders.manipulations.operator import Material, Task, consecutive, draw, draw_characters
from data_builders.manipulations.units import HEADING, words
from data_builders.text_units.edits import Edit
from judge_r1.core.documents import FLUENCY

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


def _neighbours() -> dict[str, str]:
    """The keys that touch each key on a QWERTY keyboard, whose rows are shifted by about half a key. Below the space
    bar's row are c, v, b, n and m."""
    found = {" ": "cvbnm"}
    for row, keys in enumerate(_ROWS):
        for at, key in enumerate(keys):
            beside = keys[max(0, at - 1) : at] + keys[at + 1 : at + 2]
            above = _ROWS[row - 1][at : at + 2] if row else ""
            below = _ROWS[row + 1][max(0, at - 1) : at + 1] if row + 1 < len(_ROWS) else ""
            found[key] = beside + above + below
    return found


NEIGHBOURS = _neighbours()


@manipulation(41, FLUENCY, "grammar", 2.0, lambda material: material.tokens, can_be_dense=True)
def typos(material: Material, task: Task) -> list[Edit]:
    """Replaces characters by their neighbours on the keyboard. Selected for the data set.

    `task.count` different characters change. The thesis draws positions with replacement, so that a few coincide.
    """
    text = material.text
    positions = [at for at, character in enumerate(text) if character.lower() in NEIGHBOURS]
    edits = []
    for at in draw_characters(task, positions, "characters with a neighbour on the keyboard"):
        typo = task.random.choice(NEIGHBOURS[text[at].lower()])
        edits.append(Edit(at, at + 1, typo.upper() if text[at].isupper() else typo))
    return edits


def _verbs(material: Material) -> int:
    return len(material.tagger.verbs(material.text))


@manipulation(42, FLUENCY, "grammar", 5.0, _verbs, can_be_dense=True, needs_tagger=True)
def verb_tense(material: Material, task: Task) -> list[Edit]:
    """Changes the tense of verbs. Selected for the data set.

    Past becomes present and present becomes past. The intensity is a share of all verbs and auxiliaries, as in the
    thesis. Those without a tense, and those whose other form is unknown, or may be correct, are not drawn.
    """
    choose = consecutive if task.spread == "dense" else draw
    verbs = [verb for verb in material.tagger.verbs(material.text) if verb.opposite is not None]
    chosen = choose(task.random, verbs, task.count, "verbs with a form in the other tense")
    return [Edit(verb.start, verb.end, verb.opposite or "") for verb in chosen]


_FIXED = 2
"""Words that stay at either end of a sentence."""


def inner_words(material: Material) -> list[list[tuple[int, int]]]:
    """The spans of the inner words of each sentence whose inner words differ. Headings are no sentences."""
    text, found = material.text, []
    for start, end in material.tagger.sentences(text):
        inner = [(start + first, start + last) for first, last in words(text[start:end])][_FIXED:-_FIXED]
        if len({text[first:last] for first, last in inner}) > 1 and not HEADING.match(text, start):
            found.append(inner)
    return found


def _sentences(material: Material) -> int:
    return len(material.tagger.sentences(material.text))


@manipulation(43, FLUENCY, "grammar", 5.0, _sentences, can_be_dense=True, needs_tagger=True)
def word_order(material: Material, task: Task) -> list[Edit]:
    """Shuffles the inner words of sentences. Selected for the data set.

    A new order of the inner words of each drawn sentence, as one edit; punctuation stays in its place.
    """
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


MARKS = frozenset(".,;:!?\"'()-–—…“”‘’")


def marks(material: Material) -> list[int]:
    """The punctuation marks of the text, without those of words, as in `isn't` and `Mr.`, and of numbers."""
    text = material.text
    of_words = {at for start, end in words(text) for at in range(start, end)}
    return [
        at
        for at, character in enumerate(text)
        if character in MARKS
        and at not in of_words
        and not (text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum())
    ]


@manipulation(44, FLUENCY, "grammar", 10.0, lambda material: len(marks(material)), can_be_dense=True)
def punctuation(material: Material, task: Task) -> list[Edit]:
    """Removes punctuation."""
    drawn = draw_characters(task, marks(material), "punctuation marks")
    return [Edit(at, at + 1, "") for at in drawn]


@manipulation(45, FLUENCY, "grammar", 3.0, lambda material: len(words(material.text)), can_be_dense=True)
def word_removal(material: Material, task: Task) -> list[Edit]:
    """Removes words.

    Each word goes with the space behind it. Where there is none, before a full stop, it goes with the space in front
    of it, unless the word there goes with that space.
    """
    text, ends = material.text, dict(words(material.text))
    removed: list[Edit] = []
    for start in draw_characters(task, list(ends), "words"):
        end = ends[start]
        if text[end : end + 1] == " ":
            removed.append(Edit(start, end + 1, ""))
        else:
            before = start > 0 and text[start - 1] == " " and (not removed or removed[-1].end < start)
            removed.append(Edit(start - before, end, ""))
    return removed
