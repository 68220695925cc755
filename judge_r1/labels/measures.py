"""Measures of a judge's verdicts against people's labels, each with its interval, and what stands beside them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from judge_r1.core.record_base import Record
from judge_r1.core.text_check import counted
from judge_r1.labels.gold import Gold, ratings_of
from judge_r1.labels.kinds import Scheme
from judge_r1.labels.rows import LabelledItem, Labels
from judge_r1.labels.verdicts import JudgeVerdicts
from judge_r1.statistics.agreement import agreement_of_people
from judge_r1.statistics.annotators import (
    AltTest,
    Ceiling,
    alpha,
    alt_test,
    ceiling,
    coincidences,
    equal_pairs,
    fleiss_kappa,
    gwet_ac1,
    interval_alpha,
    interval_parts,
    mean_lower,
)
from judge_r1.statistics.contingency import (
    Floats,
    Measure,
    ac1,
    bootstrapped,
    kappa,
    matthews_of,
    perfect_ci,
    recall_of,
    resampled,
    tables_by_cluster,
    value_weights,
    weighted_kappa,
)
from judge_r1.statistics.correlation import correlation_table, kendall
from judge_r1.statistics.intervals import FEW_CLUSTERS, clustered_mean_ci, gap_ci, wilson_ci
from judge_r1.statistics.position_bias import position
from judge_r1.statistics.rates import rate_limits
from judge_r1.statistics.significance import sign_flips

NONE = ""
"""The label of an answer that is missing, invalid or undecided: wrong, and a label of its own."""
TRAPPED = 0.8
"""From this base rate on, kappa is low for good judges, too."""
SHARED_ITEMS = 30


class Measured(Record):
    """A measure: its value, 95 % interval and one-sided 95 % limits; None where the labels do not determine it."""

    value: float | None
    ci95: tuple[float, float] | None = None
    lower: float | None = None
    upper: float | None = None
    right: int | None = None
    of: int | None = None

    def __str__(self) -> str:
        if self.value is None:
            return "none"
        return f"{self.value:.2f}" + (f" [{self.ci95[0]:.2f}, {self.ci95[1]:.2f}]" if self.ci95 else "")


class Measures(Record):
    """All measures of one judge. `confusion` counts items by gold label and verdict, "" for no answer."""

    items: int
    clusters: int
    base_rates: dict[str, float]
    verdict_rates: dict[str, float]
    constant: dict[str, float]
    constant_p: float | None
    confusion: dict[str, dict[str, int]]
    values: dict[str, Measured]
    missing: dict[str, int]
    people: dict[str, Any] | None
    notes: tuple[str, ...]


def measure(labels: Labels, gold: Gold, judge: JudgeVerdicts, *, margin: float, epsilon: float) -> Measures:
    """The measures of a judge on the items with a gold label. An item without a verdict counts as wrong."""
    rows = gold.rows(labels.items)
    items, truth, scheme = [item for item, _ in rows], [label for _, label in rows], labels.scheme
    verdicts = [judge.verdicts.get(item.id) or NONE for item in items]
    clusters = [item.cluster for item in items]
    right = [t == v for t, v in zip(truth, verdicts, strict=True)]
    values = {"agreement": _share(right, clusters), "coverage": _share([v != NONE for v in verdicts], clusters)}
    base, given = _rates(truth), _rates(verdicts)
    confusion: dict[str, dict[str, int]] = {}
    for t, v in zip(truth, verdicts, strict=True):
        confusion.setdefault(t, {}).setdefault(v, 0)
        confusion[t][v] += 1
    if scheme.kind != "numeric":
        values |= _of_tables(scheme, truth, verdicts, clusters) | _of_parts(scheme, truth, verdicts, clusters)
    if scheme.measured:
        values |= _of_numbers(truth, verdicts, clusters)
    values |= _of_repeats(judge, list(dict.fromkeys(item.id for item in items))) | _of_length(items, right, clusters)
    best = max(base, key=lambda label: base[label])
    p = sign_flips(np.array([float(r) - (t == best) for r, t in zip(right, truth, strict=True)]), clusters).p
    people = _people(labels, judge, margin, epsilon)
    without = dict.fromkeys(item.id for item, verdict in zip(items, verdicts, strict=True) if verdict == NONE)
    missing = dict(Counter(judge.missing.get(item_id, "no verdict") for item_id in without))
    return Measures(
        items=len({item.id for item in items}), clusters=len(set(clusters)), base_rates=base, verdict_rates=given,
        constant={best: base[best]}, constant_p=p, confusion=confusion, values=values,
        missing=missing,
        people=people, notes=tuple(_notes(labels, judge, base, given, people, clusters)),
    )  # fmt: skip


def _rates(labels: Sequence[str]) -> dict[str, float]:
    return {label: count / len(labels) for label, count in Counter(labels).most_common()}


def _share(right: Sequence[bool], clusters: Sequence[str]) -> Measured:
    if not right:
        return Measured(value=None)
    limits = rate_limits(right, clusters)
    if len(set(clusters)) == len(right) < FEW_CLUSTERS:
        interval = wilson_ci(sum(right), len(right))
    else:
        interval = clustered_mean_ci([float(one) for one in right], clusters)
    return Measured(
        value=sum(right) / len(right), ci95=interval, lower=limits.lower, upper=limits.upper, right=sum(right),
        of=len(right),
    )  # fmt: skip


def _of_tables(
    scheme: Scheme, truth: Sequence[str], verdicts: Sequence[str], clusters: Sequence[str]
) -> dict[str, Measured]:
    answers = scheme.answers
    found = {
        f"recall[{label}]": _share(
            [v == label for t, v in zip(truth, verdicts, strict=True) if t == label],
            [c for t, c in zip(truth, clusters, strict=True) if t == label],
        )
        for label in answers
    }
    for label in answers:
        given = [(t == label, c) for t, v, c in zip(truth, verdicts, clusters, strict=True) if v == label]
        found[f"precision[{label}]"] = _share([hit for hit, _ in given], [c for _, c in given])
    labels = [*answers, NONE] if NONE in verdicts else list(answers)
    tables = tables_by_cluster(truth, verdicts, clusters, labels)
    draws = resampled(tables)
    one_class = len(set(truth)) < 2
    measures: dict[str, Measure] = {"kappa": kappa, "ac1": lambda t: ac1(t, len(labels)), "mcc": matthews_of}
    if scheme.kind == "ordinal":
        # A missing answer is as far from each level as the scale is long.
        linear = [value_weights(scheme.values, power) for power in (1, 2)]
        if NONE in verdicts:
            linear = [_with_missing(weights) for weights in linear]
        measures["linear_kappa"] = lambda t: weighted_kappa(t, linear[0])
        measures["quadratic_kappa"] = lambda t: weighted_kappa(t, linear[1])
    measures["balanced"] = lambda t: np.nanmean([recall_of(i)(t) for i in range(len(answers))], axis=0)
    for name, function in measures.items():
        undefined = one_class and name != "ac1"
        found[name] = Measured(value=None) if undefined else _bootstrapped(tables, draws, function)
    if scheme.kind == "pairwise" and "tie" in answers:
        credit = [_half_credit(t, v) for t, v in zip(truth, verdicts, strict=True)]
        found["half_credit"] = Measured(
            value=sum(credit) / len(credit), ci95=clustered_mean_ci(credit, clusters), of=len(credit)
        )
    return found


def _of_parts(
    scheme: Scheme, truth: Sequence[str], verdicts: Sequence[str], clusters: Sequence[str]
) -> dict[str, Measured]:
    """The agreement on the items that the judge answers, and of pairs on those without a tie of people, or of both."""
    rows, found = list(zip(truth, verdicts, clusters, strict=True)), {}
    parts = {"answered": [row for row in rows if row[1] != NONE]} if NONE in verdicts else {}
    if scheme.kind == "pairwise" and "tie" in scheme.answers:
        parts["without_ties"] = [row for row in rows if row[0] != "tie" and row[1] != NONE]
        parts["both_decide"] = [row for row in parts["without_ties"] if row[1] != "tie"]
    for name, part in parts.items():
        own = [c for _, _, c in part]
        found[name] = _share([t == v for t, v, _ in part], own)
        if part and name != "without_ties":
            tables = tables_by_cluster([t for t, _, _ in part], [v for _, v, _ in part], own, scheme.answers)
            found[f"{name}_kappa"] = _bootstrapped(tables, resampled(tables), kappa)
    return found


def _with_missing(weights: Floats) -> Floats:
    more = np.full((len(weights) + 1, len(weights) + 1), weights.max())
    more[:-1, :-1] = weights
    more[-1, -1] = 0
    return more


def _half_credit(truth: str, verdict: str) -> float:
    return 1.0 if truth == verdict else 0.5 if verdict == "tie" or (truth == "tie" and verdict != NONE) else 0.0


def _bootstrapped(tables: Floats, draws: Floats | None, function: Measure) -> Measured:
    value = float(function(tables.sum(0)))
    if np.isnan(value):
        return Measured(value=None)
    if (perfect := perfect_ci(tables, function)) is not None:
        return Measured(value=value, ci95=perfect, lower=perfect[0], upper=1.0)
    if (found := bootstrapped(draws, function)) is None:
        return Measured(value=value)
    return Measured(value=value, ci95=found.ci95, lower=found.lower, upper=found.upper)


def _of_numbers(truth: Sequence[str], verdicts: Sequence[str], clusters: Sequence[str]) -> dict[str, Measured]:
    """Errors and correlations over the items with a verdict."""
    known = [(float(t), float(v), c) for t, v, c in zip(truth, verdicts, clusters, strict=True) if v != NONE]
    if not known:
        return {}
    gold, given, own = [t for t, _, _ in known], [v for _, v, _ in known], [c for _, _, c in known]
    gaps = np.array(given) - np.array(gold)
    span = max(1.0, float(np.abs(gaps).max()))
    found = {
        "within_1": _share([bool(abs(gap) <= 1) for gap in gaps], own),
        "mae": _mean(np.abs(gaps).tolist(), own, (0.0, span)),
        "bias": _mean(gaps.tolist(), own, (-span, span)),
    }
    found["tau_b"] = Measured(value=kendall(gold, given), of=len(gold))
    rho = correlation_table({"": given}, gold, own)[""]
    low, high = rho["low"], rho["high"]
    interval = None if low is None or high is None else (low, high)
    found["spearman"] = Measured(value=rho["rho"], ci95=interval, lower=low, upper=high, of=len(gold))
    return found


def _of_length(items: Sequence[LabelledItem], right: Sequence[bool], clusters: Sequence[str]) -> dict[str, Measured]:
    """The agreement on outputs above the median length minus that on the others; of pairs there is none."""
    lengths = [len(item.texts.get("output") or item.texts.get("trace", "")) for item in items]
    middle = float(np.median(lengths))
    long, short = (
        [(c, float(r)) for n, r, c in zip(lengths, right, clusters, strict=True) if (n > middle) == longer]
        for longer in (True, False)
    )
    if not long or not short:
        return {}
    gap = float(np.mean([r for _, r in long]) - np.mean([r for _, r in short]))
    return {"length_gap": Measured(value=gap, ci95=gap_ci(long, short), of=len(items))}


def _mean(values: Sequence[float], clusters: Sequence[str], bounds: tuple[float, float]) -> Measured:
    array = np.array(values)
    below, above = mean_lower(array, clusters), mean_lower(-array, clusters)
    return Measured(
        value=float(array.mean()), ci95=clustered_mean_ci(values, clusters, bounds=bounds), lower=below,
        upper=None if above is None else -above, of=len(values),
    )  # fmt: skip


def _of_repeats(judge: JudgeVerdicts, ids: Sequence[str]) -> dict[str, Measured]:
    found = {}
    repeats = [judge.repeats[i] for i in ids if len(judge.repeats.get(i, ())) > 1]
    if repeats:
        same = [len(set(answers)) == 1 for answers in repeats]
        found["repeats"] = Measured(value=equal_pairs(repeats), right=sum(same), of=len(same))
    both = {i: judge.orders[i] for i in ids if i in judge.orders}
    if both:
        known = [position([letters]).consistent == 1 for letters in both.values()]
        found["consistency"] = _share(known, list(both))
        found["first_preference"] = Measured(value=position(both.values()).bias, of=len(both))
    return found


def _people(labels: Labels, judge: JudgeVerdicts, margin: float, epsilon: float) -> dict[str, Any] | None:
    """Agreement among people, the ceiling and the alt-test; None for one person."""
    people, scheme = labels.people, labels.scheme
    if len(people) < 2:
        return None
    known = filter(None, judge.verdicts.values()) if scheme.kind == "numeric" else ()
    answers = scheme.answers or sorted({*known, *(v for i in labels.items for v in i.labels.values())}, key=float)
    place: Mapping[str, float] = {answer: float(index) for index, answer in enumerate(answers)}
    shown = np.array([place.get(judge.verdicts.get(item.id) or NONE, np.nan) for item in labels.items])
    ratings, clusters = ratings_of(labels.items, people, answers), [item.cluster for item in labels.items]
    values = list(map(float, answers)) if scheme.measured else None
    if scheme.kind == "numeric":
        numbers = np.where(np.isnan(ratings), np.nan, np.array(values)[np.nan_to_num(ratings).astype(int)])
        own, alphas = interval_parts(numbers), interval_alpha
    else:
        own = coincidences(ratings, len(answers))
        alphas = partial(alpha, level="ordinal" if scheme.measured else "nominal")
    given = {one: {i.id: place[i.labels[one]] for i in labels.items if one in i.labels} for one in people}
    found: Ceiling | None = ceiling(ratings, shown, clusters, values)
    test: AltTest | None = alt_test(ratings, shown, epsilon, values)
    shared = int((~np.isnan(ratings)).sum(1).__gt__(1).sum())
    whole, by_cluster = float(alphas(own.sum(0))), _summed(own, clusters)
    limits = bootstrapped(resampled(by_cluster), alphas)
    return {
        "names": people, "shared": shared, "pairs": agreement_of_people(given, fewest=1),
        "fleiss": None if scheme.measured else fleiss_kappa(ratings, len(answers)),
        "ac1": gwet_ac1(ratings, len(answers)) if shared and not scheme.measured else None,
        "alpha": None if np.isnan(whole) else whole, "alpha_ci95": limits.ci95 if limits else None,
        "alpha_lower": limits.lower if limits else None,
        "ceiling": None if found is None else {
            "people": dict(zip((people[at] for at in found.who), found.people, strict=True)),
            "people_mean": found.means[0], "judge_mean": found.means[1], "difference": found.difference,
            "lower": found.lower, "margin": margin,
            "met": None if found.lower is None else found.lower >= -margin,
        },
        "alt_test": None if test is None else {
            "winning_rate": test.winning_rate, "advantage": test.advantage, "p": test.p, "epsilon": epsilon,
            "passed": test.passed,
        },
    }  # fmt: skip


def _summed(tables: Floats, clusters: Sequence[str]) -> Floats:
    row = {name: index for index, name in enumerate(sorted(set(clusters)))}
    found = np.zeros((len(row), *tables.shape[1:]))
    np.add.at(found, [row[cluster] for cluster in clusters], tables)
    return found


def _notes(
    labels: Labels,
    judge: JudgeVerdicts,
    base: Mapping[str, float],
    given: Mapping[str, float],
    people: Mapping[str, Any] | None,
    clusters: Sequence[str],
) -> list[str]:
    notes, scheme, count = list(judge.asked.get("warnings", ())), labels.scheme, len(set(clusters))
    if own := {judge.name, *judge.asked.get("models", ())} & set(labels.people):
        notes.append(f"{min(own)} is a judge here and labelled items as a person: labels of models are no gold")
    if scheme.kind != "numeric" and max(base.values()) > TRAPPED:
        notes.append("kappa falls when one class is rare: read it beside AC1 and the recalls")
    if len(base) == 1:
        notes.append(f"all labels are {next(iter(base))!r}: one class has no kappa and no recall of another")
    answered = [label for label in given if label != NONE]
    if len(answered) == 1 and len(base) > 1:
        notes.append(f"constant judge: every verdict is {answered[0]!r}")
    if count < SHARED_ITEMS:
        shared = "cluster" not in labels.columns and count < len(clusters)
        more = "; items with equal input are one cluster: name a column by --columns cluster=NAME if they are not"
        few = f"{counted(count, 'cluster')}: intervals of fewer than {SHARED_ITEMS} rest on few independent items"
        notes.append(few + (more if shared else ""))
    if people and people["alpha_lower"] is not None and people["alpha_lower"] < 0.4:
        notes.append("people do not agree with each other: fix the rule first")
    return notes
