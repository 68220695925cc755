"""Long stories from templates, for tests and demonstrations where no long text is at hand.

Every story has its own persons, places and object, all in the past tense. The texts are made for rules to manipulate
and for scripted judges to read; as prose they are poor, so results on them say nothing about real documents.
"""

from random import Random

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.manipulations.units import CHAPTER

GROUPS = ("arrival", "search", "talk", "thought", "turn", "close")
_PARAGRAPHS = 12
"""Paragraphs of a chapter."""


class StoryLexicon(Lexicon):
    """`groups` has the sentences of each part of a paragraph. `casts` has a hero, a friend and a rival for each story,
    `places` two names, and `objects` what the story is about; all have the same length."""

    groups: dict[str, tuple[str, ...]]
    fillers: dict[str, tuple[str, ...]]
    objects: tuple[str, ...]
    casts: tuple[tuple[str, str, str], ...]
    places: tuple[tuple[str, str], ...]
    chapters: tuple[str, ...]


def story_lexicon() -> StoryLexicon:
    return load_lexicon("stories", StoryLexicon)


def story(number: int, tokens: int, seed: int = 0) -> tuple[str, str]:
    """The title and the text of story `number`, from 0, with at least `tokens` space-separated tokens.

    Stories repeat their cast after as many as the lexicon has; their text differs.
    """
    lexicon, random = story_lexicon(), Random(f"story {seed} {number}")
    at = number % len(lexicon.casts)
    (hero, friend, rival), (place, place2) = lexicon.casts[at], lexicon.places[at]
    fixed = {
        "hero": hero, "friend": friend, "rival": rival, "place": place, "place2": place2, "object": lexicon.objects[at],
    }  # fmt: skip
    parts: list[str] = []
    length, count = 0, 0
    while length < tokens:
        if count % _PARAGRAPHS == 0:
            parts.append(CHAPTER + lexicon.chapters[count // _PARAGRAPHS % len(lexicon.chapters)])
        sentences = [_sentence(lexicon, group, fixed, random) for group in GROUPS]
        parts.append(" ".join(sentences))
        length += len(parts[-1].split(" "))
        count += 1
    return f"The {lexicon.objects[at].title()} of {place}", "\n\n".join(parts)


def _sentence(lexicon: StoryLexicon, group: str, fixed: dict[str, str], random: Random) -> str:
    fillers = {name: random.choice(choices) for name, choices in lexicon.fillers.items()}
    return random.choice(lexicon.groups[group]).format(**fixed, **fillers)
