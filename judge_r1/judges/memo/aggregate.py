"""Combines the scores of the sections of a document without a model, and makes a verdict of the result."""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Literal

from judge_r1.core.memory import DocumentMemory, Scores
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, ScoresVerdict, Verdict

FINAL = "final_judge"
"""The aggregation by a last call of the model."""
Aggregate = Literal["char_mean", "section_mean", "min", "final_judge"]
SAME = 0.01
"""Scores closer than this are equal in a comparison. The sections of two texts differ a little in length, and with them
the weights of a mean by characters, even if every section has the same score."""
NO_SCORE = "no_score"
"""The reason of an invalid verdict: some candidate has no score at all."""
Scored = tuple[float, int]
"""A score and the characters of its section."""


def char_mean(scored: Sequence[Scored]) -> float:
    """Σ score·characters / Σ characters."""
    return sum(score * size for score, size in scored) / sum(size for _, size in scored)


def section_mean(scored: Sequence[Scored]) -> float:
    """The mean over sections."""
    return sum(score for score, _ in scored) / len(scored)


def lowest(scored: Sequence[Scored]) -> float:
    """The score of the worst section."""
    return min(score for score, _ in scored)


_RULES: dict[str, Callable[[Sequence[Scored]], float]] = {
    "char_mean": char_mean,
    "section_mean": section_mean,
    "min": lowest,
}


def aggregated(memory: DocumentMemory) -> dict[str, Scores]:
    """The scores of the document by aggregation and metric. Sections without a score are left out, and a metric without
    any has None."""
    found: dict[str, Scores] = {}
    for name, rule in _RULES.items():
        found[name] = {}
        for metric in memory.metrics:
            scored = [
                (score, max(1, section.end - section.start))
                for section in memory.sections
                if (score := section.scores.get(metric)) is not None
            ]
            found[name][metric] = rule(scored) if scored else None
    return found


def scores_verdict(scores: Sequence[Scores]) -> Verdict:
    """One candidate: a checklist of its scores by metric. Several: the mean of each over the metrics that all of them
    have; means within `SAME` are equal. Invalid if a candidate has no score."""
    given = [{name: score for name, score in one.items() if score is not None} for one in scores]
    shared = set.intersection(*(set(one) for one in given))
    if not shared:
        return InvalidVerdict(reason=NO_SCORE)
    if len(given) == 1:
        return ChecklistVerdict(scores=given[0])
    means = [fmean(one[name] for name in sorted(shared)) for one in given]
    if max(means) - min(means) < SAME:
        means = [fmean(means)] * len(means)
    return ScoresVerdict(scores=tuple(means))
