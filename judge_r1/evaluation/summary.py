"""`summary.json`: one row a judge, paired differences between rows, seconds (DESIGN.md, section 9)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import suggest
from judge_r1.evaluation import metrics
from judge_r1.evaluation.results import Outcome
from judge_r1.statistics.intervals import clustered_mean_ci, paired_difference_ci
from judge_r1.statistics.significance import holm, permutation

Measure = Callable[[Outcome], float]


class BadSummary(JudgeError):
    """Rows that cannot be put side by side."""


def summarise(
    outcomes_by_row: Mapping[str, Sequence[Outcome]],
    differences: Sequence[tuple[str, str]],
    seconds: Mapping[str, float],
    settings: Mapping[str, dict[str, Any]],
) -> dict[str, Any]:
    """The summary of all rows, in their order.

    `differences` names pairs of rows: delta is the accuracy of the first minus that of the second, on the same pairs.
    `seconds` are stages or rows by name, as the caller timed them; `settings` holds what each row decoded with.
    Intervals are 95 %, clustered by case. Raises BadSummary, or DifferentPairs for rows that do not share their pairs.
    """
    for name in outcomes_by_row:
        if name not in settings:
            raise BadSummary(f"row {name!r} comes without its decoding settings{suggest(name, settings)}")
    return {
        "rows": [_row(name, list(outcomes), settings[name]) for name, outcomes in outcomes_by_row.items()],
        "differences": with_holm([_difference(a, b, outcomes_by_row) for a, b in differences]),
        "seconds": dict(seconds),
    }


def _row(name: str, outcomes: list[Outcome], settings: dict[str, Any]) -> dict[str, Any]:
    if not outcomes:
        raise BadSummary(f"row {name!r} has no outcomes: evaluate at least one pair")
    if len({o.pair_id for o in outcomes}) != len(outcomes):
        raise BadSummary(f"row {name!r} holds a pair twice: each pair counts once")
    strict, tolerant = metrics.parser_rates(outcomes)
    mean, micro, macro = metrics.label_mean(outcomes), metrics.label_micro(outcomes), metrics.label_macro(outcomes)
    return {
        "name": name,
        **_slice(outcomes),
        "label_f1_ci95": _ci(outcomes, _label_f1),
        "label_precision": mean.precision,
        "label_recall": mean.recall,
        "label_f1_micro": micro.f1,
        "label_f1_macro": macro.f1,
        "valid_strict": strict,
        "valid_tolerant": tolerant,
        "ended": metrics.ended_counts(outcomes),
        "evidence_hit": metrics.evidence_hit_rate(outcomes),
        "predicted_a": metrics.position_share(outcomes),
        "gold_a": sum(o.preferred == "A" for o in outcomes) / len(outcomes),
        "reward": metrics.mean_reward(outcomes),
        "settings": settings,
        "by_domain": {domain: _slice(part) for domain, part in metrics.by_domain(outcomes).items()},
        "by_principle": _by_principle(outcomes),
    }


def _slice(outcomes: list[Outcome]) -> dict[str, Any]:
    return {
        "n": len(outcomes),
        "cases": len({o.case_id for o in outcomes}),
        "accuracy": metrics.accuracy(outcomes),
        "ci95": _ci(outcomes, _correct),
        "label_f1": metrics.label_mean(outcomes).f1,
        "valid_rate": metrics.valid_rate(outcomes),
        "searches": metrics.searches(outcomes),
    }


def _by_principle(outcomes: list[Outcome]) -> dict[str, Any]:
    """A pair counts under every principle it violates; `single` gives the pairs that violate that one alone (None
    without any); `named` is the share of answers that name the principle."""
    alone = metrics.by_principle(outcomes, single=True)
    return {
        f"P{number}": {
            **_slice(part),
            "named": metrics.named_rate(part, number),
            "evidence_hit": metrics.evidence_hit_rate(part),
            "single": _slice(alone[number]) if number in alone else None,
        }
        for number, part in metrics.by_principle(outcomes).items()
    }


def _difference(a: str, b: str, rows: Mapping[str, Sequence[Outcome]]) -> dict[str, Any]:
    """The difference over all pairs, and over those of each domain and each principle."""
    for name in (a, b):
        if name not in rows:
            raise BadSummary(f"a difference names row {name!r}, which was not evaluated{suggest(name, rows)}")
    parts_a, parts_b = metrics.by_principle(rows[a]), metrics.by_principle(rows[b])
    domains_a, domains_b = metrics.by_domain(rows[a]), metrics.by_domain(rows[b])
    return {
        "a": a,
        "b": b,
        **_delta(rows[a], rows[b], _correct),
        "label_f1": _delta(rows[a], rows[b], _label_f1),
        "by_domain": {d: _delta(part, domains_b.get(d, []), _correct) for d, part in domains_a.items()},
        "by_principle": {f"P{p}": _delta(part, parts_b.get(p, []), _correct) for p, part in parts_a.items()},
    }


def compared(
    values_a: Mapping[str, float], values_b: Mapping[str, float], clusters: Mapping[str, str]
) -> dict[str, Any]:
    """mean(a) - mean(b) over the same items, its interval, and p by permutation of clusters. Raises DifferentPairs."""
    test = permutation(values_a, values_b, clusters)
    interval = paired_difference_ci(values_a, values_b, clusters)
    return {"n": len(values_a), "delta": test.difference, "ci95": list(interval), "p": test.p}


def with_holm(differences: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`p_holm`: p for all differences of a summary taken together."""
    adjusted = holm({place: difference["p"] for place, difference in enumerate(differences)})
    return [{**difference, "p_holm": adjusted[place]} for place, difference in enumerate(differences)]


def _delta(a: Sequence[Outcome], b: Sequence[Outcome], measure: Measure) -> dict[str, Any]:
    values_a, values_b = ({o.pair_id: measure(o) for o in part} for part in (a, b))
    return compared(values_a, values_b, {o.pair_id: o.case_id for o in a})


def _ci(outcomes: list[Outcome], measure: Measure) -> list[float]:
    return list(clustered_mean_ci([measure(o) for o in outcomes], [o.case_id for o in outcomes]))


def _correct(outcome: Outcome) -> float:
    return float(outcome.correct)


def _label_f1(outcome: Outcome) -> float:
    return metrics.outcome_scores(outcome).f1
