"""Shares of answers with intervals over cases, and the agreement of people with each other."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from judge_r1.statistics.agreement import cohens_kappa
from judge_r1.statistics.intervals import clustered_mean_ci

EVERYONE, OVERALL = "everyone", "overall"


@dataclass(frozen=True)
class Share:
    """The share of `n` answers about pairs of `cases` cases that are yes, with its 95 % interval over cases."""

    n: int
    cases: int
    share: float
    ci95: tuple[float, float]

    def __str__(self) -> str:
        low, high = self.ci95
        return f"{100 * self.share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def share_of(answers: Sequence[bool], clusters: Sequence[str]) -> Share:
    """The share of true answers; `clusters` names the case of each."""
    values = [float(answer) for answer in answers]
    return Share(len(values), len(set(clusters)), sum(values) / len(values), clustered_mean_ci(values, clusters))


@dataclass(frozen=True)
class Compared:
    """`n` pairs of answers by two people about one thing: the equal share, and Cohen's kappa.

    `kappa` is None if all answers are the same.
    """

    n: int
    share: float
    kappa: float | None


def compare(answers: Mapping[str, Mapping[str, Hashable]], about: Sequence[str]) -> Compared | None:
    """Compare the answers of every two people; `answers` maps a person to the answer about each id. None if no two
    people answered about one of the ids."""
    both = [
        (answers[one][id_], answers[other][id_])
        for id_ in about
        for one, other in combinations(sorted(answers), 2)
        if id_ in answers[one] and id_ in answers[other]
    ]
    if not both:
        return None
    kappa = cohens_kappa([one for one, _ in both], [other for _, other in both])
    return Compared(len(both), sum(one == other for one, other in both) / len(both), kappa)


def kappa_cell(kappa: float | None) -> str:
    return "undefined" if kappa is None else f"{kappa:.3f}"


def people(readers: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
    """Each reader alone and, if there are several, `EVERYONE`: the name of a row, and whose answers it counts."""
    return [*((name, (name,)) for name in readers), *([(EVERYONE, readers)] if len(readers) > 1 else [])]
