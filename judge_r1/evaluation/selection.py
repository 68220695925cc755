"""The items of an evaluation: a part of a benchmark, as `judge-r1 eval` names it."""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from judge_r1.benchmarks.base import BENCHMARKS, LoadedBenchmark
from judge_r1.core.errors import JudgeError


@dataclass(frozen=True)
class ItemSelection:
    """`limit` of the `items` (ids; empty for all) of a benchmark's subset, spread over its groups and systems."""

    benchmark: str
    path: Path
    subset: str | None = None
    items: tuple[str, ...] = ()
    limit: int | None = None

    def load(self) -> LoadedBenchmark:
        """Reads the benchmark. Raises: JudgeError for an item that it lacks, and what its reader raises."""
        loaded = BENCHMARKS.get(self.benchmark).load(self.path, self.subset)
        if self.items:
            chosen = [item for item in loaded.items if item.item_id in self.items]
            if missing := set(self.items) - {item.item_id for item in chosen}:
                raise JudgeError(f"{self.path} holds no item {min(missing)}")
            loaded = replace(loaded, items=chosen)
        if self.limit is None or self.limit >= len(loaded.items):
            return loaded
        kept = spread(((item.group, item.systems) for item in loaded.items), self.limit)
        return replace(loaded, items=[loaded.items[index] for index in kept])


def spread(strata: Iterable[Hashable], limit: int) -> list[int]:
    """The indices of `limit` elements, taken in turn from the strata, the first ones of each. In ascending order."""
    seen: Counter[Hashable] = Counter()
    turns = []
    for index, stratum in enumerate(strata):
        turns.append((seen[stratum], index))
        seen[stratum] += 1
    return sorted(index for _, index in sorted(turns)[:limit])
