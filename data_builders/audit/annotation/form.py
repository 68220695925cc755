"""What an annotation site asks: the form of a task, and what the page of a pair shows.

A task says which pairs an annotator sees, what their pages show, and which record an answer becomes. `forms.yaml` has
its words and questions. Everything else, from the start page to the file of answers, is the same for all tasks.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from importlib.resources import files
from typing import Any, Generic, TypeVar

import yaml
from pydantic import BaseModel

from judge_r1.core.record_base import Record

A = TypeVar("A", bound=BaseModel)
Fields = Mapping[str, list[str]]
"""The fields of a request."""

_WORD = re.compile(r"\s*\S+|\s+$")
Piece = tuple[str, bool]
"""A piece of text, and whether it differs from the other text."""


@lru_cache(maxsize=256)
def differences(one: str, other: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Split both texts into pieces. The pieces of a text concatenate to the text."""
    a, b = _WORD.findall(one), _WORD.findall(other)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    left: list[Piece] = []
    right: list[Piece] = []
    for kind, a1, a2, b1, b2 in matcher.get_opcodes():
        _add(left, a[a1:a2], kind != "equal")
        _add(right, b[b1:b2], kind != "equal")
    return tuple(left), tuple(right)


def _add(pieces: list[Piece], words: Sequence[str], differs: bool) -> None:
    """Append words as a piece. White space before differing words counts as equal."""
    text = "".join(words)
    bare = text.lstrip() if differs else text
    if len(bare) < len(text):
        pieces.append((text[: len(text) - len(bare)], False))
    if bare:
        pieces.append((bare, differs))


class Option(Record):
    """An answer to a question, and the key that chooses it."""

    value: str
    key: str
    text: str = ""
    meaning: str = ""


class Question(Record):
    """A question with exactly one answer or, as the optional `marks` of a page, with any number."""

    name: str
    text: str
    options: tuple[Option, ...]


class Form(Record):
    """The words and questions of a task. `switch` names the switch that marks the differences, and `missing` is the
    message for a question without an answer."""

    name: str
    two_rounds: bool = False
    heading: str
    task: tuple[str, ...]
    switch: str
    switched_on: bool = False
    optional: str = "Note (optional)"
    missing: str
    questions: tuple[Question, ...]

    @classmethod
    def load(cls, name: str) -> "Form":
        """The form with this name in `forms.yaml`."""
        text = (files(__package__) / "static" / "forms.yaml").read_text(encoding="utf-8")
        return cls.model_validate(yaml.safe_load(text)[name], strict=False)


@dataclass(frozen=True)
class Pane:
    """A column of the page: texts with their headings, in pieces of which some are marked."""

    id: str
    title: str
    parts: Sequence[tuple[str, Sequence[Piece]]]


@dataclass(frozen=True)
class PairPage:
    """What the page of a pair shows. `label` is what the data set says of the pair: a name and its meaning. `questions`
    are those of this page, if they differ from the form's."""

    subtitle: str
    domain: str
    panes: Sequence[Pane]
    marks: Question | None = None
    label: tuple[str, str] | None = None
    questions: tuple[Question, ...] | None = None


@dataclass(frozen=True)
class Round(Generic[A]):
    """The round of one annotator: pair ids in order, and the answers given so far."""

    annotator: str
    number: int
    order: Sequence[str]
    answers: Mapping[str, A]

    @property
    def answered(self) -> int:
        return sum(pair_id in self.answers for pair_id in self.order)

    @property
    def complete(self) -> bool:
        return self.answered == len(self.order)

    def next_index(self) -> int | None:
        """Return the index of the first pair without an answer; None if all have one."""
        return next((index for index, pair_id in enumerate(self.order) if pair_id not in self.answers), None)


class Task(ABC, Generic[A]):
    """Pairs of a data set, and the form about each of them. An answer is a record of type `record`, with `annotator`,
    `pair_id`, `note` and `at`."""

    form: Form
    record: type[A]
    pair_ids: Sequence[str]

    def rounds(self, answers: Sequence[Any], annotator: str) -> list[Round[A]]:
        """The rounds that an annotator has reached: here one, in the order of the set. The last answer counts."""
        own = {answer.pair_id: answer for answer in answers if answer.annotator == annotator}
        return [Round(annotator, 1, self.pair_ids, own)]

    @abstractmethod
    def page(self, current: Round[A], pair_id: str) -> PairPage:
        """What the page of a pair shows in a round."""

    @abstractmethod
    def values(self, answer: A) -> Collection[tuple[str, str]]:
        """The name and value of every field that is checked on the page of an answered pair."""

    @abstractmethod
    def answer(self, current: Round[A], pair_id: str, fields: Fields, common: Mapping[str, Any]) -> A:
        """The record of an answer to all questions. `common` has `annotator`, `pair_id`, `note` and `at`.

        Raises:
            ValidationError: A field has a wrong value.
        """


def marked(text: str, spans: Sequence[tuple[int, int]]) -> list[Piece]:
    """Split a text at the spans; the pieces within spans are marked. Overlapping spans count as one."""
    pieces, position = list[Piece](), 0
    for first, last in sorted(spans):
        start, end = max(position, first), max(position, last)
        pieces += [(text[position:start], False), (text[start:end], True)]
        position = end
    return [piece for piece in [*pieces, (text[position:], False)] if piece[0]]
