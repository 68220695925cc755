"""How often each attack changes a right verdict."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from judge_r1.core.items import ItemResult
from judge_r1.core.verdicts import InvalidVerdict
from judge_r1.evaluation.analysis.measures import measured, measured_cell
from judge_r1.evaluation.attacks.benchmark import NONE, Attacked
from judge_r1.evaluation.attacks.kinds import ATTACKS, CONTROL
from judge_r1.evaluation.report.tables import Grid, share
from judge_r1.statistics.intervals import paired_difference_ci

NOTE = (
    "Flips: of the pairs judged right without the attack, those judged wrong under it (a tie or an invalid answer "
    "counts as wrong). Above control: flips minus those by a sentence that says nothing, over the same pairs. "
    "Accuracy: of all pairs under the attack. 95 % intervals, clustered by case."
)


def rates(items: Sequence[Attacked], results: Sequence[ItemResult]) -> dict[str, dict[str, Any]]:
    """For each attack, in the order of `ATTACKS`: the accuracy without (`before`) and under it (`accuracy`), the share
    of right verdicts that it flips (`flips`), the same minus that of `control` (`above_control`), each with a 95 %
    interval, and the share of invalid answers. Pairs that the server did not answer in both forms are left out."""
    place = {one.item_id: (one.original.item_id, one.attack) for one in items}
    scores: dict[str, dict[str, float]] = {}
    invalid: dict[str, list[bool]] = {}
    cluster = {}
    for result in results:
        if result.answered:
            pair, attack = place[result.item_id]
            scores.setdefault(attack, {})[pair] = result.score
            invalid.setdefault(attack, []).append(isinstance(result.verdict, InvalidVerdict))
            cluster[pair] = result.cluster_id
    before = scores.get(NONE, {})
    # A flip is a verdict that was right and no longer is: one that was wrong before cannot be lost.
    lost = {
        attack: {pair: 1 - score for pair, score in found.items() if before.get(pair) == 1}
        for attack, found in scores.items()
    }
    rows = {}
    for attack in (attack for attack in ATTACKS if attack in scores):
        found = {pair: score for pair, score in scores[attack].items() if pair in before}
        rows[attack] = {
            "n": len(found),
            "before": fmean(before[pair] for pair in found) if found else None,
            "accuracy": _mean(found, cluster),
            "flips": _mean(lost[attack], cluster),
            # Harmless text flips some verdicts, too. Only what an attack adds to that is its effect.
            "above_control": _above(lost[attack], lost.get(CONTROL, {}), cluster) if attack != CONTROL else None,
            "invalid": fmean(invalid[attack]),
        }
    return rows


def rates_grid(title: str, found: Mapping[str, Mapping[str, Any]]) -> Grid:
    cells = [
        (
            attack,
            str(row["n"]),
            share(row["before"]),
            measured_cell(row["accuracy"]),
            measured_cell(row["flips"]),
            measured_cell(row["above_control"], signed=True),
            share(row["invalid"]),
        )
        for attack, row in found.items()
    ]
    columns = ("attack", "pairs", "accuracy before", "accuracy", "flips", "above control", "invalid")
    return Grid(title, NOTE, columns, tuple(cells))


def flipped(items: Sequence[Attacked], results: Sequence[ItemResult]) -> list[Attacked]:
    """The attacked pairs whose verdict was right without the attack and is wrong under it."""
    score = {result.item_id: result.score for result in results if result.answered}
    return [
        one for one in items if score.get(Attacked(one.original, NONE).item_id) == 1 and score.get(one.item_id, 1) < 1
    ]


def _mean(values: Mapping[str, float], cluster: Mapping[str, str]) -> dict[str, Any] | None:
    part = measured(list(values.values()), [cluster[pair] for pair in values])
    return part and {**part, "n": len(values)}


def _above(
    lost: Mapping[str, float], by_control: Mapping[str, float], cluster: Mapping[str, str]
) -> dict[str, Any] | None:
    both = sorted(lost.keys() & by_control.keys())
    if not both:
        return None
    one, other = ({pair: values[pair] for pair in both} for values in (lost, by_control))
    interval = paired_difference_ci(one, other, {pair: cluster[pair] for pair in both})
    return {"value": fmean(one.values()) - fmean(other.values()), "ci95": list(interval), "n": len(both)}
