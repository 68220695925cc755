"""The gold label of each item from the labels of several people."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge_r1.labels.kinds import BadLabels, Scheme
from judge_r1.labels.rows import LabelledItem, Labels


@dataclass(frozen=True)
class Gold:
    """The gold label by item, and the items on which people tie (`contested`): these are left out and listed."""

    labels: dict[str, str]
    contested: tuple[str, ...]
    each: bool = False
    """Measures compare with the label of each person, not with that of most."""

    def rows(self, items: Sequence[LabelledItem]) -> list[tuple[LabelledItem, str]]:
        """What verdicts are compared with."""
        if self.each:
            return [(item, label) for item in items for _, label in sorted(item.labels.items())]
        return [(item, self.labels[item.id]) for item in items if item.id in self.labels]

    def counts(self, scheme: Scheme) -> dict[str, int]:
        """The number of items of each label; the levels of a numeric scale are the labels that occur."""
        found = Counter(self.labels.values())
        return {answer: found[answer] for answer in scheme.answers or sorted(found, key=float)}


def gold_of(labels: Labels, adjudicator: str | None = None, *, each: bool = False) -> Gold:
    """The label of most people. With `adjudicator`, that person's labels win where there are some. Of numbers, the
    median counts if the middle two differ by nothing.

    Raises:
        BadLabels: Nobody of that name labelled an item.
    """
    if adjudicator is not None and adjudicator not in labels.people:
        raise BadLabels(f"--adjudicated {adjudicator!r} labelled nothing; people are {', '.join(labels.people)}")
    found: dict[str, str] = {}
    contested = []
    for item in labels.items:
        if adjudicator in item.labels:
            found[item.id] = item.labels[str(adjudicator)]
        elif (label := _most(list(item.labels.values()), labels.scheme)) is None:
            contested.append(item.id)
        else:
            found[item.id] = label
    return Gold(found, tuple(contested), each)


def _most(given: Sequence[str], scheme: Scheme) -> str | None:
    if scheme.kind == "numeric":
        return f"{float(np.median([float(label) for label in given])):.16g}"
    (first, most), *rest = Counter(given).most_common()
    return None if rest and rest[0][1] == most else first


def ratings_of(items: Sequence[LabelledItem], people: Sequence[str], answers: Sequence[str]) -> NDArray[np.float64]:
    """The labels as numbers of `answers`, [items, people], NaN where a person gave none."""
    place = {answer: float(index) for index, answer in enumerate(answers)}
    return np.array([[place[item.labels[p]] if p in item.labels else np.nan for p in people] for item in items])
