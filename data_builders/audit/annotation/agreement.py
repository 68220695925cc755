"""Shares of answers with intervals over cases, and agreement with labels and of annotators (LRBench, Table 2)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from data_builders.audit.annotation.choices import annotators, first_round, second_round
from judge_r1.core.records import ReasoningPair
from judge_r1.files.pair_set import PairSet
from judge_r1.labels.audit_answers import Choice
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


@dataclass(frozen=True)
class Agreement(Share):
    """The share of choices that agree with the labels. `kappa` is None if choices and labels are all the same side."""

    kappa: float | None


@dataclass(frozen=True)
class AgreementRow:
    """One annotator in one domain.

    `second` is None until the annotator has completed both rounds. It covers all pairs; the choices of the second
    round replace those of the first.
    """

    annotator: str
    domain: str
    pairs: int
    first: Agreement | None
    second: Agreement | None


Labelled = list[tuple[ReasoningPair, Choice]]


def agreement(data: PairSet, answers: Sequence[Choice]) -> list[AgreementRow]:
    """Return a row per annotator and domain and an overall row; with several annotators, also rows for `EVERYONE`.

    In the rows of `EVERYONE`, each choice of each annotator counts once, and `pairs` counts each pair once per
    annotator.
    """
    names = annotators(answers)
    first = {name: _first(data, answers, name) for name in names}
    second = {name: _second(data, answers, name) for name in names}
    rows = [row for name in names for row in _rows(name, data, first[name], second[name])]
    if len(names) > 1:
        complete = [found for found in second.values() if found is not None]
        combined = sum(complete, Labelled()) if len(complete) == len(names) else None
        everyone = _rows(EVERYONE, data, sum(first.values(), Labelled()), combined)
        rows += [replace(row, pairs=row.pairs * len(names)) for row in everyone]
    return rows


def _first(data: PairSet, answers: Sequence[Choice], annotator: str) -> Labelled:
    found = first_round(data, answers, annotator).answers
    return [(pair, found[pair.pair_id]) for pair in data.pairs if pair.pair_id in found]


def _second(data: PairSet, answers: Sequence[Choice], annotator: str) -> Labelled | None:
    """All pairs, with second choices in place of the first; None until the second round is complete."""
    second = second_round(data, answers, annotator)
    if second is None or not second.complete:
        return None
    again = {pair_id: second.answers[pair_id] for pair_id in second.order}
    return [(pair, again.get(pair.pair_id, choice)) for pair, choice in _first(data, answers, annotator)]


def _rows(name: str, data: PairSet, first: Labelled, second: Labelled | None) -> list[AgreementRow]:
    domains = sorted({pair.domain for pair in data.pairs})
    groups = {**{domain: {domain} for domain in domains}, **({OVERALL: {*domains}} if len(domains) > 1 else {})}
    return [
        AgreementRow(
            name,
            group,
            sum(pair.domain in members for pair in data.pairs),
            _agreement(data, [found for found in first if found[0].domain in members]),
            None if second is None else _agreement(data, [found for found in second if found[0].domain in members]),
        )
        for group, members in groups.items()
    ]


def _agreement(data: PairSet, found: Labelled) -> Agreement | None:
    if not found:
        return None
    agrees = share_of(
        [choice.choice == pair.preferred for pair, choice in found], [data.case_of(pair).group for pair, _ in found]
    )
    kappa = cohens_kappa([pair.preferred for pair, _ in found], [choice.choice for _, choice in found])
    return Agreement(**vars(agrees), kappa=kappa)
