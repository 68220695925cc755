"""Verbs and names in a text: what a tagger finds."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from judge_r1.core.errors import JudgeError

Kind = Literal["person", "place"]


class TaggerUnavailable(JudgeError):
    """A tagger needs a package or a model that is not installed."""


class Verb(NamedTuple):
    """A finite verb `text[start:end]`. `opposite` is its form in the other tense, or None if that is unknown, or may be
    correct there, too."""

    start: int
    end: int
    opposite: str | None


class Mention(NamedTuple):
    """A name `text[start:end]` of a person, or of a place, building or organisation."""

    start: int
    end: int
    kind: Kind


class Tagger(Protocol):
    """`name` is recorded with each manipulation."""

    @property
    def name(self) -> str: ...

    def sentences(self, text: str) -> Sequence[tuple[int, int]]:
        """The spans of the sentences, in order."""
        ...

    def verbs(self, text: str) -> Sequence[Verb]:
        """The finite verbs, in order."""
        ...

    def mentions(self, text: str) -> Sequence[Mention]:
        """The names, in order and without overlap."""
        ...


def like(word: str, model: str) -> str:
    """`word` with the capitals of `model`: all, the first, or none."""
    if model.isupper() and len(model) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
