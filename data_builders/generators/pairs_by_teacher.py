"""Labelled pairs of reasonings, with flaws by a teacher."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from data_builders.dataset_type import RecordFile
from data_builders.generators import PAIRS_BY_TEACHER, register
from data_builders.generators.base import BuildPlan, RecordGroup
from data_builders.generators.pairs import Pairs
from data_builders.pair_dataset import OPINION_FILE
from data_builders.perturb.teacher.generate import REFUSED, VariantStats, perturb_by_teacher
from data_builders.perturb.teacher.rejection_report import why_nothing
from data_builders.second_opinion import Agreement, Opinion, verify
from data_builders.sources import Draft, completed
from data_builders.teachers import Teacher
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Case, ReasoningPair


@dataclass(frozen=True)
class _TeacherGroup(RecordGroup):
    pairs: Sequence[ReasoningPair]
    opinions: Sequence[Opinion]
    stats: VariantStats


@register
class PairsByTeacher(Pairs[Case | Draft]):
    """Flaws by the first teacher; the second one, if there is one, gives blind opinions on the pairs."""

    name = PAIRS_BY_TEACHER
    needs_teacher = True
    trial = 2

    def __init__(self, plan: BuildPlan, teachers: Sequence[Teacher] = ()) -> None:
        super().__init__(plan, teachers)
        self._teacher, self._verifier = teachers[0], teachers[1] if len(teachers) > 1 else None
        self._stats, self._agreement = VariantStats(), Agreement()
        self._rejected: Counter[str] = Counter()
        self._cases = self._pairs = 0

    @property
    def files(self) -> Sequence[RecordFile[Any]]:
        return [*super().files, *([OPINION_FILE] if self._verifier else [])]

    @property
    def answers(self) -> int:
        return self._stats.answers

    def items(self) -> Iterator[Case | Draft]:
        return self.read(self.plan.limit, self.plan.cases_per_domain, self.skipped, self._teacher)

    async def generate(self, item: Case | Draft) -> _TeacherGroup | None:
        plan, stats = self.plan, VariantStats()
        whole = await completed(item, self._teacher, self.skipped, self._rejected)
        case = whole and self.shortened(whole, self.skipped)
        if case is None:
            return None
        pairs = await perturb_by_teacher(
            case, self._teacher, kinds=plan.kinds, variants=plan.variants, seed=plan.seed, stats=stats
        )
        opinions = await verify(case, pairs, self._verifier) if self._verifier else []
        return _TeacherGroup([case, *pairs, *opinions], pairs, opinions, stats)

    def add(self, group: _TeacherGroup) -> None:
        self._cases, self._pairs = self._cases + 1, self._pairs + len(group.pairs)
        for pair, opinion in zip(group.pairs, group.opinions, strict=bool(group.opinions)):
            self._agreement.add(pair, opinion)
        self._stats += group.stats
        self.abstained.update(group.stats.abstained)

    def check_trial(self) -> None:
        if self.plan.early_stop and self._asked and not self._pairs:
            raise JudgeError(self.why_empty(self._cases))

    def why_empty(self, groups: int) -> str:
        if not self._asked:
            return super().why_empty(groups)
        return why_nothing(self._teacher.name, groups, self._stats, self.abstained)

    @property
    def _asked(self) -> bool:
        """Whether any request for variants was answered or refused."""
        return bool(self._stats.answers) or any(reason.endswith(REFUSED) for reason in self.abstained)

    def details(self) -> dict[str, Any]:
        verifier = self._verifier
        agreement = {"verifier": {"name": verifier.name, "agreement": self._agreement.as_dict()}} if verifier else {}
        return {
            **super().details(),
            **({"completing": dict(sorted(self._rejected.items()))} if self._rejected else {}),
            "teacher": {"name": self._teacher.name, **self._stats.as_dict()},
            **agreement,
        }
