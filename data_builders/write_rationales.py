"""Rationales by a teacher as records: one trace a line, written and resumed like any other data set."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_builders.build import build_concurrently
from data_builders.dataset_type import DatasetType, RecordCounts, RecordFile
from data_builders.generators.base import BuildPlan, Generator, RecordGroup
from data_builders.rationales.store import StoredTrace
from data_builders.rationales.teacher import RationaleStats, Setting, write_rationale
from data_builders.teachers import Teacher
from data_builders.teachers.budget import Spending
from judge_r1.core.pair_set import PairSet
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import ReasoningPair
from judge_r1.episode.case_index import new_retriever
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.training.recipe import Recipe

TRACES_FILE = "traces.jsonl"


class RationaleDataset(DatasetType[StoredTrace]):
    """Traces of episodes, one for each pair."""

    files = (RecordFile("rationale", TRACES_FILE, StoredTrace, "pair_id"),)
    main = files[0]
    title = "Rationales for judges"


@dataclass(frozen=True)
class RationaleOptions:
    """The pairs, the recipe, its tokenizer, and the number of rationales to write."""

    data: PairSet
    recipe: Recipe
    tokenizer: SafeTokenizer
    count: int


@dataclass(frozen=True)
class _Rationale(RecordGroup):
    pair: ReasoningPair
    trace: StoredTrace


class RationaleGenerator(Generator[ReasoningPair]):
    """Rationales of the pairs, in an order that depends on the recipe's seed. A rejected pair gives no record."""

    name = "rationales"
    dataset = RationaleDataset()
    needs_teacher = True
    report_file = "rationales.json"
    items_in_progress = 4

    def __init__(self, options: RationaleOptions, teacher: Teacher) -> None:
        super().__init__(BuildPlan(self.name, seed=options.recipe.seed), [teacher])
        self._options, self.stats = options, RationaleStats()
        data, episode = options.data, options.recipe.episode
        retriever = new_retriever(data.texts, episode)
        self._setting = Setting(data, episode, options.tokenizer, retriever, teacher, self.stats)

    @property
    def answers(self) -> int:
        return self.stats.answers

    @property
    def wanted(self) -> int:
        return self._options.count

    def count(self) -> int:
        return min(self.wanted, len(self._options.data.pairs))

    def items(self) -> Iterator[ReasoningPair]:
        seed = self._options.recipe.seed
        return iter(sorted(self._options.data.pairs, key=lambda pair: content_hash("order", pair.pair_id, seed)))

    def take(self, items: Iterator[ReasoningPair], missing: int | None) -> Iterator[ReasoningPair]:
        # zip drops one pair after each round; published rationale files depend on that choice of pairs
        return iter([pair for pair, _ in zip(items, range(missing or 0), strict=False)])

    async def generate(self, item: ReasoningPair) -> _Rationale | None:
        trajectory = await write_rationale(item, self._setting)
        if trajectory is None:
            return None
        trace = StoredTrace(pair_id=item.pair_id, teacher=self._setting.teacher.name, trajectory=trajectory)
        return _Rationale([trace], item, trace)

    def add(self, group: _Rationale) -> None:
        self.stats.add(group.pair, group.trace.trajectory)

    def report(self, counts: Sequence[RecordCounts]) -> dict[str, Any]:
        options, episode = self._options, self._options.recipe.episode
        return {
            "teacher": self._setting.teacher.name,
            "seed": options.recipe.seed,
            "wanted": options.count,
            "pairs": len(options.data.pairs),
            "search": bool(episode.effective_budget.max_searches),
            "context": episode.context,
            **self.stats.as_dict(),
        }

    def why_empty(self, groups: int) -> str:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in sorted(self.stats.rejected.items()))
        pairs = len(self._options.data.pairs)
        return f"{self._setting.teacher.name} gave no rationale for any of {pairs} pairs ({reasons})"


async def write_rationales(
    options: RationaleOptions, out: Path, teacher: Teacher, *, spending: Spending | None = None, concurrency: int = 8
) -> dict[str, Any]:
    """Write traces.jsonl (at the end, or not at all), rationales.json (counts, returned) and timing.json.

    Raises: the teacher's errors; BatchPending if it has deferred requests; JudgeError if no pair has a rationale, or
    another process writes to `out`.
    """
    generator = RationaleGenerator(options, teacher)
    return await build_concurrently(generator, out, spending=spending, concurrency=concurrency)
