"""Does a judge lean to the candidate shown first? Preferences and accuracy by class (supplementary Table 16)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, Judged
from judge_r1.evaluation.report.labels import best_of
from judge_r1.evaluation.report.tables import NONE, Estimate, Grid, share
from judge_r1.statistics.agreement import class_accuracy
from judge_r1.statistics.intervals import clustered_mean_ci, gap_ci

PAPER = (("Qwen3-8B (paper)", 0.552, 0.543, 0.453), ("GRPO-8B (paper)", 0.535, 0.610, 0.540))  # fmt: skip
"""Table 16: preference for A, accuracy where A is better, accuracy where B is; A was better in 48.6 % of the pairs."""
NOTE = (
    "Games, by what was shown first (A) and second (B). Prefers A: of decided games. Acc.@A, Acc.@B: of the games "
    "whose better candidate stood there, those won by it (invalid and tied ones are not). Gap: the first minus the "
    "second; 0 is no lean, always-A has +1. Misses of A: of wrong decided games, those that turned a better A down. "
    "95 % intervals, clustered."
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
        best = best_of(item)
        for trace in judged.results.traces[item.item_id]:
            if len(trace.order) != 2 or best not in trace.order:
                continue
            winner = trace.vote.winner
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
    gap = None
    if len(classes) == 2:
        right = {
            letter: [(game.cluster_id, float(game.preferred == letter)) for game in parts[letter]] for letter in "AB"
        }
        interval = gap_ci(right["A"], right["B"])
        gap = {"value": classes["A"] - classes["B"], "ci95": list(interval), "n": len(games)}
    return {
        "games": len(games),
        "decided": len(decided),
        "gold_a": len(parts["A"]) / len(games),
        "prefers_a": _share([game.preferred == "A" for game in decided], decided),
        "accuracy_a": _share([game.preferred == "A" for game in parts["A"]], parts["A"]),
        "accuracy_b": _share([game.preferred == "B" for game in parts["B"]], parts["B"]),
        "gap": gap,
        "wrong_of_a": _share([game.gold == "A" for game in wrong], wrong),
    }


def bias_grid(rows: Mapping[str, Mapping[str, Any]]) -> Grid:
    def cell(part: Mapping[str, Any] | None, *, signed: bool = False) -> str | Estimate:
        if part is None:
            return NONE
        low, high = part["ci95"]
        return Estimate(part["value"], low, high, signed=signed, n=part["n"])

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
