"""Measures agreement of annotators with labels: alignment and Cohen's kappa by domain and round (LRBench, Table 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from data_builders.audit.annotation.annotations import Answer
from data_builders.audit.annotation.assignment import annotators, first_round, second_round
from judge_r1.core.pair_set import PairSet
from judge_r1.core.records import ReasoningPair
from judge_r1.core.verdicts import Preference
from judge_r1.statistics.agreement import cohens_kappa
from judge_r1.statistics.intervals import clustered_mean_ci

EVERYONE = "everyone"
Pairs = Mapping[str, ReasoningPair]


@dataclass(frozen=True)
class Agreement:
    """Agreement of `n` choices about pairs of `cases` cases with the labels: the share, its 95 % interval over cases,
    and kappa.

    `kappa` is None if choices and labels are all the same side.
    """

    n: int
    cases: int
    share: float
    ci95: tuple[float, float]
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


@dataclass(frozen=True)
class _Choice:
    domain: str
    group: str
    label: Preference
    choice: Preference


def agreement(data: PairSet, answers: Sequence[Answer]) -> list[AgreementRow]:
    """Return a row per annotator and domain and an overall row; with several annotators, also rows for `EVERYONE`.

    In the rows of `EVERYONE`, each choice of each annotator counts once, and `pairs` counts each pair once per
    annotator.
    """
    names = annotators(answers)
    pairs = data.by_id()
    first = {name: _first_choices(data, pairs, answers, name) for name in names}
    second = {name: _second_choices(data, pairs, answers, name) for name in names}
    rows = [row for name in names for row in _rows(name, data, first[name], second[name])]
    if len(names) > 1:
        seconds = [second[name] for name in names]
        combined = None if None in seconds else [choice for choices in seconds if choices for choice in choices]
        everyone = _rows(EVERYONE, data, [choice for name in names for choice in first[name]], combined)
        rows += [replace(row, pairs=row.pairs * len(names)) for row in everyone]
    return rows


def _first_choices(data: PairSet, pairs: Pairs, answers: Sequence[Answer], annotator: str) -> list[_Choice]:
    first = first_round(data, answers, annotator)
    return [_choice(data, pairs, answer) for pair_id in first.order if (answer := first.answers.get(pair_id))]


def _second_choices(data: PairSet, pairs: Pairs, answers: Sequence[Answer], annotator: str) -> list[_Choice] | None:
    second = second_round(data, answers, annotator)
    if second is None or not second.complete:
        return None
    first = first_round(data, answers, annotator)
    repeated = set(second.order)
    return [
        _choice(data, pairs, (second if pair_id in repeated else first).answers[pair_id]) for pair_id in first.order
    ]


def _choice(data: PairSet, pairs: Pairs, answer: Answer) -> _Choice:
    pair = pairs[answer.pair_id]
    return _Choice(pair.domain, data.case_of(pair).group, pair.preferred, answer.choice)


def _rows(name: str, data: PairSet, first: list[_Choice], second: list[_Choice] | None) -> list[AgreementRow]:
    domains = sorted({pair.domain for pair in data.pairs})
    return [
        AgreementRow(
            name,
            domain or "overall",
            sum(domain in (None, pair.domain) for pair in data.pairs),
            _agreement([c for c in first if domain in (None, c.domain)]),
            _agreement([c for c in second if domain in (None, c.domain)]) if second is not None else None,
        )
        for domain in (*domains, *([None] if len(domains) > 1 else []))
    ]


def _agreement(choices: list[_Choice]) -> Agreement | None:
    if not choices:
        return None
    agrees = [float(c.choice == c.label) for c in choices]
    return Agreement(
        n=len(agrees),
        cases=len({c.group for c in choices}),
        share=sum(agrees) / len(agrees),
        ci95=clustered_mean_ci(agrees, [c.group for c in choices]),
        kappa=cohens_kappa([c.label for c in choices], [c.choice for c in choices]),
    )
