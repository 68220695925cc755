"""Chooses the pairs of test sets, and the order in which training sets take theirs.

A test set is a matching of groups of cases to sets. Sets are filled one pair at a time, and a group moves to another
set if that makes room (augmenting paths), which gives a max-min fair distribution. Sides and principles are balanced
afterwards.

`in_band` chooses pairs by the difficulty that a rating of judges gives them (RankJudge, section 3.3).
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

from data_builders.splits.index import SETS, PairEntry
from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import NUMBERS
from judge_r1.core.record_base import content_hash
from judge_r1.core.text_check import counted
from judge_r1.core.verdicts import Preference

K = TypeVar("K")
SIDES: tuple[Preference, Preference] = ("A", "B")
Cell = tuple[int, Preference]
Pools = Mapping[str, Mapping[Cell, Sequence[PairEntry]]]
"""The pairs of each group by set and side."""


def choose_test(pools: Pools, count: int, *, domain_index: int, seen: Counter[int]) -> list[PairEntry]:
    """Up to `count` pairs from different groups; earlier groups in `pools` are preferred.

    Set sizes differ by at most one if the groups allow it, and so do sides. Multi pairs are chosen to even out the
    principles, counted in `seen` over all domains. `domain_index` decides which sets and side get the odd pair.
    """
    by_set: dict[int, list[str]] = defaultdict(list)
    by_cell: dict[Cell, list[str]] = defaultdict(list)
    for group, cells in pools.items():
        for cell in cells:
            by_cell[cell].append(group)
            if group not in by_set[cell[0]][-1:]:
                by_set[cell[0]].append(group)
    sets = _assign_sets(by_set, count, domain_index)
    return _choose_pairs(pools, _assign_sides(pools, sets, by_cell, domain_index), seen)


def training_order(pairs: Iterable[PairEntry], seed: int) -> list[PairEntry]:
    """The pairs of one set in the order in which training sets take them: shuffled, one pair of every case before the
    second of any."""
    ranked = sorted(pairs, key=lambda pair: content_hash("train", pair.pair_id, seed))
    taken: Counter[str] = Counter()
    rounds = []
    for pair in ranked:
        rounds.append(taken[pair.case.case_id])
        taken[pair.case.case_id] += 1
    return [pair for _, pair in sorted(zip(rounds, ranked, strict=True), key=lambda item: item[0])]


def _assign_sets(by_set: Mapping[int, Sequence[str]], count: int, domain_index: int) -> dict[str, int]:
    """A set for each of up to `count` groups."""
    assigned: dict[str, int] = {}
    order = [(domain_index * (count % len(SETS)) + at) % len(SETS) for at in range(len(SETS))]
    open_sets = [at for at in order if at in by_set]
    while open_sets and len(assigned) < count:
        taken = Counter(assigned.values())
        lowest = min(open_sets, key=lambda at: (taken[at], order.index(at)))
        if not _augment(assigned, lowest, by_set.__getitem__):
            open_sets.remove(lowest)
    return assigned


def _assign_sides(
    pools: Pools, sets: Mapping[str, int], by_cell: Mapping[Cell, Sequence[str]], domain_index: int
) -> dict[str, Cell]:
    """A side for every group of a set, as balanced as possible."""
    assigned: dict[str, Cell] = {}
    taken: Counter[Cell | Preference] = Counter()

    def take(group: str, cell: Cell) -> None:
        assigned[group] = cell
        taken.update((cell, cell[1]))

    for group, at in sets.items():  # first those with only one side
        if len(sides := [side for side in SIDES if (at, side) in pools[group]]) == 1:
            take(group, (at, sides[0]))
    first = SIDES if domain_index % 2 == 0 else SIDES[::-1]
    for group, at in sets.items():
        if group not in assigned:
            take(group, (at, min(first, key=lambda side: (taken[side], taken[sets[group], side]))))
    for group in list(assigned):  # move groups off the fuller side, by moving others if needed
        fuller, other = sorted(SIDES, key=lambda side: -taken[side])
        if taken[fuller] - taken[other] < 2:
            break
        if assigned.get(group, (0, other))[1] == other:
            continue
        at, _ = assigned.pop(group)
        if _augment(assigned, (at, other), lambda cell: by_cell.get(cell, ())):
            taken.update({fuller: -1, other: 1})
        else:
            assigned[group] = (at, fuller)
    return assigned


def _choose_pairs(pools: Pools, cells: Mapping[str, Cell], seen: Counter[int]) -> list[PairEntry]:
    """A pair for each group from its set and side: the first, or for multi pairs the one that evens out principles."""
    chosen = [pools[group][cell][0] for group, cell in cells.items() if SETS[cell[0]] != "multi"]
    seen.update(number for pair in chosen for number in pair.violated)
    for group, cell in cells.items():
        if SETS[cell[0]] == "multi":
            best = min(pools[group][cell], key=lambda pair: _spread(seen + Counter(pair.violated)))
            seen.update(best.violated)
            chosen.append(best)
    return chosen


def _spread(counts: Mapping[int, int]) -> int:
    """The unevenness of the principles' counts: 36 times their variance."""
    return len(NUMBERS) * sum(counts.get(n, 0) ** 2 for n in NUMBERS) - sum(counts.values()) ** 2


def _augment(assigned: dict[str, K], key: K, groups_of: Callable[[K], Sequence[str]]) -> bool:
    """Assign one more group to `key`: a free one, or one whose key can take another. Other keys keep their number."""
    came_from: dict[str, str | None] = {}
    queue: deque[str | None] = deque([None])
    while queue:
        at = queue.popleft()
        for group in groups_of(key if at is None else assigned[at]):
            if group in came_from:
                continue
            came_from[group] = at
            if group in assigned:
                queue.append(group)
                continue
            step: str = group
            while (before := came_from[step]) is not None:
                assigned[step] = assigned[before]
                step = before
            assigned[step] = key
            return True
    return False


def in_band(
    rating: Path, pair_ids: Collection[str], band: tuple[float, float], count: int | None, seed: int
) -> dict[str, float]:
    """The Elo of `count` pairs of a band of difficulty, drawn uniformly, or of all of its pairs, the hardest first.

    The band is a share of the pairs with an Elo in `rating`, counted from the hardest: (0, .2) are the hardest 20 %.

    Raises:
        JudgeError: The band is empty or no part of 0 to 1, the rating is about other pairs, or holds too few.
    """
    from judge_r1.evaluation.rating.records import ITEMS, read_items  # imported late: it needs NumPy

    low, high = band
    if not 0 <= low < high <= 1:
        raise JudgeError(
            f"a band of difficulty is two shares such as 0,0.2, the smaller one first, not {low:g},{high:g}"
        )
    elo = {row.item: row.elo for row in read_items(rating) if row.elo is not None and row.item in pair_ids}
    if not elo:
        raise JudgeError(f"{rating / ITEMS} gives none of the pairs an Elo: rate judges on these pairs")
    ranked = sorted(elo, key=lambda pair_id: (-elo[pair_id], pair_id))
    inside = ranked[round(low * len(ranked)) : round(high * len(ranked))]
    if not inside or (count or 0) > len(inside):
        raise JudgeError(
            f"the band {low:g} to {high:g} of {counted(len(ranked), 'pair')} with an Elo holds {len(inside)}: take "
            "fewer, or rate judges on more pairs"
        )
    chosen = set(inside if count is None else Random(seed).sample(inside, count))
    return {pair_id: elo[pair_id] for pair_id in inside if pair_id in chosen}
