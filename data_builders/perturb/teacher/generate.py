"""Creates flawed variants of a case with a teacher: one call per principle, and one for multi variants.

Only rejected variants are requested again, with the reasons, for up to `MAX_ROUNDS` rounds, and none for which the
teacher finds no natural place or declines. The calls of a round run concurrently and are evaluated in a fixed order, so
the pairs depend on case, seed and answers only.
"""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from data_builders.perturb.teacher.answer_parser import (
    FINAL,
    NO_PLACE,
    Kind,
    Rejection,
    parse_answer,
    unrequested_variants,
)
from data_builders.perturb.teacher.label_checks import checks_by_rules
from data_builders.perturb.teacher.variant_checks import Accepted, check_variant, find_conflict
from data_builders.perturb.teacher.variant_form import VariantForm
from data_builders.prompts import shared_beginning
from data_builders.prompts.pair_prompts import OWN_PROMPTS, PairPrompts
from data_builders.splits.index import SETS
from data_builders.teachers import REFUSED, Attempts, Teacher, TeacherReply, TeacherRequest, ask_all
from data_builders.text_units.steps import Step, split_steps
from judge_r1.core.principles import NUMBERS, by_number
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, Origin, ReasoningPair

MAX_ROUNDS = 3
"""Requests per variant: one, and two more with the reasons of the rejections."""
NOT_ACCEPTED = f"not accepted in {MAX_ROUNDS} rounds"

_BYTES_PER_TOKEN, _THINKING_TOKENS = 2.5, 4000
"""The tokens for thoughts before the variants. After a truncated answer a set gets twice as many."""


@dataclass
class VariantStats(Attempts):
    """Counts of requested variants by set (`P1` … `P6`, `multi`) and reason. Stats can be added."""

    input_tokens: int = 0
    output_tokens: int = 0
    wanted: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    accepted_in_round: Counter[int] = field(default_factory=Counter)
    abstained: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    """How rules could check the labels of accepted variants, by principle."""
    notes: Counter[str] = field(default_factory=Counter)

    def __iadd__(self, other: "VariantStats") -> "VariantStats":
        for name, value in vars(other).items():
            mine = getattr(self, name)
            setattr(self, name, mine or value if name == "rejected_answer" else mine + value)
        return self

    def as_dict(self) -> dict[str, Any]:
        """Return the entry of build.json."""
        return {
            "rounds": MAX_ROUNDS,
            **{name: getattr(self, name) for name in ("answers", "input_tokens", "output_tokens")},
            **{
                name: {str(key): n for key, n in sorted(getattr(self, name).items())}
                for name in ("wanted", "accepted", "accepted_in_round", "rejected", "labels")
            },
            "notes": {note: n for note, n in sorted(self.notes.items()) if n},
        }

    def add_usage(self, reply: TeacherReply) -> None:
        self.answers += 1
        self.input_tokens += reply.input_tokens
        self.output_tokens += reply.output_tokens


async def perturb_by_teacher(
    case: Case,
    teacher: Teacher,
    *,
    kinds: Sequence[str],
    variants: int,
    seed: int,
    stats: VariantStats,
    prompts: PairPrompts = OWN_PROMPTS,
    among: Collection[str] = SETS,
) -> list[ReasoningPair]:
    """Return up to `variants` single pairs per principle and up to `variants` multi pairs, ordered as by the rules, of
    the sets `among` them.

    Raises:
        TeacherError: any error of `teacher.ask`, except for a refused request, which is counted.
    """
    steps = split_steps(case.reference)
    principles = [*(NUMBERS if "single" in kinds else ()), *((None,) if "multi" in kinds else ())]
    wanted = [principle for principle in principles if _name(principle) in among]
    sets = [_VariantSet(case, steps, principle, variants, stats, prompts) for principle in wanted]
    texts: dict[str, str] = {}
    for round_index in range(MAX_ROUNDS):
        incomplete = [one for one in sets if one.missing]
        requests = [one.request(round_index) for one in incomplete]
        replies = await ask_all(teacher, requests)
        for one, request, reply in zip(incomplete, requests, replies, strict=True):
            if reply is None:
                one.abandon(REFUSED)
            else:
                one.add_reply(request, reply, round_index, texts)
    for one in sets:
        one.abandon(NOT_ACCEPTED)
    return [pair for one in sets for pair in one.pairs(teacher.name, seed)]


def _name(principle: int | None) -> str:
    return by_number(principle).code if principle else "multi"


class _VariantSet:
    """The variants of one case for one principle, or the multi variants if `principle` is None."""

    def __init__(
        self,
        case: Case,
        steps: list[Step],
        principle: int | None,
        variants: int,
        stats: VariantStats,
        prompts: PairPrompts,
    ) -> None:
        self.prompts = prompts
        self.case, self.steps, self.principle, self.stats = case, steps, principle, stats
        self.kind: Kind = "single" if principle else "multi"
        self.name = _name(principle)
        self.accepted: dict[int, tuple[Accepted, str]] = {}
        self.rejected: dict[int, str] = {}
        self.truncated = 0
        count = min(variants, len(steps) if principle else _combinations(len(steps)))
        self.missing = list(range(1, count + 1))
        stats.wanted[self.name] += variants
        if count < variants:
            stats.abstained[f"{self.name}: the reference has too few steps"] += variants - count

    def request(self, round_index: int) -> TeacherRequest:
        """Return the request for the missing variants. `sample` keeps equal prompts of two rounds apart."""
        earlier = self.prompts.again({k: self.rejected[k] for k in self.missing}, self._used()) if round_index else ""
        if self.principle:
            system, user = self.prompts.single(self.case, self.principle, self.missing, earlier)
        else:
            system, user = self.prompts.multi(self.case, self.missing, earlier)
        length = math.ceil(len(self.case.reference.encode()) / _BYTES_PER_TOKEN)
        max_tokens = length * len(self.missing) + _THINKING_TOKENS * 2**self.truncated
        others = [accepted for accepted, _ in self.accepted.values()]
        used = [other.steps[0] if self.principle else other.combination for other in others]
        form = VariantForm(self.case.reference, self.steps, self.missing, self.principle, used)
        texts = {"system": system, "user": user, "prefix": shared_beginning(user, "reasoning")}
        return TeacherRequest(**texts, max_tokens=max_tokens, sample=round_index, form=form)

    def add_reply(self, request: TeacherRequest, reply: TeacherReply, round_index: int, texts: dict[str, str]) -> None:
        """Accept the valid variants of a reply and record the reasons against the others."""
        self.stats.add_usage(reply)
        variants, rejections = parse_answer(
            reply.answer, self.missing, self.kind, finished=reply.finished, reference=self.case.reference
        )
        self.truncated += not reply.finished
        self.stats.notes["variants that were not requested"] += len(unrequested_variants(reply.answer, self.missing))
        prompt_hash = content_hash(request.system, request.user)
        for variant in variants:
            principles = (self.principle,) if self.principle else variant.principles
            result = check_variant(self.case, self.steps, variant, self.kind, principles)
            if isinstance(result, Accepted):
                others = [accepted for accepted, _ in self.accepted.values()]
                result = find_conflict(result, others, self.kind, texts) or result
            if isinstance(result, Rejection):
                rejections.append(result)
                continue
            self.accepted[result.number] = (result, prompt_hash)
            texts[result.flawed] = f"variant {result.number} for {self.name}"
            self.stats.accepted_in_round[round_index + 1] += 1
        again = [rejection for rejection in rejections if rejection.reason not in FINAL]
        if len(rejections) < len(self.missing):
            self.stats.used += 1
        elif self.stats.rejected_answer is None and any(one.reason != NO_PLACE for one in rejections):
            self.stats.rejected_answer = self.name, reply.answer  # no place for a flaw is an answer, and no fault
        for rejection in rejections:
            if rejection.reason in FINAL:
                self.stats.abstained[f"{self.name}: {rejection.reason}"] += 1
        self.missing = sorted(rejection.number for rejection in again)
        for rejection in again:
            self.rejected[rejection.number] = rejection.detail
            self.stats.rejected[f"{self.name}: {rejection.reason}"] += 1

    def abandon(self, reason: str) -> None:
        """Count the missing variants under a reason and request them no more."""
        if self.missing:
            self.stats.abstained[f"{self.name}: {reason}"] += len(self.missing)
            self.missing = []

    def pairs(self, teacher: str, seed: int) -> list[ReasoningPair]:
        """Return the accepted variants as pairs, in the order of their numbers."""
        pairs = []
        for number, (accepted, prompt_hash) in sorted(self.accepted.items()):
            origin = Origin(teacher=teacher, seed=seed, prompt_hash=prompt_hash, flaws=accepted.flaws)
            pairs.append(ReasoningPair.of(self.case, accepted.flawed, variant=number, origin=origin, seed=seed))
            self.stats.accepted[self.name] += 1
            self.stats.labels.update(checks_by_rules(self.case, pairs[-1]))
        return pairs

    def _used(self) -> list[str]:
        """Describe what accepted variants use up: their steps, and the combinations of multi variants."""
        lines = []
        for accepted, _ in self.accepted.values():
            begins = ", ".join(f'"{_beginning(self.steps[index])}"' for index in accepted.steps)
            combination = f"principles {list(accepted.combination)} in " if self.kind == "multi" else ""
            lines.append(f"{combination}the step that begins {begins}")
        return lines


def _combinations(steps: int) -> int:
    """Return the number of sets of two to six steps."""
    return sum(math.comb(steps, size) for size in NUMBERS if size >= 2)


def _beginning(step: Step) -> str:
    return " ".join(step.text.split()[:8])
