"""Measures of a judge's verdicts against people's labels, each with its interval, and what stands beside them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

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
    Level,
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
    Bootstrapped,
    Floats,
    Measure,
    ac1,
    balanced,
    bootstrapped,
    kappa,
    matthews_of,
    perfect_ci,
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


class Row(NamedTuple):
    """A gold label, the verdict (`NONE` for none), and the cluster of the item."""

    truth: str
    verdict: str
    cluster: str

    @property
    def right(self) -> bool:
        return self.truth == self.verdict


def measure(labels: Labels, gold: Gold, judge: JudgeVerdicts, *, margin: float, epsilon: float) -> Measures:
    """The measures of a judge on the items with a gold label. An item without a verdict counts as wrong."""
    given = gold.rows(labels.items)
    items, scheme = [item for item, _ in given], labels.scheme
    rows = [Row(label, judge.verdicts.get(item.id) or NONE, item.cluster) for item, label in given]
    values = {"agreement": _share(rows), "coverage": _share(rows, lambda row: row.verdict != NONE)}
    if scheme.kind != "numeric":
        values |= _of_tables(scheme, rows) | _of_parts(scheme, rows)
    if scheme.measured:
        values |= _of_numbers([row for row in rows if row.verdict != NONE])
    values |= _of_repeats(judge, list(dict.fromkeys(item.id for item in items))) | _of_length(items, rows)
    base, verdicts = _rates([row.truth for row in rows]), _rates([row.verdict for row in rows])
    best = max(base, key=lambda label: base[label])
    clusters = [row.cluster for row in rows]
    people = _people(labels, judge, margin, epsilon)
    without = dict.fromkeys(item.id for item, row in zip(items, rows, strict=True) if row.verdict == NONE)
    pairs = Counter((row.truth, row.verdict) for row in rows)
    return Measures(
        items=len({item.id for item in items}), clusters=len(set(clusters)), base_rates=base, verdict_rates=verdicts,
        constant={best: base[best]},
        constant_p=sign_flips(np.array([float(row.right) - (row.truth == best) for row in rows]), clusters).p,
        confusion={label: {v: n for (t, v), n in pairs.items() if t == label} for label in base}, values=values,
        missing=dict(Counter(judge.missing.get(item_id, "no verdict") for item_id in without)), people=people,
        notes=tuple(_notes(labels, judge, base, verdicts, people, clusters)),
    )  # fmt: skip


def _rates(labels: Sequence[str]) -> dict[str, float]:
    return {label: count / len(labels) for label, count in Counter(labels).most_common()}


def _share(rows: Sequence[Row], of: Callable[[Row], bool] = lambda row: row.right) -> Measured:
    """The share of rows of which `of` is true; none without rows."""
    return _share_of([of(row) for row in rows], [row.cluster for row in rows])


def _share_of(right: Sequence[bool], clusters: Sequence[str]) -> Measured:
    if not right:
        return Measured(value=None)
    limits, count = rate_limits(right, clusters), sum(right)
    if len(set(clusters)) == len(right) < FEW_CLUSTERS:
        interval = wilson_ci(count, len(right))
    else:
        interval = clustered_mean_ci([float(one) for one in right], clusters)
    value = count / len(right)
    return Measured(value=value, ci95=interval, lower=limits.lower, upper=limits.upper, right=count, of=len(right))


def _mean(values: Sequence[float], rows: Sequence[Row], bounds: tuple[float, float] = (0.0, 1.0)) -> Measured:
    array, clusters = np.array(values), [row.cluster for row in rows]
    below, above = mean_lower(array, clusters, bounds[0]), mean_lower(-array, clusters, -bounds[1])
    return Measured(
        value=float(array.mean()), ci95=clustered_mean_ci(values, clusters, bounds=bounds), lower=below,
        upper=None if above is None else -above, of=len(values),
    )  # fmt: skip


def _of_tables(scheme: Scheme, rows: Sequence[Row]) -> dict[str, Measured]:
    """Recall and precision of each label, and what corrects the agreement by chance."""
    answers, missing = scheme.answers, any(row.verdict == NONE for row in rows)
    found = {f"recall[{label}]": _share([row for row in rows if row.truth == label]) for label in answers}
    found |= {f"precision[{label}]": _share([row for row in rows if row.verdict == label]) for label in answers}
    labels, known = [*answers, NONE] if missing else list(answers), len(answers)
    level: Level = "ordinal" if scheme.kind == "ordinal" else "nominal"

    def alpha_of(tables: Floats) -> Floats:  # a missing answer is a gap
        answered = tables[..., :known, :known]
        return alpha(answered + np.swapaxes(answered, -1, -2), level)

    measures: dict[str, Measure] = {
        "kappa": kappa, "ac1": lambda t: ac1(t, len(labels)), "mcc": matthews_of, "alpha": alpha_of,
        "balanced": lambda t: balanced(t[..., :known, :]),
    }  # fmt: skip
    for power, name in ((1, "linear_kappa"), (2, "quadratic_kappa")) if scheme.kind == "ordinal" else ():
        weights = value_weights(scheme.values, power)
        if missing:  # as far from each level as the scale is long
            weights = np.pad(weights, (0, 1), constant_values=weights.max())
            weights[-1, -1] = 0
        measures[name] = partial(weighted_kappa, weights=weights)
    undefined = () if len({row.truth for row in rows}) > 1 else measures.keys() - {"ac1"}
    found |= {name: Measured(value=None) for name in undefined}
    found |= _bootstrapped(rows, labels, {name: one for name, one in measures.items() if name not in undefined})
    if scheme.kind == "pairwise" and "tie" in answers:
        found["half_credit"] = _mean([_half_credit(row.truth, row.verdict) for row in rows], rows)
        constant = max(float(np.mean([_half_credit(row.truth, answer) for row in rows])) for answer in answers)
        found["constant_half_credit"] = Measured(value=constant, of=len(rows))
    return found


def _of_parts(scheme: Scheme, rows: Sequence[Row]) -> dict[str, Measured]:
    """The agreement on the items that the judge answers, and of pairs on those without a tie of people, or of both."""
    answered, found = [row for row in rows if row.verdict != NONE], {}
    parts = {"answered": answered} if len(answered) < len(rows) else {}
    if scheme.kind == "pairwise" and "tie" in scheme.answers:
        parts["without_ties"] = [row for row in answered if row.truth != "tie"]
        parts["both_decide"] = [row for row in parts["without_ties"] if row.verdict != "tie"]
    for name, part in parts.items():
        found[name] = _share(part)
        if part and name != "without_ties":
            found |= _bootstrapped(part, scheme.answers, {f"{name}_kappa": kappa})
    return found


def _half_credit(truth: str, verdict: str) -> float:
    return 1.0 if truth == verdict else 0.5 if verdict == "tie" or (truth == "tie" and verdict != NONE) else 0.0


def _bootstrapped(rows: Sequence[Row], labels: Sequence[str], measures: Mapping[str, Measure]) -> dict[str, Measured]:
    """Measures of the contingency table, with intervals over clusters."""
    truth, verdicts, clusters = (list(column) for column in zip(*rows, strict=True))
    tables = tables_by_cluster(truth, verdicts, clusters, labels)
    draws, found = resampled(tables), {}
    for name, function in measures.items():
        value = float(function(tables.sum(0)))
        if np.isnan(value):
            found[name] = Measured(value=None)
        elif (perfect := perfect_ci(tables, function)) is not None:
            found[name] = Measured(value=value, ci95=perfect, lower=perfect[0], upper=1.0)
        else:
            limits = bootstrapped(draws, function, len(tables))
            found[name] = Measured(value=value, **(limits._asdict() if limits else {}))
    return found


def _of_numbers(rows: Sequence[Row]) -> dict[str, Measured]:
    """Errors and correlations over the items with a verdict."""
    if not rows:
        return {}
    gold, given = [float(row.truth) for row in rows], [float(row.verdict) for row in rows]
    gaps = np.array(given) - np.array(gold)
    span = max(1.0, float(np.abs(gaps).max()))
    rho = correlation_table({"": given}, gold, [row.cluster for row in rows])[""]
    low, high = rho["low"], rho["high"]
    interval = None if low is None or high is None else (low, high)
    return {
        "within_1": _share(rows, lambda row: abs(float(row.verdict) - float(row.truth)) <= 1),
        "mae": _mean(np.abs(gaps).tolist(), rows, (0.0, span)),
        "bias": _mean(gaps.tolist(), rows, (-span, span)),
        "tau_b": Measured(value=kendall(gold, given), of=len(rows)),
        "spearman": Measured(value=rho["rho"], ci95=interval, lower=low, upper=high, of=len(rows)),
    }


def _of_length(items: Sequence[LabelledItem], rows: Sequence[Row]) -> dict[str, Measured]:
    """The agreement on outputs above the median length minus that on the others; of pairs there is none."""
    lengths = np.array([len(item.texts.get("output") or item.texts.get("trace", "")) for item in items])
    hits = np.array([float(row.right) for row in rows])
    long = lengths > np.median(lengths)
    if long.all() or not long.any():
        return {}
    parts = [
        [(row.cluster, float(hit)) for row, hit, own in zip(rows, hits, side, strict=True) if own]
        for side in (long, ~long)
    ]
    gap = float(hits[long].mean() - hits[~long].mean())
    return {"length_gap": Measured(value=gap, ci95=gap_ci(parts[0], parts[1]), of=len(items))}


def _of_repeats(judge: JudgeVerdicts, ids: Sequence[str]) -> dict[str, Measured]:
    found = {}
    repeats = [judge.repeats[i] for i in ids if len(judge.repeats.get(i, ())) > 1]
    if repeats:
        same = [len(set(answers)) == 1 for answers in repeats]
        found["repeats"] = Measured(value=equal_pairs(repeats), right=sum(same), of=len(same))
    both = {i: judge.orders[i] for i in ids if i in judge.orders}
    if both:
        found["consistency"] = _share_of([position([one]).consistent == 1 for one in both.values()], list(both))
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
        level: Level | Floats = value_weights(values or (), 2)
    else:
        own = coincidences(ratings, len(answers))
        level = "ordinal" if scheme.measured else "nominal"
        alphas = partial(alpha, level=level)
    given = {one: {i.id: place[i.labels[one]] for i in labels.items if one in i.labels} for one in people}
    found: Ceiling | None = ceiling(ratings, shown, clusters, values)
    test: AltTest | None = alt_test(ratings, shown, epsilon, values)
    shared = int((~np.isnan(ratings)).sum(1).__gt__(1).sum())
    whole, (names, place_of) = float(alphas(own.sum(0))), np.unique(clusters, return_inverse=True)
    by_cluster = np.zeros((len(names), *own.shape[1:]))
    np.add.at(by_cluster, place_of, own)
    limits = bootstrapped(resampled(by_cluster), alphas, len(names))
    if np.isclose(whole, 1):  # no draw of the clusters shows a difference
        tables = np.zeros((len(names), len(answers), len(answers)))
        np.add.at(tables, place_of, coincidences(ratings, len(answers)))
        perfect = perfect_ci(tables[tables.sum((1, 2)) > 0], partial(alpha, level=level))
        limits = Bootstrapped(perfect, perfect[0], 1.0) if perfect else None
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


def _notes(
    labels: Labels,
    judge: JudgeVerdicts,
    base: Mapping[str, float],
    given: Mapping[str, float],
    people: Mapping[str, Any] | None,
    clusters: Sequence[str],
) -> list[str]:
    notes, scheme, count = list(judge.asked.get("warnings", ())), labels.scheme, len(set(clusters))
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
