"""The measures of a judge: pure functions over the outcomes of one row.

Accuracy and its slices are those of section 4.1; the label scores are those of section 3.2 (Eq. 6-7 and their F1),
which the reward uses too. Every measure counts every outcome it is given: an invalid answer is a wrong comparison and
an empty label set. A mean over nothing raises ValueError; only rates that may have no case to speak of give None.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, NoReturn

from judge_r1.core.principles import NUMBERS
from judge_r1.evaluation.results import Outcome


class LabelScores(NamedTuple):
    precision: float
    recall: float
    f1: float


def accuracy(outcomes: Sequence[Outcome]) -> float:
    """The share of pairs whose better reasoning the judge found: mean of [c_pred = c_truth] (Eq. 5)."""
    return _mean(o.correct for o in outcomes)


def by_domain(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """The outcomes of each domain, domains in alphabetical order."""
    return {domain: [o for o in outcomes if o.domain == domain] for domain in sorted({o.domain for o in outcomes})}


def by_principle(outcomes: Sequence[Outcome], *, single: bool = False) -> dict[int, list[Outcome]]:
    """The outcomes under every principle their pair violates (so a multi-violation pair stands under several), or,
    with `single`, only those whose pair violates that one alone. Principles without a pair are absent."""
    counted = [o for o in outcomes if o.kind == "single"] if single else outcomes
    parts = {number: [o for o in counted if number in o.violated] for number in NUMBERS}
    return {number: part for number, part in parts.items() if part}


def label_scores(predicted: Iterable[int], gold: Iterable[int]) -> LabelScores:
    """Eq. 6 and 7 and their harmonic mean, with n = |P_pred ∩ P_truth|: precision n/|P_pred|, recall n/|P_truth|,
    F1 = 2·precision·recall/(precision + recall); each is 0 where its denominator is."""
    named, truth = set(predicted), set(gold)
    return _scores(len(named & truth), len(named), len(truth))


def outcome_scores(outcome: Outcome) -> LabelScores:
    """The label scores of one pair; an invalid answer names nothing and scores 0."""
    return label_scores(outcome.predicted or (), outcome.violated)


def label_mean(outcomes: Sequence[Outcome]) -> LabelScores:
    """The mean over pairs of precision, recall and F1: `label_f1` of the summary."""
    scores = [outcome_scores(o) for o in outcomes]
    return LabelScores(*(_mean(column) for column in zip(*scores, strict=True))) if scores else _nothing()


def label_micro(outcomes: Sequence[Outcome]) -> LabelScores:
    """Eq. 6 and 7 over all labels pooled: the three counts are summed over the pairs first."""
    if not outcomes:
        return _nothing()
    hits, named, truth = _label_counts(outcomes)
    return _scores(hits.total(), named.total(), truth.total())


def label_macro(outcomes: Sequence[Outcome]) -> LabelScores:
    """The mean over principles of the scores of each one alone, over those that are gold or named somewhere."""
    if not outcomes:
        return _nothing()
    hits, named, truth = _label_counts(outcomes)
    scores = [_scores(hits[p], named[p], truth[p]) for p in NUMBERS if named[p] or truth[p]]
    return LabelScores(*(_mean(column) for column in zip(*scores, strict=True)))


def named_rate(outcomes: Sequence[Outcome], principle: int) -> float:
    """Of these pairs, the share on which the judge names `principle`: its recall, where all of them violate it."""
    return _mean(principle in (o.predicted or ()) for o in outcomes)


def valid_rate(outcomes: Sequence[Outcome]) -> float:
    """The share of answers that the row's own parser accepts."""
    return _mean(o.valid for o in outcomes)


def parser_rates(outcomes: Sequence[Outcome]) -> tuple[float | None, float | None]:
    """The valid rates of the strict and of the tolerant parser; None unless known of every outcome."""
    return _known_rate(o.valid_strict for o in outcomes), _known_rate(o.valid_tolerant for o in outcomes)


def ended_counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many episodes ended for each reason, the commonest first."""
    counts = Counter(o.ended for o in outcomes)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def searches(outcomes: Sequence[Outcome]) -> float:
    """Searches run per episode."""
    return _mean(o.searches for o in outcomes)


def evidence_hit_rate(outcomes: Sequence[Outcome]) -> float | None:
    """Of the pairs with a flaw that contradicts a place of the context, the share whose episode showed such a place;
    None without such pairs."""
    hits = [o.evidence_hit for o in outcomes if o.evidence_hit is not None]
    return _mean(hits) if hits else None


def position_share(outcomes: Sequence[Outcome]) -> float | None:
    """The share of valid answers that prefer A (supplementary Table 16); None without a valid answer."""
    preferred = [o.comparison == "A>B" for o in outcomes if o.comparison is not None]
    return _mean(preferred) if preferred else None


def mean_reward(outcomes: Sequence[Outcome]) -> float:
    """Mean r = (R1 + R2 + 3)/6, as the trajectories carry it."""
    return _mean(o.reward["r"] for o in outcomes)


def _label_counts(outcomes: Sequence[Outcome]) -> tuple[Counter[int], Counter[int], Counter[int]]:
    """Per principle: pairs where it is both, where it is named, where it is gold."""
    named = [set(o.predicted or ()) for o in outcomes]
    truth = [set(o.violated) for o in outcomes]
    return (
        Counter(p for n, t in zip(named, truth, strict=True) for p in n & t),
        Counter(p for n in named for p in n),
        Counter(p for t in truth for p in t),
    )


def _scores(both: int, named: int, truth: int) -> LabelScores:
    precision = both / named if named else 0.0
    recall = both / truth if truth else 0.0
    return LabelScores(precision, recall, 2 * precision * recall / (precision + recall) if both else 0.0)


def _known_rate(flags: Iterable[bool | None]) -> float | None:
    known = list(flags)
    return None if None in known else _mean(bool(flag) for flag in known)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else _nothing()


def _nothing() -> NoReturn:
    raise ValueError("there are no outcomes to measure")
