"""The rule-based reward (paper, section 3.2, Eq. 5-8). It depends on the judgment and its pair only."""

from collections.abc import Collection
from fractions import Fraction
from math import isfinite

from judge_r1.core.records import ReasoningPair, Trajectory, evidence_of
from judge_r1.core.verdicts import Evidence, Judgment

_GRID = 2**18
"""A power of two, so that multiples of its inverse are exact in binary (`round_reward`)."""


def precision(predicted: Collection[int], gold: Collection[int]) -> float:
    """Eq. 6: |predicted ∩ gold| / |predicted|; 0 if nothing is predicted."""
    return len(set(predicted) & set(gold)) / len(set(predicted)) if predicted else 0.0


def recall(predicted: Collection[int], gold: Collection[int]) -> float:
    """Eq. 7: |predicted ∩ gold| / |gold|; 0 if gold is empty."""
    return len(set(predicted) & set(gold)) / len(set(gold)) if gold else 0.0


def f1(predicted: Collection[int], gold: Collection[int]) -> float:
    """The harmonic mean of Eq. 6 and 7; 0 if a set is empty or the sets are disjoint."""
    p, r = precision(predicted, gold), recall(predicted, gold)
    return 2 * p * r / (p + r) if p + r else 0.0


def combine(r1: float, r2: float) -> float:
    """r = (R1 + R2 + 3) / 6, in [0, 1]."""
    return (r1 + r2 + 3) / 6


def score(judgment: Judgment | None, pair: ReasoningPair) -> dict[str, float]:
    """The reward and its parts: `r`, `R1` (Eq. 5), `R2` (Eq. 8), `F1`, `precision`, `recall`, `valid`.

    Without a valid judgment R1 = -2 and R2 = -1, so r = 0.
    """
    if judgment is None:
        # The lowest reward, and not a missing one: an answer that nobody can read is the judge's fault. Failures of the
        # infrastructure are masked out of the loss by the trainers.
        return {"r": 0.0, "R1": -2.0, "R2": -1.0, "F1": 0.0, "precision": 0.0, "recall": 0.0, "valid": 0.0}
    predicted, gold = judgment.violated_principles, pair.violated
    r1 = 2.0 if judgment.comparison == pair.gold.comparison else -2.0
    label_f1 = f1(predicted, gold)
    r2 = 2 * (label_f1 - 0.5)
    return {
        "r": combine(r1, r2),
        "R1": r1,
        "R2": r2,
        "F1": label_f1,
        "precision": precision(predicted, gold),
        "recall": recall(predicted, gold),
        "valid": 1.0,
    }


def shown_passages(trajectory: Trajectory) -> tuple[Evidence, ...]:
    """The passages of an episode, without repeats: those of its turns, and those that were shown with the task or that
    a rule rests on, which the judgment alone names."""
    judged = trajectory.judgment.evidence if trajectory.judgment else ()
    return tuple(dict.fromkeys((*evidence_of(trajectory.turns), *judged)))


def evidence_hit(trajectory: Trajectory, pair: ReasoningPair) -> float | None:
    """1.0 if a shown passage of the case overlaps a context span that a flaw contradicts, else 0.0. None if the flaws
    have no context spans."""
    spans = [span for flaw in pair.origin.flaws for span in flaw.context_spans]
    if not spans:
        return None
    # Passages of other cases are those of a baseline that searches all cases: their offsets are in another text.
    shown = [passage for passage in shown_passages(trajectory) if passage.case_id == pair.case_id]
    return float(any(p.start < span.end and span.start < p.end for p in shown for span in spans))


def with_reward(trajectory: Trajectory, pair: ReasoningPair) -> Trajectory:
    """The trajectory with its reward: `score`, `searches` and, if it is defined, `evidence_hit`."""
    breakdown = score(trajectory.judgment, pair) | {"searches": float(trajectory.searches)}
    if (hit := evidence_hit(trajectory, pair)) is not None:
        breakdown["evidence_hit"] = hit
    return trajectory.model_copy(update={"reward": breakdown})


def round_reward(r: float) -> float:
    """Rounds `r` to a multiple of 2^-18 (error at most 2e-6), so that equal rewards in a group give advantages of 0.

    Both engines compute group means in float32, where the mean of equal numbers often differs from them. Divided by a
    standard deviation of 0 plus epsilon, the difference becomes an advantage: up to 0.1 with verl's default epsilon of
    1e-6 and 0.001 with TRL's 1e-4. Multiples of 2^-18 have exact sums for up to 64 rewards. A number that is not finite
    is returned as it is: both engines leave its episode out of the group.
    """
    return round(r * _GRID) / _GRID if isfinite(r) else r


def reward_parts(r: float) -> tuple[float, float]:
    """R1 and R2 of a reward `r` (`combine`), which may be rounded (`round_reward`); R2 is rounded in the same way.

    R2 has a range of 2, so r is at least 2/3 with R1 = 2, and at most 1/3 with R1 = -2. The F1 of two sets of up to six
    principles is a fraction with a denominator of at most 12."""
    r1 = 2.0 if r >= 0.5 else -2.0
    label_f1 = Fraction((6 * r - 3 - r1) / 2 + 0.5).limit_denominator(12)
    return r1, round_reward(2 * (float(label_f1) - 0.5))
