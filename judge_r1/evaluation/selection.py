"""The items of an evaluation: a part of a benchmark, as `judge-r1 eval` names it."""

from dataclasses import dataclass, replace
from pathlib import Path

from judge_r1.benchmarks.base import BENCHMARKS, LoadedBenchmark
from judge_r1.core.errors import JudgeError


@dataclass(frozen=True)
class ItemSelection:
    """The first `limit` of the `items` (ids; empty for all) of a benchmark's subset."""

    benchmark: str
    path: Path
    subset: str | None = None
    items: tuple[str, ...] = ()
    limit: int | None = None

    def load(self) -> LoadedBenchmark:
        """Reads the benchmark. Raises: JudgeError for an item that it lacks, and what its reader raises."""
        loaded = BENCHMARKS.get(self.benchmark).load(self.path, self.subset)
        if not self.items:
            return loaded if self.limit is None else replace(loaded, items=loaded.items[: self.limit])
        chosen = [item for item in loaded.items if item.item_id in self.items]
        if missing := set(self.items) - {item.item_id for item in chosen}:
            raise JudgeError(f"{self.path} holds no item {min(missing)}")
        return replace(loaded, items=chosen[: self.limit])
