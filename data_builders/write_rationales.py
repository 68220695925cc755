"""Rationales by a teacher as records: one a line, written and resumed like any other data set."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_builders.build import build_concurrently
from data_builders.dataset_type import DatasetType, RecordCounts, RecordFile
from data_builders.generators.base import BuildPlan, Generator, RecordGroup
from data_builders.prompt_lengths import PromptLengths
from data_builders.rationales.store import StoredRationale
from data_builders.rationales.teacher import RationaleStats, Setting, write_rationale
from data_builders.rejection_report import why_nothing
from data_builders.teachers import Attempts, Teacher
from data_builders.teachers.budget import Spending
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.text_check import counted
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.training.recipe import Recipe

RATIONALES_FILE = "rationales.jsonl"


class RationaleDataset(DatasetType[StoredRationale]):
    """Whole episodes, one for each pair."""

    files = (RecordFile("rationale", RATIONALES_FILE, StoredRationale, "pair_id"),)
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
    rationale: StoredRationale


class RationaleGenerator(Generator[ReasoningPair]):
    """Rationales of the pairs, in an order that depends on the recipe's seed. A rejected pair gives no record."""

    name = "rationales"
    dataset = RationaleDataset()
    needs_teacher = True
    report_file = "rationales.json"
    items_in_progress = 4
    trial = 16

    def __init__(self, options: RationaleOptions, teacher: Teacher) -> None:
        super().__init__(BuildPlan(source=self.name, seed=options.recipe.seed), [teacher])
        self._options, self.stats = options, RationaleStats()
        data, episode = options.data, options.recipe.episode
        searcher = CaseSearcher(data.texts, episode)
        self._setting = Setting(data, episode, options.tokenizer, searcher, teacher, self.stats)

    @property
    def attempts(self) -> Attempts:
        return self.stats.attempts

    @property
    def wanted(self) -> int:
        return self._options.count

    def count(self) -> int:
        return min(self.wanted, len(self._options.data.pairs))

    def items(self) -> Iterator[ReasoningPair]:
        seed = self._options.recipe.seed
        return iter(sorted(self._options.data.pairs, key=lambda pair: content_hash("order", pair.pair_id, seed)))

    async def generate(self, item: ReasoningPair) -> _Rationale | None:
        trajectory = await write_rationale(item, self._setting)
        if trajectory is None:
            return None
        rationale = StoredRationale(pair_id=item.pair_id, teacher=self._setting.teacher.name, trajectory=trajectory)
        return _Rationale([rationale], item, rationale)

    def add(self, group: _Rationale) -> None:
        self.stats.add(group.pair, group.rationale.trajectory)

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

    def check_trial(self, items: int) -> None:
        if self.answers:
            raise JudgeError(self.why_empty(items))

    def why_empty(self, groups: int) -> str:
        rejected, tried = self.stats.rejected, f"{counted(self.stats.rejected.total(), 'pair')}"
        if not self.answers:
            return f"no rationale can be written of {tried}: {', '.join(f'{why} ({n})' for why, n in rejected.items())}"
        other = {why: count for why, count in rejected.items() if why not in self.attempts.rejected}
        return why_nothing(self._setting.teacher.name, tried, "rationale", self.attempts, other, self.advice)


def refuse_long_prompts(cases: Iterable[Case], recipe: Recipe, tokenizer: SafeTokenizer) -> None:
    """Checks, before a teacher is paid for pairs, that prompts about some of the cases fit the recipe. The reference
    stands for both reasonings.

    Raises: JudgeError if all prompts are too long.
    """
    measure, limit = PromptLengths(tokenizer, recipe.episode), recipe.episode.prompt_tokens
    lengths = []
    for case in cases:
        texts: dict[str, Any] = {"domain": case.domain, "reasoning_a": case.reference, "reasoning_b": case.reference}
        lengths.append(measure(ReasoningPair.model_construct(**texts), case))
    if lengths and min(lengths) > limit:
        raise JudgeError(
            f"rationales: prompts about these cases have {min(lengths):,} tokens and more, and {recipe.name} allows "
            f"{limit:,}: give a recipe with a larger episode.prompt_tokens"
        )


async def write_rationales(
    options: RationaleOptions, out: Path, teacher: Teacher, *, spending: Spending | None = None, concurrency: int = 8
) -> dict[str, Any]:
    """Write rationales.jsonl (at the end, or not at all), rationales.json (counts, returned) and timing.json.

    Raises: the teacher's errors; BatchPending if it has deferred requests; JudgeError if no pair has a rationale, or
    another process writes to `out`.
    """
    generator = RationaleGenerator(options, teacher)
    return await build_concurrently(generator, out, spending=spending, concurrency=concurrency)
