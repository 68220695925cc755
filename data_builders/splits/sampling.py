"""Which pairs a test set takes, and in which order training sets take theirs.

A test set takes one pair of each of so many groups of cases: a matching of groups to sets. Sets are filled in turn, and
a group moves to another set where that makes room (augmenting paths), so that no set could hold more without one that
holds less losing its own. Sides and principles are balanced afterwards, within what each group has.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from data_builders.splits.index import SETS, PairEntry
from judge_r1.core.principles import NUMBERS
from judge_r1.core.records import Preference, content_hash

K = TypeVar("K")
SIDES: tuple[Preference, Preference] = ("A", "B")
Cell = tuple[int, Preference]
Pools = Mapping[str, Mapping[Cell, Sequence[PairEntry]]]
"""The pairs of each group by set and side."""


def choose_test(pools: Pools, count: int, *, turn: int, seen: Counter[int]) -> list[PairEntry]:
    """Up to `count` pairs, each of another group; groups that come first in `pools` are preferred.

    Sets differ by one at most where the groups allow it, sides too; multi pairs are picked so that principles are
    even, with what other domains took (`seen`, which grows). `turn` (the number of the domain) decides which sets and
    side get the odd pair.
    """
    by_set: dict[int, list[str]] = defaultdict(list)
    by_cell: dict[Cell, list[str]] = defaultdict(list)
    for group, cells in pools.items():
        for cell in cells:
            by_cell[cell].append(group)
            if group not in by_set[cell[0]][-1:]:
                by_set[cell[0]].append(group)
    sets = _filled(by_set, count, turn)
    return _picked(pools, _sided(pools, sets, by_cell, turn), seen)


def training_order(pairs: Iterable[PairEntry], seed: int) -> list[PairEntry]:
    """The pairs of one set in the order in which training sets take them: by chance, and every case gives one pair
    before any gives a second."""
    ranked = sorted(pairs, key=lambda pair: content_hash("train", pair.pair_id, seed))
    taken: Counter[str] = Counter()
    rounds = []
    for pair in ranked:
        rounds.append(taken[pair.case.case_id])
        taken[pair.case.case_id] += 1
    return [pair for _, pair in sorted(zip(rounds, ranked, strict=True), key=lambda item: item[0])]


def _filled(by_set: Mapping[int, Sequence[str]], count: int, turn: int) -> dict[str, int]:
    """A set for each of up to `count` groups."""
    owner: dict[str, int] = {}
    order = [(turn * (count % len(SETS)) + at) % len(SETS) for at in range(len(SETS))]
    open_sets = [at for at in order if at in by_set]
    while open_sets and len(owner) < count:
        taken = Counter(owner.values())
        lowest = min(open_sets, key=lambda at: (taken[at], order.index(at)))
        if not _augment(owner, lowest, by_set.__getitem__):
            open_sets.remove(lowest)
    return owner


def _sided(pools: Pools, sets: Mapping[str, int], by_cell: Mapping[Cell, Sequence[str]], turn: int) -> dict[str, Cell]:
    """A side for every group of a set, as many of each as can be."""
    owner: dict[str, Cell] = {}
    taken: Counter[Cell | Preference] = Counter()

    def take(group: str, cell: Cell) -> None:
        owner[group] = cell
        taken.update((cell, cell[1]))

    for group, at in sets.items():  # those without a choice first
        if len(sides := [side for side in SIDES if (at, side) in pools[group]]) == 1:
            take(group, (at, sides[0]))
    first = SIDES if turn % 2 == 0 else SIDES[::-1]
    for group, at in sets.items():
        if group not in owner:
            take(group, (at, min(first, key=lambda side: (taken[side], taken[sets[group], side]))))
    for group in list(owner):  # none that could change its side is left on the fuller one: make room by moving others
        fuller, other = sorted(SIDES, key=lambda side: -taken[side])
        if taken[fuller] - taken[other] < 2:
            break
        if owner.get(group, (0, other))[1] == other:
            continue
        at, _ = owner.pop(group)
        if _augment(owner, (at, other), lambda cell: by_cell.get(cell, ())):
            taken.update({fuller: -1, other: 1})
        else:
            owner[group] = (at, fuller)
    return owner


def _picked(pools: Pools, cells: Mapping[str, Cell], seen: Counter[int]) -> list[PairEntry]:
    """A pair for each group from its set and side: the first, or for multi pairs one that evens the principles out."""
    chosen = [pools[group][cell][0] for group, cell in cells.items() if SETS[cell[0]] != "multi"]
    seen.update(number for pair in chosen for number in pair.violated)
    for group, cell in cells.items():
        if SETS[cell[0]] == "multi":
            best = min(pools[group][cell], key=lambda pair: _spread(seen + Counter(pair.violated)))
            seen.update(best.violated)
            chosen.append(best)
    return chosen


def _spread(counts: Mapping[int, int]) -> int:
    """How uneven the principles' counts are: six squared times their variance."""
    return len(NUMBERS) * sum(counts.get(n, 0) ** 2 for n in NUMBERS) - sum(counts.values()) ** 2


def _augment(owner: dict[str, K], key: K, groups_of: Callable[[K], Sequence[str]]) -> bool:
    """Give `key` one more group: a free one, or one whose owner takes another in its turn. The others keep as many."""
    came_from: dict[str, str | None] = {}
    queue: deque[str | None] = deque([None])
    while queue:
        at = queue.popleft()
        for group in groups_of(key if at is None else owner[at]):
            if group in came_from:
                continue
            came_from[group] = at
            if group in owner:
                queue.append(group)
                continue
            step: str = group
            while (before := came_from[step]) is not None:
                owner[step] = owner[before]
                step = before
            owner[step] = key
            return True
    return False
