"""Which members of a group are compared: a schedule yields rounds of pairs and receives their results.

| schedule | comparisons of n members | rounds |
|---|---|---|
| `all_pairs` | n(n - 1)/2 | 1 |
| `circular` | n: each with its neighbour | 1 |
| `anchor` | n with a reference; without one n - 1, each with the best so far | 1; about log2 n |
| `swiss` | about n/2 in each round: members with similar results meet | log2 n |
"""

import math
from collections.abc import Generator, Sequence
from itertools import combinations
from typing import Literal, get_args

Schedule = Literal["all_pairs", "circular", "anchor", "swiss"]
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)
Pair = tuple[int, int]
Points = float | None
"""P(the first of a pair is better); None if the judgment failed."""
Rounds = Generator[list[Pair], Sequence[Points], None]


def rounds(schedule: Schedule, count: int, reference: bool) -> Rounds:
    """The rounds of a group of `count` members, numbered from 0. The reference has the number `count`.

    Raises:
        ValueError: The schedule is unknown, or has no use for a reference.
    """
    if schedule not in SCHEDULES:
        raise ValueError(f"there is no schedule {schedule!r}: choose one of {', '.join(SCHEDULES)}")
    if reference and schedule != "anchor":
        raise ValueError(f"the schedule {schedule} compares rollouts with each other: use anchor with a reference")
    if reference:
        return _fixed([(member, count) for member in range(count)])
    if schedule == "all_pairs":
        return _fixed(list(combinations(range(count), 2)))
    if schedule == "circular":
        return _fixed([(member, (member + 1) % count) for member in range(count if count > 2 else count - 1)])
    return _best_so_far(count) if schedule == "anchor" else _swiss(count)


def _fixed(pairs: list[Pair]) -> Rounds:
    if pairs:
        yield pairs


def _best_so_far(count: int) -> Rounds:
    """The best meets 1 challenger, then 2, 4, … at once: with one at a time, a group would take n - 1 rounds."""
    best, start, size = 0, 1, 1
    while start < count:
        challengers = range(start, min(count, start + size))
        points = yield [(challenger, best) for challenger in challengers]
        # Negated, so that of equal results the earliest challenger wins.
        highest, challenger = max(
            (0.5 if won is None else won, -challenger) for won, challenger in zip(points, challengers, strict=True)
        )
        if highest > 0.5:
            best = -challenger
        start, size = start + size, 2 * size


def _swiss(count: int) -> Rounds:
    """Pairs members with similar points that have not met. One that is left over gets the points of a tie."""
    points, met = [0.0] * count, set[Pair]()
    for _ in range(math.ceil(math.log2(count)) if count > 1 else 0):
        waiting, pairs = sorted(range(count), key=lambda member: -points[member]), list[Pair]()
        while waiting:
            member = waiting.pop(0)
            new = [other for other in waiting if (min(member, other), max(member, other)) not in met]
            if new:
                waiting.remove(new[0])
                pairs.append((member, new[0]))
                met.add((min(pairs[-1]), max(pairs[-1])))
            else:
                points[member] += 0.5
        if not pairs:
            return
        for (first, second), won in zip(pairs, (yield pairs), strict=True):
            # A failed comparison places both as a tie would. It gives no score (`judge_group`).
            share = 0.5 if won is None else won
            points[first] += share
            points[second] += 1.0 - share


def comparisons(schedule: Schedule, count: int, reference: bool) -> int:
    """The number of pairs of a group, at most."""
    if schedule == "all_pairs":
        return count * (count - 1) // 2
    if schedule == "swiss":
        return count // 2 * math.ceil(math.log2(count)) if count > 1 else 0
    if schedule == "anchor":
        return count if reference else count - 1
    return count if count > 2 else count - 1
