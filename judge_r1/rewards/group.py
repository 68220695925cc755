"""The engine of group rewards: compares the members of a group by a schedule and scores each member.

A score is the mean probability to beat the other members, by Bradley–Terry ratings x of all comparisons of the group:

    s_i = mean_j σ(x_i - x_j)

Scores of a group have the mean 1/2. The prior of the ratings makes them finite and draws a member with few comparisons
to 1/2. With a reference, the score is the mean probability to beat the reference, whatever the other members are. A tie
counts as half a win for both. A comparison that failed counts for nobody, and a member without any valid comparison has
no score.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np

from judge_r1.core.event_loop import gather_all
from judge_r1.core.verdicts import preference
from judge_r1.judges.base import JudgeOutput
from judge_r1.rewards.schedule import Pair, Schedule, rounds
from judge_r1.statistics.rating.bradley_terry import Result, head_to_head
from judge_r1.statistics.rating.information import logistic

PRIOR = 1.0
"""Votes of each member against a member of average strength, half of them won."""
ALONE = "there is no other rollout to compare it with"
EMPTY = "(empty)"
"""What the judge reads in the place of a blank answer."""
Orders = Literal[1, 2]
Outcome = tuple[float | None, str | None]
"""P(the first answer is better), or None and the reason why there is no judgment."""


@dataclass(frozen=True)
class Comparison:
    """The members shown first and second, and P(the first is better); None if it failed, with the reason."""

    first: int
    second: int
    first_wins: float | None
    failure: str | None = None


Compare = Callable[[int, int], Awaitable[Comparison]]
"""Compares two members in the order shown."""


@dataclass(frozen=True)
class Watched:
    """Pairs of answers on which two judges both name a winner, those with the same one, and comparisons in which the
    second judge failed (`judge_r1.rewards.watch`)."""

    compared: int = 0
    same: int = 0
    failed: int = 0


@dataclass(frozen=True)
class GroupScores:
    """One score in [0, 1] for each member, or None with the reason in `failures`. `watched` says what a second judge
    finds, if there is one."""

    scores: tuple[float | None, ...]
    failures: tuple[str | None, ...]
    comparisons: tuple[Comparison, ...]
    watched: Watched | None = None

    @property
    def failed(self) -> int:
        """The number of comparisons that failed."""
        return sum(one.first_wins is None for one in self.comparisons)


async def judge_group(
    count: int,
    compare: Compare,
    *,
    schedule: Schedule = "circular",
    orders: Orders = 2,
    reference: bool = False,
    prior: float = PRIOR,
) -> GroupScores:
    """Scores the members 0 to `count` - 1 of a group. `compare` is called for the number `count` if there is a
    `reference`. With `orders` 2, each pair is judged in both orders; with 1, the members take turns in being first.

    Raises:
        ValueError: The schedule is unknown, or has no use for a reference.
    """
    found: list[Comparison] = []
    steps = rounds(schedule, count, reference)
    pairs = next(steps, None)
    while pairs is not None:
        shown = [pair for one in pairs for pair in _in_orders(one, orders)]
        done = await gather_all([compare(first, second) for first, second in shown])
        found += done
        parts = [done[at : at + orders] for at in range(0, len(done), orders)]
        won = [_points(part, pair) for part, pair in zip(parts, pairs, strict=True)]
        try:
            pairs = steps.send(won)
        except StopIteration:
            pairs = None
    return scores_of(count, found, reference=reference, prior=prior)


async def judge_answers(
    answers: Sequence[str],
    reference: str | None,
    judge: Callable[[str, str], Awaitable[Outcome]],
    *,
    schedule: Schedule,
    orders: Orders,
) -> GroupScores:
    """As `judge_group`, for texts. A blank reference is none."""
    texts = shown_texts(answers, reference)

    async def compare(first: int, second: int) -> Comparison:
        return Comparison(first, second, *await judge(texts[first], texts[second]))

    referenced = bool((reference or "").strip())
    return await judge_group(len(answers), compare, schedule=schedule, orders=orders, reference=referenced)


def shown_texts(answers: Sequence[str], reference: str | None) -> list[str]:
    """What the judge reads for each member, and last for the reference."""
    return [text if text.strip() else EMPTY for text in [*answers, reference or ""]]


def scores_of(
    count: int, comparisons: Sequence[Comparison], *, reference: bool = False, prior: float = PRIOR
) -> GroupScores:
    """The scores of the module's formula."""
    valid = [(one.first, one.second, one.first_wins) for one in comparisons if one.first_wins is not None]
    scores = _against_reference(count, valid) if reference else _win_rates(head_to_head(valid, prior=prior))
    failures = [None if member in scores else _reason(member, comparisons) for member in range(count)]
    # Not 1/2 for a member without a comparison: a trainer would learn from a number that nobody has judged.
    return GroupScores(tuple(scores.get(member) for member in range(count)), tuple(failures), tuple(comparisons))


def _win_rates(rating: dict[int, float]) -> dict[int, float]:
    x = np.array(list(rating.values()))
    beats = logistic(np.subtract.outer(x, x))
    np.fill_diagonal(beats, 0.0)
    return dict(zip(rating, (beats.sum(axis=1) / max(1, len(x) - 1)).tolist(), strict=True))


def _against_reference(count: int, results: Sequence[Result]) -> dict[int, float]:
    points: dict[int, list[float]] = {}
    for first, second, won in results:
        points.setdefault(min(first, second), []).append(won if second == count else 1.0 - won)
    return {member: fmean(won) for member, won in points.items()}


def _reason(member: int, comparisons: Sequence[Comparison]) -> str:
    """The most frequent reason why comparisons of a member failed."""
    reasons = Counter(one.failure or "invalid" for one in comparisons if member in (one.first, one.second))
    return reasons.most_common(1)[0][0] if reasons else ALONE


def first_win_probability(output: JudgeOutput) -> float | None:
    """P(the first candidate shown is better); None if the verdict names no winner."""
    return win_probability(preference(output.verdict), output.confidence)


def win_probability(winner: str | None, confidence: float | None) -> float | None:
    """P(A is better): the confidence in the winner, 1 without a confidence, 1/2 for a tie; None without a winner."""
    if winner is None:
        return None
    if winner == "tie":
        return 0.5
    probability = 1.0 if confidence is None else confidence
    return probability if winner == "A" else 1.0 - probability


def _in_orders(pair: Pair, orders: Orders) -> list[Pair]:
    first, second = pair
    if orders == 2:
        return [(first, second), (second, first)]
    # By the parity of the sum, which spreads the places: in a circle of even size everyone is shown first once.
    return [pair if (first + second) % 2 == 0 else (second, first)]


def _points(done: Sequence[Comparison], pair: Pair) -> float | None:
    """The mean points of the first of a pair over its orders."""
    known = [
        one.first_wins if one.first == pair[0] else 1.0 - one.first_wins for one in done if one.first_wins is not None
    ]
    return fmean(known) if known else None
