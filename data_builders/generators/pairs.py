"""Labelled pairs of reasonings, with flaws by rules."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from data_builders.generators import PAIRS, register
from data_builders.generators.base import RULES_VERSION, BuildPlan, Generator, RecordGroup
from data_builders.pair_dataset import PairDataset
from data_builders.perturb.rules.engine import Forms, perturb
from data_builders.placement import BalancedPlacement, set_name
from data_builders.second_opinion import Opinion
from data_builders.sources import SOURCES, Draft, items
from data_builders.sources.text_repair import TEXT_CHANGES
from data_builders.teachers import Teacher
from judge_r1.core.principles import NUMBERS
from judge_r1.core.record_base import Record
from judge_r1.core.records import Case, ReasoningPair

T = TypeVar("T")


class Pairs(Generator[T]):
    """What the builds of pairs share: their source, placement and report."""

    dataset = PairDataset()
    reads_corpus = True

    def __init__(self, plan: BuildPlan, teachers: Sequence[Teacher] = ()) -> None:
        super().__init__(plan, teachers)
        self._placement = BalancedPlacement() if SOURCES.get(plan.source).balanced else None
        self._swapped = set[str]()
        self._text_changes: Counter[str] = Counter()

    @classmethod
    def unused_keys(cls, plan: BuildPlan) -> set[str]:
        return set() if SOURCES.get(plan.source).reads_path else {"path"}

    def finalize(self, record: Record) -> Record:
        """Balance the placement of pairs. Opinions, which follow the pairs of their case, are swapped too."""
        if isinstance(record, Case):
            self._swapped.clear()
            self._text_changes.update(record.meta.get(TEXT_CHANGES, {}))
        if self._placement and isinstance(record, ReasoningPair):
            placed = self._placement.place(record)
            if placed.preferred != record.preferred:
                self._swapped.add(record.pair_id)
            return placed
        if isinstance(record, Opinion) and record.pair_id in self._swapped:
            return record.swapped()
        return record

    def settings(self) -> dict[str, Any]:
        plan = self.plan.recorded
        return {name: plan[name] for name in ("source", "path", "limit", "seed", "variants", "kinds")}

    def details(self) -> dict[str, Any]:
        return {TEXT_CHANGES: dict(sorted(self._text_changes.items()))} if self._text_changes else {}

    def read(self, skipped: Counter[str], teacher: Teacher | None) -> Iterator[Case | Draft]:
        """The first `limit` cases of the corpus."""
        plan = self.plan
        return items(SOURCES.get(plan.source), plan.path, plan.limit, plan.seed, skipped, teacher)


@dataclass(frozen=True)
class PairGroup(RecordGroup):
    """A case and its pairs, and the variants that were wanted but not made, by principle and reason."""

    records: Sequence[Case | ReasoningPair]
    abstained: Counter[str]


@register
class PairsByRules(Pairs[Case]):
    """Flaws by the rule operators of the corpus."""

    name = PAIRS

    def __init__(self, plan: BuildPlan, teachers: Sequence[Teacher] = ()) -> None:
        super().__init__(plan, teachers)
        self._rules = SOURCES.get(plan.source).operators
        self._cases, self._made = 0, Counter[str]()
        self._forms = Forms() if self._rules == "text" else None  # toy worlds have few words

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), **({"rules": RULES_VERSION} if self._placement else {})}

    def details(self) -> dict[str, Any]:
        """Adds how many variants were wanted and how many have a natural place, by principle."""
        wanted = {f"P{number}": self._cases * self.plan.variants for number in NUMBERS if "single" in self.plan.kinds}
        found = {name: {"wanted": count, "made": self._made[name]} for name, count in wanted.items()}
        return {**super().details(), **({"yield": found} if self._placement else {})}

    def items(self) -> Iterator[Case]:
        found = self.read(self.skipped, None)
        return (case for case in found if isinstance(case, Case))

    def generate(self, item: Case) -> PairGroup:
        plan, abstained = self.plan, Counter[str]()
        pairs = perturb(
            item,
            kinds=plan.kinds,
            variants=plan.variants,
            seed=plan.seed,
            rule_set=self._rules,
            abstained=abstained,
            forms=self._forms,
        )
        return PairGroup([item, *pairs], abstained)

    def add(self, group: PairGroup) -> None:
        self._cases += 1
        self._made.update(set_name(one) for one in group.records if isinstance(one, ReasoningPair))
        self.abstained.update(group.abstained)
