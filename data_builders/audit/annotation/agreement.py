"""How far annotators and labels agree: alignment and Cohen's kappa by domain and round (the paper's Table 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from data_builders.audit.annotation.annotations import Answer
from data_builders.audit.annotation.assignment import annotators, first_round, second_round
from judge_r1.core.pair_set import PairSet
from judge_r1.core.records import Preference, ReasoningPair
from judge_r1.statistics.agreement import cohens_kappa
from judge_r1.statistics.intervals import clustered_mean_ci

EVERYONE = "everyone"
Pairs = Mapping[str, ReasoningPair]


@dataclass(frozen=True)
class Agreement:
    """Of `n` choices: the share that agrees with the label, its 95 % interval over cases, and kappa (None where both
    always name the same side)."""

    n: int
    share: float
    ci95: tuple[float, float]
    kappa: float | None


@dataclass(frozen=True)
class Line:
    """One annotator in one domain. `second` is None until both of his rounds are complete; then it is over all pairs,
    with the second choice in the place of the first where there is one."""

    annotator: str
    domain: str
    pairs: int
    first: Agreement | None
    second: Agreement | None


@dataclass(frozen=True)
class _Choice:
    domain: str
    case_id: str
    label: Preference
    choice: Preference


def agreement(data: PairSet, answers: Sequence[Answer]) -> list[Line]:
    """A line an annotator and domain, and one overall; the same for all annotators together where there are several,
    each choice of each counting once."""
    names = annotators(answers)
    pairs = data.by_id()
    first = {name: _first(data, pairs, answers, name) for name in names}
    second = {name: _second(data, pairs, answers, name) for name in names}
    lines = [line for name in names for line in _lines(name, data, first[name], second[name])]
    if len(names) > 1:
        whole = [second[name] for name in names]
        both = None if None in whole else [choice for found in whole if found for choice in found]
        lines += _lines(EVERYONE, data, [choice for name in names for choice in first[name]], both)
    return lines


def _first(data: PairSet, pairs: Pairs, answers: Sequence[Answer], annotator: str) -> list[_Choice]:
    turn = first_round(data, answers, annotator)
    return [_choice(pairs, answer) for pair_id in turn.order if (answer := turn.answers.get(pair_id))]


def _second(data: PairSet, pairs: Pairs, answers: Sequence[Answer], annotator: str) -> list[_Choice] | None:
    again = second_round(data, answers, annotator)
    if again is None or not again.complete:
        return None
    turn = first_round(data, answers, annotator)
    shown = set(again.order)
    return [_choice(pairs, (again if pair_id in shown else turn).answers[pair_id]) for pair_id in turn.order]


def _choice(pairs: Pairs, answer: Answer) -> _Choice:
    pair = pairs[answer.pair_id]
    return _Choice(pair.domain, pair.case_id, pair.preferred, answer.choice)


def _lines(name: str, data: PairSet, first: list[_Choice], second: list[_Choice] | None) -> list[Line]:
    domains = sorted({pair.domain for pair in data.pairs})
    return [
        Line(
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
    right = [float(c.choice == c.label) for c in choices]
    return Agreement(
        n=len(right),
        share=sum(right) / len(right),
        ci95=clustered_mean_ci(right, [c.case_id for c in choices]),
        kappa=cohens_kappa([c.label for c in choices], [c.choice for c in choices]),
    )
