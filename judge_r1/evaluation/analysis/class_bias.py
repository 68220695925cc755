"""Bias towards the candidate shown first: preference and accuracy by class (supplementary Table 16)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from judge_r1.core.items import best_of
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, Judged
from judge_r1.evaluation.analysis.output import measured, measured_cell
from judge_r1.evaluation.report.tables import NONE, Grid, share
from judge_r1.statistics.intervals import gap_ci

PAPER = (("Qwen3-8B (paper)", 0.552, 0.543, 0.453), ("GRPO-8B (paper)", 0.535, 0.610, 0.540))  # fmt: skip
"""Table 16: preference for A, accuracy where A is better, accuracy where B is; A was better in 48.6 % of the pairs."""
NOTE = (
    "Votes, by the candidate shown first (A) and second (B). Prefers A: of decided votes. Acc.@A, Acc.@B: of the votes "
    "whose better candidate was A or B, those for it (invalid votes and ties are wrong). Gap: the first minus the "
    "second; 0 is no bias, always-A has +1. Misses of A: of wrong decided votes, those in which A was better. "
    "95 % intervals, clustered."
)


MEASURES = ("prefers_a", "accuracy_a", "accuracy_b", "gap", "wrong_of_a")


class Shown(NamedTuple):
    """One vote in the letters of the presentation: the better and the preferred candidate (None: tie or invalid)."""

    cluster_id: str
    gold: str
    preferred: str | None


def shown_votes(judged: Judged) -> list[Shown]:
    """The votes of a judge on two candidates of which one is better."""
    found = []
    for item in judged.benchmark.items:
        best = best_of(item)
        for stored in judged.results.votes[item.item_id]:
            if len(stored.order) != 2 or best not in stored.order:
                continue
            winner = stored.vote.winner
            preferred = None if winner is None else "AB"[stored.order.index(winner)]
            found.append(Shown(item.cluster_id, "AB"[stored.order.index(best)], preferred))
    return found


def bias_row(judged: Judged) -> dict[str, Any]:
    """Table 16 for one judge, with intervals.

    Raises:
        AnalysisError: No vote is on two candidates of which one is better.
    """
    votes = shown_votes(judged)
    if not votes:
        raise AnalysisError(f"judge {judged.name!r} has no vote on two candidates of which one is better")
    decided = [vote for vote in votes if vote.preferred]
    a, b = ([vote for vote in votes if vote.gold == letter] for letter in "AB")
    accuracy_a, accuracy_b = (_share(part, lambda vote: vote.preferred == vote.gold) for part in (a, b))
    gap = None
    if accuracy_a and accuracy_b:
        right_a, right_b = ([(vote.cluster_id, float(vote.preferred == vote.gold)) for vote in part] for part in (a, b))
        difference = accuracy_a["value"] - accuracy_b["value"]
        gap = {"value": difference, "ci95": list(gap_ci(right_a, right_b)), "n": len(votes)}
    wrong = [vote for vote in decided if vote.preferred != vote.gold]
    return {
        "games": len(votes),
        "decided": len(decided),
        "gold_a": len(a) / len(votes),
        "prefers_a": _share(decided, lambda vote: vote.preferred == "A"),
        "accuracy_a": accuracy_a,
        "accuracy_b": accuracy_b,
        "gap": gap,
        "wrong_of_a": _share(wrong, lambda vote: vote.gold == "A"),
    }


def bias_grid(rows: Mapping[str, Mapping[str, Any]]) -> Grid:
    cells = [
        (
            name,
            f"{row['decided']}/{row['games']}",
            share(row["gold_a"]),
            *(measured_cell(row[key], signed=key == "gap") for key in MEASURES),
        )
        for name, row in rows.items()
    ]
    paper = [
        (name, NONE, share(0.486), share(first), share(a), share(b), f"{a - b:+.2f}", NONE)
        for name, first, a, b in PAPER
    ]
    columns = ("judge", "decided", "gold A", "prefers A", "Acc.@A", "Acc.@B", "gap", "misses of A")
    return Grid("Class bias (supplementary Table 16)", NOTE, columns, (*cells, *paper))


def _share(votes: Sequence[Shown], has: Callable[[Shown], bool]) -> dict[str, Any] | None:
    part = measured([float(has(vote)) for vote in votes], [vote.cluster_id for vote in votes])
    return part and {**part, "n": len(votes)}
