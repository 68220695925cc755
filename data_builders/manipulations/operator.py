"""The interface of a manipulation: what it counts, how many operations it does, and the edits of a text."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from random import Random
from typing import Literal, TypeVar

from data_builders.manipulations.tagger import Tagger
from data_builders.manipulations.units import Paragraph, Unit, paragraphs, units
from data_builders.text_units.edits import Edit
from judge_r1.core.documents import Target
from judge_r1.core.errors import JudgeError

T = TypeVar("T")
EditFunction = Callable[["Material", "Task"], list[Edit]]
Spread = Literal["widespread", "dense"]


class CannotManipulate(JudgeError):
    """The document has too few places for the operator; the message is the reason that a build counts."""


@dataclass(frozen=True)
class Material:
    """What operators work on: the text, the texts of other documents in their order, and the tagger. `unit` is what
    operators on content move. `rest` is the text behind a shortened document."""

    text: str
    tagger: Tagger
    donors: Sequence[str] = field(default_factory=tuple)
    unit: Unit = "paragraph"
    rest: str = ""

    @property
    def tokens(self) -> int:
        """L: the number of space-separated tokens."""
        return len(self.text.split(" "))

    @cached_property
    def paragraphs(self) -> Sequence[Paragraph]:
        return paragraphs(self.text)

    @cached_property
    def eligible(self) -> list[Paragraph]:
        """The units that may be manipulated."""
        return units(self.text, self.unit)

    def foreign(self, donor: str) -> list[Paragraph]:
        """The units of another document that may be put here."""
        return units(donor, self.unit)


@dataclass(frozen=True)
class Task:
    """One application: the number of operations, where they are, and the source of all choices. `repeats` is how often
    a repeated unit is added (14). `refill` makes up for removed units with the rest of the document (12)."""

    count: int
    random: Random
    spread: Spread = "widespread"
    repeats: int = 1
    refill: bool = False


@dataclass(frozen=True)
class Operator:
    """A manipulation. `number` is that of the thesis' repository, `metric` the metric it degrades.

    `units` counts what the intensity refers to. A `share` operator does round(intensity/100 · units) operations; any
    other does round(intensity · L/1000 + bias), with `legacy_bias` as the bias of the released data set. Both do at
    least `least`. `needs` is why there is no unit. `most_changed` is the share of the text that may go, and that may be
    added. `edit` returns the edits. `reads` names the options of `Task` that it follows, which are recorded.
    `needs_tagger` says that it reads names, verbs or sentences.

    Raises (`edit`): CannotManipulate.
    """

    number: int
    name: str
    metric: Target
    category: str
    intensity: float
    units: Callable[[Material], int]
    edit: EditFunction
    share: bool = True
    legacy_bias: float = 0.0
    least: int = 1
    needs: str = "no fitting place"
    most_changed: float = inf
    can_be_dense: bool = False
    reads: tuple[str, ...] = ()
    needs_tagger: bool = False

    def count(self, material: Material, intensity: float, *, legacy: bool = False) -> int:
        """The number of operations: at a constant density, or with the bias of the released data set, whose short
        documents are manipulated more densely than the long ones."""
        if self.share:
            return max(self.least, round(intensity * self.units(material) / 100))
        return max(self.least, round(intensity * material.tokens / 1000 + (self.legacy_bias if legacy else 0.0)))


def draw(random: Random, places: Sequence[T], count: int, what: str) -> list[T]:
    """`count` different places in their order. Raises: CannotManipulate if there are fewer."""
    need(len(places), count, what)
    return [places[index] for index in sorted(random.sample(range(len(places)), count))]


def need(found: int, wanted: int, what: str) -> None:
    """Raises: CannotManipulate if fewer are found than wanted."""
    if found < wanted:
        raise CannotManipulate(f"too few {what}")


def consecutive(random: Random, places: Sequence[T], count: int, what: str) -> list[T]:
    """`count` places that follow each other, for a dense manipulation. Raises: CannotManipulate."""
    need(len(places), count, what)
    start = random.randrange(len(places) - count + 1)
    return list(places[start : start + count])


DENSE_CHARACTERS = 5 * 2.5
"""The length of the window of a dense manipulation by characters, per operation."""


def draw_characters(task: Task, positions: Sequence[int], what: str) -> list[int]:
    """The start positions of `task.count` places: anywhere, or in one window of count · 12.5 characters. Where no
    window holds so many, as of punctuation, they are the shortest run."""
    if task.spread == "widespread":
        return draw(task.random, positions, task.count, what)
    need(len(positions), task.count, what)
    width = task.count * DENSE_CHARACTERS
    runs = [last - first for first, last in zip(positions, positions[task.count - 1 :], strict=False)]
    if windows := [start for start, length in enumerate(runs) if length < width]:
        start = task.random.choice(windows)
        inside = positions[start : bisect_left(positions, positions[start] + width)]
        return draw(task.random, inside, task.count, what)
    shortest = min(runs)
    start = task.random.choice([at for at, length in enumerate(runs) if length == shortest])
    return list(positions[start : start + task.count])
