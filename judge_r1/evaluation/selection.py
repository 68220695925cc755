"""The items of an evaluation: a part of a benchmark, as `judge-r1 eval` names it."""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from judge_r1.benchmarks.base import BENCHMARKS, LoadedBenchmark, files_of


@dataclass(frozen=True)
class ItemSelection:
    """`limit` items of a benchmark's subset, spread over its groups and systems; None for all."""

    benchmark: str
    path: Path | None
    subset: str | None = None
    limit: int | None = None

    def load(self) -> LoadedBenchmark:
        """Reads the benchmark. Raises: what its reader raises."""
        loaded = BENCHMARKS.get(self.benchmark).load(files_of(self.benchmark, self.path), self.subset)
        if self.limit is None or self.limit >= len(loaded.items):
            return loaded
        kept = spread(loaded.strata or ((item.group, item.systems) for item in loaded.items), self.limit)
        return replace(loaded, items=[loaded.items[index] for index in kept], strata=())


def spread(strata: Iterable[Hashable], limit: int) -> list[int]:
    """The indices of `limit` elements, taken in turn from the strata, the first ones of each. In ascending order."""
    seen: Counter[Hashable] = Counter()
    turns = []
    for index, stratum in enumerate(strata):
        turns.append((seen[stratum], index))
        seen[stratum] += 1
    return sorted(index for _, index in sorted(turns)[:limit])
