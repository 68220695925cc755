"""Manipulations that degrade coherence: of the logical flow (11-17), the plot (21-24) and the anaphora (31, 32)."""

import re
from bisect import bisect_left
from collections import Counter
from functools import cache
from itertools import product
from random import Random
from typing import Final

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.manipulations import by_density, manipulation
from data_builders.manipulations.operator import CannotManipulate, Material, Task, draw, need
from data_builders.manipulations.tagger import Kind, Mention
from data_builders.manipulations.units import sentence_starts
from data_builders.text_units.edits import Edit
from judge_r1.core.documents import COHERENCE

_WORD: Final = r"[A-Z][^\W\d_]*[a-z](?:['’-][^\W\d_]+)*"
_NAME = re.compile(rf"(?:[Tt]he\s)?{_WORD}(?:\s(?:(?:of|the|and|for|de|la|von|van)\s)*{_WORD})*")
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_CITED_BEFORE = re.compile(r"(?:\bv\.|\bvs\.|&|\||\b\d[\d./]*|§)\s*$")
_CITED_BEHIND = re.compile(r"\s*(?:\d|§|v\.|vs\.|&|\||et\s+al|,?\s*no\.)|\s+[A-Z]")
"""Around a name: that of a case or of an author in a citation, a number as in "Article 47", the rest of a name, or a
cell of a table."""
_LOCATED = re.compile(
    r"\b(?:in|at|from|to|near|into|towards?|of|through|beyond|outside|across|off|the)\s+$", re.IGNORECASE
)
_PERSONAL = re.compile(r"\b(?:he|she|his|her|him|himself|herself|who)\b", re.IGNORECASE)
_TITLES: Final = frozenset([
    "mr", "mrs", "miss", "ms", "messrs", "dr", "rev", "esq", "madam", "admiral", "colonel", "general", "major",
    "captain", "doctor", "sir", "lady", "lord", "uncle", "aunt", "judge", "sergeant", "bishop", "baronet",
])  # fmt: skip
_NEAR = 80
"""Characters behind the name of a person in which a pronoun shows that it is one."""


def names(material: Material, kind: Kind) -> list[Mention]:
    """The mentions of persons, or of places, buildings and organisations, outside brackets and citations.

    Acronyms and words with digits are no names. The text has to show what a name is: by a pronoun behind two of its
    mentions for a person, and for a place of one word by a preposition or "the" in front of a third of them. The name
    of a family, and one with a title, is no place.
    """
    text, every = material.text, _running(material)
    found = [(_of(text, one), one) for one in every if one.kind == kind]
    if kind == "person":
        shown = Counter(name for name, one in found if _PERSONAL.search(text, one.end, one.end + _NEAR))
        return [one for name, one in found if shown[name] > 1]
    counts = Counter(name for name, _ in found)
    shown = Counter(name for name, one in found if _LOCATED.search(text, max(0, one.start - 12), one.start))
    families = {f"{_of(text, one).split()[-1]}s" for one in every if one.kind == "person"}
    return [
        one
        for name, one in found
        if (" " in name or 3 * shown[name] > counts[name])
        and families.isdisjoint(name.split())
        and name.split()[0].lower() not in _TITLES
    ]


def _of(text: str, one: Mention) -> str:
    return re.sub(r"^[Tt]he ", "", " ".join(text[one.start : one.end].split()))


def _running(material: Material) -> list[Mention]:
    text = material.text
    inside = [match.span() for match in _BRACKETED.finditer(text)]
    kept, at = [], 0
    for one in material.tagger.mentions(text):
        while at < len(inside) and inside[at][1] <= one.start:
            at += 1
        bracketed = at < len(inside) and inside[at][0] < one.start
        cited = _CITED_BEFORE.search(text, max(0, one.start - 12), one.start) or _CITED_BEHIND.match(text, one.end)
        if not bracketed and not cited and _NAME.fullmatch(text, one.start, one.end):
            kept.append(one)
    return kept


class ModernSentences(Lexicon):
    """Sentences about today's technology: every template with every device and person."""

    templates: tuple[str, ...]
    devices: tuple[str, ...]
    someone: tuple[str, ...]


class Wordings(Lexicon):
    """`terms` replace names, and `pool` has names of persons."""

    modern: ModernSentences
    terms: tuple[str, ...]
    pool: tuple[str, ...]


@cache
def wordings() -> Wordings:
    return load_lexicon("manipulations", Wordings)


@cache
def modern_sentences() -> tuple[tuple[str, ...], ...]:
    """Different sentences that are neutral in tone and do not belong into an old text, in groups by template."""
    modern = wordings().modern
    return tuple(
        tuple(
            template.format(device=device, someone=person, someone_cap=person[0].upper() + person[1:])
            for device, person in product(modern.devices, modern.someone)
        )
        for template in modern.templates
    )


_MODERN = re.compile(
    r"(?:\b(?:in|since|until|before|after|during|by|of)\s+|\b(?:January|February|March|April|May|June|July|August|September|"
    r"October|November|December),?\s+|[(/.-])(20[0-4]\d)(?![\w,.]*\d)|"
    r"\b(?:smartphones?|laptops?|internet|e-?mails?|websites?|software|wi-?fi|online|mobile phones?)\b",
    re.IGNORECASE,
)
"""A date of this century (the group), or a word of its technology."""
_ARTICLE, _POSSESSIVE = re.compile(r"\b[Tt]he\s$"), re.compile(r"['’]s\b")
_ARTICLES = frozenset({"a", "an", "the"})
_BEFORE = 60
"""Characters that hold the two tokens before a name."""


@by_density(11, "logical flow")
def swap_content(material: Material, task: Task) -> list[Edit]:
    """Swaps pairs of paragraphs.

    `task.count` disjoint pairs of different paragraphs change places: two edits for each pair.
    """
    different = list({paragraph.text: paragraph for paragraph in material.eligible}.values())
    need(len(different), 2 * task.count, f"{material.unit}s to swap")
    drawn = task.random.sample(different, 2 * task.count)
    pairs = zip(drawn[::2], drawn[1::2], strict=True)
    return [Edit(to.start, to.end, source.text) for one, other in pairs for to, source in ((one, other), (other, one))]


@by_density(12, "logical flow", reads=("refill",))
def remove_content(material: Material, task: Task) -> list[Edit]:
    """Removes paragraphs.

    Each drawn unit goes with the gap behind it. The last one of the text stays. With `task.refill` a shortened
    document continues at its end for as many tokens as it lost; a full one has no continuation.
    """
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


@by_density(13, "logical flow")
def insert_content(material: Material, task: Task) -> list[Edit]:
    """Inserts paragraphs of one other document.

    Different paragraphs of one donor, each behind a paragraph of this document.
    """
    need(len(material.donors), 1, "other documents")
    donor = material.foreign(task.random.choice(material.donors))
    foreign = draw(task.random, donor, task.count, f"{material.unit}s in the other document")
    units = draw(task.random, material.eligible, task.count, f"{material.unit}s to insert behind")
    return [Edit(unit.end, unit.end, f"\n\n{one.text}") for unit, one in zip(units, foreign, strict=True)]


@by_density(14, "logical flow", reads=("repeats",))
def repeat_content(material: Material, task: Task) -> list[Edit]:
    """Repeats paragraphs.

    Each drawn paragraph is followed by `task.repeats` copies of itself.
    """
    drawn = draw(task.random, material.eligible, task.count, f"{material.unit}s to repeat")
    return [Edit(unit.end, unit.end, f"\n\n{unit.text}" * task.repeats) for unit in drawn]


@by_density(17, "logical flow", legacy_bias=2.0)
def exchange_content(material: Material, task: Task) -> list[Edit]:
    """Replaces paragraphs by paragraphs of other documents. Selected for the data set.

    The i-th exchanged paragraph gets one of the i-th donor. Where there are fewer donors than operations they take
    turns, so that the text resembles none of them; no donor paragraph is used twice.
    """
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


def persons(material: Material) -> list[Mention]:
    """The mentions of persons by one word."""
    return [one for one in names(material, "person") if len(material.text[one.start : one.end].split()) == 1]


_PERSONS = "no person is called by one word, with a pronoun behind two mentions of the name"


@manipulation(21, COHERENCE, "plot", 25.0, lambda material: len(persons(material)), needs=_PERSONS, needs_tagger=True)
def exchange_entities(material: Material, task: Task) -> list[Edit]:
    """Replaces names of persons by new names. The thesis gives it the number 22.

    Each drawn mention gets a name that the text does not contain.
    """
    new = [name for name in wordings().pool if name not in material.text]
    if not new:
        raise CannotManipulate("too few names that the text does not contain")
    drawn = draw(task.random, persons(material), task.count, "names of persons")
    return [Edit(mention.start, mention.end, task.random.choice(new)) for mention in drawn]


def _distinct(material: Material) -> int:
    return len({material.text[one.start : one.end] for one in persons(material)})


@manipulation(22, COHERENCE, "plot", 30.0, _distinct, least=2, needs=_PERSONS, needs_tagger=True)
def swap_entities(material: Material, task: Task) -> list[Edit]:
    """Exchanges the names of persons among each other. The thesis gives it the number 21.

    A cyclic permutation of `task.count` different names: at every mention each name becomes the next one. An
    operation is one name.
    """
    mentions = persons(material)
    found = sorted({material.text[one.start : one.end] for one in mentions})
    need(len(found), task.count, "different names of persons")
    chosen = task.random.sample(found, task.count)
    following = dict(zip(chosen, [*chosen[1:], chosen[0]], strict=True))
    return [
        Edit(one.start, one.end, following[name])
        for one in mentions
        if (name := material.text[one.start : one.end]) in following
    ]


@by_density(24, "plot", legacy_bias=1.0)
def temporal(material: Material, task: Task) -> list[Edit]:
    """Appends sentences about today's technology. Selected for the data set.

    A different sentence at the end of each drawn paragraph. The templates take turns. A text that itself names such
    technology, or dates of this century, is refused: there they contradict nothing.
    """
    if found := _MODERN.search(material.text):
        raise CannotManipulate("the text is of today itself: it has " + ("a date" if found[1] else "a device"))
    templates = modern_sentences()
    need(sum(len(group) for group in templates), task.count, "different modern sentences")
    pools = [task.random.sample(group, len(group)) for group in task.random.sample(templates, len(templates))]
    added = [pools[number % len(pools)][number // len(pools)] for number in range(task.count)]
    drawn = draw(task.random, material.eligible, task.count, f"{material.unit}s to append to")
    return [Edit(unit.end, unit.end, f" {sentence}") for unit, sentence in zip(drawn, added, strict=True)]


def _places(material: Material) -> int:
    return len(names(material, "place"))


@manipulation(31, COHERENCE, "anaphora", 35.0, _places, needs_tagger=True)
def pronouns(material: Material, task: Task) -> list[Edit]:
    """Replaces names of places and organisations by "it".

    An article in front goes with the name, and a possessive becomes "its".
    """
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


@manipulation(32, COHERENCE, "anaphora", 35.0, _places, needs_tagger=True)
def terms(material: Material, task: Task) -> list[Edit]:
    """Replaces names of places and organisations by "the thing" or "the stuff". Selected for the data set.

    The term gets an article unless one of the two tokens before it is one, and a capital at a sentence's start.
    """
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
