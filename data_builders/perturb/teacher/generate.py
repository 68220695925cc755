"""Flawed variants of a case by a teacher: one call for the variants of a principle, one for those of several.

What comes back is read strictly (`answers`) and believed in nothing (`distrust`). Rejected variants alone are asked for
again, with the reasons, until none is missing or `ROUNDS` are over; what is missing then is counted. The calls of a
round go out together and are judged in a fixed order: the pairs depend on the case, the seed and the answers only.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from data_builders.perturb.rules.operators import Step
from data_builders.perturb.rules.steps import split_steps
from data_builders.perturb.teacher.answer_parser import Kind, Rejection, read_answer, unasked
from data_builders.perturb.teacher.variant_checks import Accepted, clash, examine
from data_builders.prompts import again, multi_prompt, prompts_hash, single_prompt
from data_builders.teachers import BatchPending, Teacher, TeacherRefused, TeacherReply, TeacherRequest
from judge_r1.core.principles import NUMBERS, by_number
from judge_r1.core.records import Case, Origin, ReasoningPair, content_hash

ROUNDS = 3
"""How often a variant is asked for: once, and twice with the reason why it was rejected."""

_BYTES_PER_TOKEN, _THOUGHTS = 2.5, 2000


@dataclass
class VariantStats:
    """What happened to the variants asked for, by set (`P1` … `P6`, `multi`) and reason: sums, which add up."""

    answers: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    wanted: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    accepted_in_round: Counter[int] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    abstained: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)

    def __iadd__(self, other: "VariantStats") -> "VariantStats":
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self

    def as_dict(self) -> dict[str, Any]:
        """For build.json; with the prompts' hash, for answers depend on them."""
        return {
            "prompts": prompts_hash(),
            "rounds": ROUNDS,
            "answers": self.answers,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "wanted": dict(sorted(self.wanted.items())),
            "accepted": dict(sorted(self.accepted.items())),
            "accepted_in_round": {str(number): n for number, n in sorted(self.accepted_in_round.items())},
            "rejected": dict(sorted(self.rejected.items())),
            "notes": {note: n for note, n in sorted(self.notes.items()) if n},
        }

    def used(self, answer: TeacherReply) -> None:
        self.answers += 1
        self.input_tokens += answer.input_tokens
        self.output_tokens += answer.output_tokens


async def perturb_by_teacher(
    case: Case, teacher: Teacher, *, kinds: Sequence[str], variants: int, seed: int, tally: VariantStats
) -> list[ReasoningPair]:
    """Up to `variants` single pairs for each principle and as many multi pairs, in the order of the rules' engine.

    Errors: those of `teacher.ask`, but for an ask that it refuses, which is counted.
    """
    steps = split_steps(case.reference)
    names = [*(NUMBERS if "single" in kinds else ()), *((None,) if "multi" in kinds else ())]
    sets = [_Set(case, steps, number, variants, tally) for number in names]
    texts: dict[str, str] = {}
    for turn in range(ROUNDS):
        open_sets = [one for one in sets if one.missing]
        asks = [one.ask(turn) for one in open_sets]
        answers = await asyncio.gather(*map(teacher.ask, asks), return_exceptions=True)
        if fatal := _worst(answers):
            raise fatal
        for one, ask, answer in zip(open_sets, asks, answers, strict=True):
            if isinstance(answer, TeacherReply):
                one.take(ask, answer, turn, texts)
            else:
                one.give_up("the teacher refuses the ask")
    for one in sets:
        one.give_up(f"not had in {ROUNDS} rounds")
    return [pair for one in sets for pair in one.pairs(teacher.name, seed)]


def _worst(answers: Sequence[TeacherReply | BaseException]) -> BaseException | None:
    """The first error that is more than a refused ask; what ends a build goes before what only postpones a case."""
    errors = [a for a in answers if isinstance(a, BaseException) and not isinstance(a, TeacherRefused)]
    return min(errors, key=lambda error: isinstance(error, BatchPending), default=None)


class _Set:
    """The variants of one principle, or of several (`principle` is None), of one case."""

    def __init__(
        self, case: Case, steps: list[Step], principle: int | None, variants: int, tally: VariantStats
    ) -> None:
        self.case, self.steps, self.principle, self.tally = case, steps, principle, tally
        self.kind: Kind = "single" if principle else "multi"
        self.name = by_number(principle).code if principle else "multi"
        self.accepted: dict[int, tuple[Accepted, str]] = {}
        self.rejected: dict[int, str] = {}
        count = min(variants, len(steps) if principle else _combinations(len(steps)))
        self.missing = list(range(1, count + 1))
        tally.wanted[self.name] += variants
        if count < variants:
            tally.abstained[f"{self.name}: the reference has too few steps"] += variants - count

    def ask(self, turn: int) -> TeacherRequest:
        """The question for what is missing. `turn` numbers it, so that the same words asked again are a new ask."""
        earlier = again({k: self.rejected[k] for k in self.missing}, self._taken()) if turn else ""
        if self.principle:
            system, user = single_prompt(self.case, self.principle, self.missing, earlier)
        else:
            system, user = multi_prompt(self.case, self.missing, earlier)
        length = len(self.case.reference.encode()) / _BYTES_PER_TOKEN
        return TeacherRequest(
            system=system, user=user, max_tokens=math.ceil(length) * len(self.missing) + _THOUGHTS, sample=turn
        )

    def take(self, ask: TeacherRequest, answer: TeacherReply, turn: int, texts: dict[str, str]) -> None:
        """Accept what is good of an answer and remember what is wrong with the rest."""
        self.tally.used(answer)
        read, rejections = read_answer(answer.text, self.missing, self.kind, finished=answer.finished)
        self.tally.notes["variants that nobody asked for"] += len(unasked(answer.text, self.missing))
        prompt_hash = content_hash(ask.system, ask.user)
        for variant in read:
            principles = (self.principle,) if self.principle else variant.listed
            found = examine(self.case, self.steps, variant, self.kind, principles)
            if isinstance(found, Accepted):
                others = [accepted for accepted, _ in self.accepted.values()]
                found = clash(found, others, self.kind, texts) or found
            if isinstance(found, Rejection):
                rejections.append(found)
                continue
            self.accepted[found.number] = (found, prompt_hash)
            texts[found.flawed] = f"variant {found.number} for {self.name}"
            self.tally.accepted_in_round[turn + 1] += 1
        self.missing = sorted(rejection.number for rejection in rejections)
        for rejection in rejections:
            self.rejected[rejection.number] = rejection.detail
            self.tally.rejected[f"{self.name}: {rejection.reason}"] += 1

    def give_up(self, reason: str) -> None:
        if self.missing:
            self.tally.abstained[f"{self.name}: {reason}"] += len(self.missing)
            self.missing = []

    def pairs(self, teacher: str, seed: int) -> list[ReasoningPair]:
        """The accepted variants as pairs, in the order of their numbers."""
        made = []
        for number, (accepted, prompt_hash) in sorted(self.accepted.items()):
            origin = Origin(teacher=teacher, seed=seed, prompt_hash=prompt_hash, flaws=accepted.flaws)
            made.append(ReasoningPair.of(self.case, accepted.flawed, variant=number, origin=origin, seed=seed))
            self.tally.accepted[self.name] += 1
            nowhere = any(flaw.principle == 2 and not flaw.context_spans for flaw in accepted.flaws)
            self.tally.notes["P2 flaws whose old words are not found in the context"] += nowhere
        return made

    def _taken(self) -> list[str]:
        """What accepted variants use up: the beginnings of their steps, and the combinations of multi variants."""
        lines = []
        for accepted, _ in self.accepted.values():
            begins = ", ".join(f'"{_begin(self.steps[index])}"' for index in accepted.steps)
            combination = f"principles {list(accepted.combination)} in " if self.kind == "multi" else ""
            lines.append(f"{combination}the step that begins {begins}")
        return lines


def _combinations(steps: int) -> int:
    """How many sets of two to six steps there are."""
    return sum(math.comb(steps, size) for size in NUMBERS if size >= 2)


def _begin(step: Step) -> str:
    return " ".join(step.text.split()[:8])
