"""Labelled pairs of reasonings, with flaws by a teacher."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from data_builders.audit.shortcuts import SelectionAudit
from data_builders.dataset_type import RecordFile
from data_builders.generators import PAIRS_BY_TEACHER, register
from data_builders.generators.base import BuildPlan, RecordGroup
from data_builders.generators.pairs import Pairs
from data_builders.pair_dataset import OPINION_FILE
from data_builders.perturb.selection import Balance, Candidate, measure
from data_builders.perturb.teacher.generate import VariantStats, perturb_by_teacher
from data_builders.perturb.teacher.label_checks import certain
from data_builders.placement import set_name
from data_builders.prompts.pair_prompts import PairPrompts
from data_builders.second_opinion import NO_OPINION, NOT_CONFIRMED, Agreement, Opinion, verify
from data_builders.sources import Draft, completed
from data_builders.splits.index import SETS
from data_builders.teachers import Attempts, BatchPending, BudgetSpent, Teacher
from judge_r1.core.record_base import Record
from judge_r1.core.records import Case, ReasoningPair


def wanted_sets(plan: BuildPlan) -> list[str]:
    """The sets of a plan: the principles, and multi."""
    return [name for name in SETS if ("multi" if name == "multi" else "single") in plan.kinds]


@dataclass(frozen=True)
class _Asked:
    """An item and the sets of variants that a teacher is asked for."""

    item: Case | Draft
    sets: Sequence[str]


@dataclass(frozen=True)
class _TeacherGroup(RecordGroup):
    pairs: Sequence[ReasoningPair]
    opinions: Sequence[Opinion]
    dropped: Counter[str]
    stats: VariantStats
    left_over: Counter[str] = field(default_factory=Counter)
    candidates: Sequence[Candidate] = ()


@register
class PairsByTeacher(Pairs[Case | Draft | _Asked]):
    """Flaws by the first teacher. A second one judges the pairs blind, and those that it confirms stay.

    With `plan.candidates` it is asked for so many variants, and `plan.variants` of those that stay are chosen.

    With `plan.per_principle` it goes on over the cases, in waves: of each wave so many cases are asked for a set as
    could bring its missing pairs. So the pairs depend on the answers alone, however many calls run at a time.
    """

    name = PAIRS_BY_TEACHER
    needs_teacher = True
    trial = 2
    advice = f"{Pairs.advice}, or word the prompts yourself with prompts=DIR"

    def __init__(self, plan: BuildPlan, teachers: Sequence[Teacher] = ()) -> None:
        super().__init__(plan, teachers)
        self._teacher, self._verifier = teachers[0], teachers[1] if len(teachers) > 1 else None
        self._stats, self._agreement = VariantStats(), Agreement()
        self._completing = Attempts()
        self._dropped: Counter[str] = Counter()
        self._left_over: Counter[str] = Counter()
        self._selection = SelectionAudit()
        self._sets = wanted_sets(plan)
        self._missing = Counter(dict.fromkeys(self._sets, plan.per_principle)) if plan.per_principle else None
        self._deferred: Counter[str] = Counter()
        self._ended = "no case is left"
        self._prompts, self._balance = PairPrompts(plan.prompts), Balance() if plan.candidates else None

    @property
    def files(self) -> Sequence[RecordFile[Any]]:
        return [*super().files, *([OPINION_FILE] if self._verifier else [])]

    @property
    def attempts(self) -> Attempts:
        return self._stats if self._stats.answers else self._completing

    def items(self) -> Iterator[Case | Draft | _Asked]:
        return self.read(self.skipped, self._teacher)

    def missing(self, made: int, pending: int) -> int | None:
        return None if self._missing is None else max(self._cases_for(name) for name in self._sets)

    def _cases_for(self, name: str) -> int:
        """How many cases could bring the missing pairs of a set."""
        missing = self._missing[name] - self._deferred[name] if self._missing else 0
        return max(0, math.ceil(missing / self.plan.variants))

    def take(self, items: Iterator[Case | Draft | _Asked], missing: int | None) -> Iterator[Case | Draft | _Asked]:
        """A wave of cases. Its sets are fixed here, before any case of it is done."""
        taken = super().take(items, missing)
        if self._missing is None:
            return taken
        cases = {name: self._cases_for(name) for name in self._sets}
        return (
            _Asked(item, [name for name in self._sets if index < cases[name]])
            for index, item in enumerate(taken)
            if not isinstance(item, _Asked)
        )

    def ends_with(self, spent: BudgetSpent) -> bool:
        self._ended = str(spent).partition(":")[0]
        return self._missing is not None

    async def generate(self, item: Case | Draft | _Asked) -> _TeacherGroup | None:
        plan, stats = self.plan, VariantStats()
        item, sets = (item.item, item.sets) if isinstance(item, _Asked) else (item, self._sets)
        case = await completed(item, self._teacher, self.skipped, self._completing)
        if case is None:
            return None
        try:
            pairs = await perturb_by_teacher(
                case,
                self._teacher,
                kinds=plan.kinds,
                variants=plan.candidates or plan.variants,
                seed=plan.seed,
                stats=stats,
                prompts=self._prompts,
                among=sets,
            )
        except BatchPending:
            self._deferred.update(dict.fromkeys(sets, plan.variants))
            self._stats += stats  # what earlier batches came to, for `check_trial`
            raise
        if self._verifier is None:
            return _TeacherGroup([case, *pairs], pairs, [], Counter(), stats)
        opinions = await verify(case, pairs, self._verifier, self._prompts)
        dropped, kept = Counter[str](), list[Record]()
        for pair, opinion in zip(pairs, opinions, strict=True):
            # Rules speak where the verifier says nothing.
            if plan.keep == "all" or opinion.confirms(pair) or (opinion.unreadable and certain(case, pair)):
                kept += [pair, opinion]
            else:
                dropped[f"{set_name(pair)}: {NO_OPINION if opinion.unreadable else NOT_CONFIRMED}"] += 1
        return _TeacherGroup([case, *kept], pairs, opinions, dropped, stats)

    async def choose(self, group: _TeacherGroup) -> _TeacherGroup:
        if self._balance is not None:
            group = self._chosen(group, self._balance)
        return group if self._missing is None else self._within(group, self._missing)

    def _within(self, group: _TeacherGroup, missing: Counter[str]) -> _TeacherGroup:
        """The group without the pairs that its sets do not miss."""
        records, left_over = list[Record](), group.left_over.copy()
        made, kept = Counter[str](), set[str]()
        for one in group.records:
            if isinstance(one, ReasoningPair):
                name = set_name(one)
                if made[name] == missing[name]:
                    left_over[name] += 1
                    continue
                made[name] += 1
                kept.add(one.pair_id)
            elif isinstance(one, Opinion) and one.pair_id not in kept:
                continue
            records.append(one)
        return replace(group, records=records, left_over=left_over)

    def _chosen(self, group: _TeacherGroup, balance: Balance) -> _TeacherGroup:
        case, *others = group.records
        opinions = {one.pair_id: [one] for one in others if isinstance(one, Opinion)}
        records, left_over, candidates = [case], Counter[str](), list[Candidate]()
        # Apart for each set of principles, as `plan.variants` is a number for each. The pairs of a set are adjacent.
        pairs = (one for one in others if isinstance(one, ReasoningPair))
        sets = [(name, measure(list(found))) for name, found in groupby(pairs, set_name)]
        chosen_of = balance.choose([measured for _, measured in sets], self.plan.variants)
        for (name, measured), chosen in zip(sets, chosen_of, strict=True):
            left_over[name] = len(measured) - len(chosen)
            candidates += measured
            for pair in chosen:
                records += [pair, *opinions.get(pair.pair_id, [])]
        return replace(group, records=records, left_over=left_over, candidates=candidates)

    def add(self, group: _TeacherGroup) -> None:
        for pair, opinion in zip(group.pairs, group.opinions, strict=bool(group.opinions)):
            self._agreement.add(pair, opinion)
        self._stats += group.stats
        self._dropped.update(group.dropped)
        self._left_over.update(group.left_over)
        if self._balance is not None and isinstance(case := group.records[0], Case):
            chosen = [one for one in group.records if isinstance(one, ReasoningPair)]
            self._selection.add(case, group.candidates, chosen)
        if self._missing is not None:
            self._missing.subtract(set_name(one) for one in group.records if isinstance(one, ReasoningPair))
        self.abstained.update(group.stats.abstained + group.dropped)

    def settings(self) -> dict[str, Any]:
        plan, own = self.plan, self.plan.prompts
        chosen = {"candidates": plan.candidates} if self._balance else {}
        chosen |= {"per_principle": plan.per_principle} if plan.per_principle else {}
        return super().settings() | chosen | ({"prompts": own.absolute().name} if own else {})

    def details(self) -> dict[str, Any]:
        opinions, rejected = {}, self._completing.rejected
        if self._verifier:
            agreement, dropped = self._agreement.as_dict(), dict(sorted(self._dropped.items()))
            opinions = {"name": self._verifier.name, "keep": self.plan.keep, "agreement": agreement, "dropped": dropped}
        chosen: dict[str, Any] = {}
        if self._missing is not None:
            short = {name: count for name, count in self._missing.items() if count > 0}
            chosen["short"] = {"sets": short, "because": self._ended if short else ""}
        if self._balance is not None or self._missing is not None:
            chosen["left_over"] = dict(sorted(self._left_over.items()))
        if self._balance is not None:
            chosen["leaks"] = self._selection.as_dict(self.plan.seed)
        return {
            **super().details(),
            **({"completing": dict(sorted(rejected.items()))} if rejected else {}),
            "teacher": {"name": self._teacher.name, "prompts": self._prompts.digest, **self._stats.as_dict()},
            **({"verifier": opinions} if opinions else {}),
            **chosen,
        }
