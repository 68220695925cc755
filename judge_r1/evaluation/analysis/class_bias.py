"""Does a judge lean to the candidate shown first? Preferences and accuracy by class (supplementary Table 16)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from judge_r1.evaluation.agreement import class_accuracy
from judge_r1.evaluation.analysis.attention import gold_place
from judge_r1.evaluation.analysis.inputs import AnalysisError, Judged
from judge_r1.evaluation.statistics import RESAMPLES, clustered_mean_ci
from judge_r1.evaluation.table import NONE, Estimate, Grid, share

PAPER = (("Qwen3-8B (paper)", 0.552, 0.543, 0.453), ("GRPO-8B (paper)", 0.535, 0.610, 0.540))  # fmt: skip
"""Table 16: preference for A, accuracy where A is better, accuracy where B is; A was better in 48.6 % of the pairs."""
NOTE = (
    "Games, by what was shown first (A) and second (B). Prefers A: of decided games. Acc.@A, Acc.@B: of the games whose better "
    "candidate stood there, those won by it (invalid and tied ones are not). Gap: the first minus the second; 0 is no "
    "lean, always-A has +1. Misses of A: of wrong decided games, those that turned a better A down. 95 % intervals, "
    "clustered."
)


class Shown(NamedTuple):
    """One game in the letters of what was shown: the better candidate, and the one preferred (None: tie or invalid)."""

    cluster_id: str
    gold: str
    preferred: str | None


def shown_games(judged: Judged) -> list[Shown]:
    """Every game of a row whose better candidate is among the two that it shows."""
    found = []
    for item in judged.suite.items:
        best = gold_place(item.gold)
        for trace in judged.results[item.item_id]:
            if len(trace.order) != 2 or best not in trace.order:
                continue
            winner = trace.game.winner
            preferred = None if winner is None else "AB"[trace.order.index(winner)]
            found.append(Shown(item.cluster_id, "AB"[trace.order.index(best)], preferred))
    return found


def bias_row(judged: Judged) -> dict[str, Any]:
    """Table 16 of a row, with intervals. Errors: AnalysisError where it has no games of two with a better candidate."""
    games = shown_games(judged)
    if not games:
        raise AnalysisError(f"row {judged.name!r} has no game of two candidates of which one is better")
    decided = [game for game in games if game.preferred]
    wrong = [game for game in decided if game.preferred != game.gold]
    classes = class_accuracy([game.gold for game in games], [game.preferred for game in games])
    parts = {letter: [game for game in games if game.gold == letter] for letter in "AB"}
    gap = classes["A"] - classes["B"] if len(classes) == 2 else None
    return {
        "games": len(games),
        "decided": len(decided),
        "gold_a": len(parts["A"]) / len(games),
        "prefers_a": _share([game.preferred == "A" for game in decided], decided),
        "accuracy_a": _share([game.preferred == "A" for game in parts["A"]], parts["A"]),
        "accuracy_b": _share([game.preferred == "B" for game in parts["B"]], parts["B"]),
        "gap": None if gap is None else {"value": gap, "ci95": list(gap_ci(games)), "n": len(games)},
        "wrong_of_a": _share([game.gold == "A" for game in wrong], wrong),
    }


def gap_ci(games: Sequence[Shown], seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of Acc.@A - Acc.@B by a bootstrap over clusters, whole: percentiles of 2,000 resamples, of those
    that hold both classes.

    Where the resamples do not vary (a judge that always says A has a gap of +1 in each) it is Newcombe's (1998, method
    10) from the two classes' own intervals, [d - sqrt((a - l_a)² + (u_b - b)²), d + sqrt((u_a - a)² + (b - l_b)²)].
    """
    names = sorted({game.cluster_id for game in games})
    place = {name: number for number, name in enumerate(names)}
    counts = np.zeros((4, len(names)))  # right and all of A, right and all of B
    for game in games:
        row = 0 if game.gold == "A" else 2
        counts[row, place[game.cluster_id]] += game.preferred == game.gold
        counts[row + 1, place[game.cluster_id]] += 1
    drawn = np.random.default_rng(seed).integers(0, len(names), size=(RESAMPLES, len(names)))
    right_a, all_a, right_b, all_b = (counts[row][drawn].sum(axis=1) for row in range(4))
    both = (all_a > 0) & (all_b > 0)
    gaps = right_a[both] / all_a[both] - right_b[both] / all_b[both]
    if len(gaps) and np.ptp(gaps) > 1e-12:
        low, high = np.quantile(gaps, [0.025, 0.975])
        return float(low), float(high)
    parts = [[game for game in games if game.gold == letter] for letter in "AB"]
    (a, (low_a, high_a)), (b, (low_b, high_b)) = (
        (
            sum(game.preferred == game.gold for game in part) / len(part),
            clustered_mean_ci([float(game.preferred == game.gold) for game in part], [g.cluster_id for g in part]),
        )
        for part in parts
    )
    below = float(np.hypot(a - low_a, high_b - b))
    above = float(np.hypot(high_a - a, b - low_b))
    return max(-1.0, a - b - below), min(1.0, a - b + above)


def bias_grid(rows: Mapping[str, Mapping[str, Any]]) -> Grid:
    def cell(part: Mapping[str, Any] | None, *, signed: bool = False) -> str | Estimate:
        return NONE if part is None else Estimate(part["value"], *part["ci95"], signed=signed, n=part["n"])

    cells = [
        (
            name,
            f"{row['decided']}/{row['games']}",
            share(row["gold_a"]),
            cell(row["prefers_a"]),
            cell(row["accuracy_a"]),
            cell(row["accuracy_b"]),
            cell(row["gap"], signed=True),
            cell(row["wrong_of_a"]),
        )
        for name, row in rows.items()
    ]
    paper = [
        (name, NONE, share(0.486), share(first), share(a), share(b), f"{a - b:+.2f}", NONE)
        for name, first, a, b in PAPER
    ]
    columns = ("judge", "decided", "gold A", "prefers A", "Acc.@A", "Acc.@B", "gap", "misses of A")
    return Grid("Class bias (supplementary Table 16)", NOTE, columns, (*cells, *paper))


def _share(flags: Sequence[bool], games: Sequence[Shown]) -> dict[str, Any] | None:
    if not flags:
        return None
    clusters = [game.cluster_id for game in games]
    interval = clustered_mean_ci([float(flag) for flag in flags], clusters)
    return {"value": sum(flags) / len(flags), "ci95": list(interval), "n": len(flags)}
