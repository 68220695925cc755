"""Pairs of responses from checklist scores: preference by a weighted margin, labels by question."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

from data_builders.checklist_pairs import ChecklistPairDataset
from data_builders.generators import register
from data_builders.generators.base import Generator, RecordGroup
from judge_r1.benchmarks.hellobench.files import Instruction, released_scores, systems_in
from judge_r1.benchmarks.hellobench.options import EXPERIMENTS, HelloBenchOptions
from judge_r1.benchmarks.hellobench.responses import answered, chosen_weights
from judge_r1.benchmarks.hellobench.weights import Weights
from judge_r1.core.checklist import weighted_score
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash
from judge_r1.episode.checklist_pair import ChecklistPair

MARGIN = 10.0
"""The least difference of the weighted scores, of 100."""
TEST_SHARE = 0.2
"""The share of instructions that is held out, by hash."""
OTHER_SHARE = 0.1
"""The share of categories that is held out as a whole, by hash."""
TRAIN, TEST, OTHER = "train", "test", "other categories"


@dataclass(frozen=True)
class Scored:
    """One system's response to an instruction, with its item scores."""

    system: str
    text: str
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Instructed:
    """An instruction with all scored responses to it."""

    instruction: Instruction
    weights: tuple[float, ...]
    responses: Sequence[Scored]


class _ChecklistPairs(Generator[Instructed]):
    dataset = ChecklistPairDataset()
    unused = ("kinds",)
    part: ClassVar[str]

    def items(self) -> Iterator[Instructed]:
        """The instructions of this part."""
        found, weights, skipped = self._scored
        self.skipped.update(skipped)
        chosen = [one for one in found if part_of(one, self.plan.seed) == self.part]
        self.skipped["in another part"] = len(found) - len(chosen)
        for instruction in chosen[: self.plan.limit]:
            own = weights.of(instruction.category, len(instruction.checklist.criteria))
            yield Instructed(instruction, own, found[instruction])

    def generate(self, item: Instructed) -> RecordGroup | None:
        """At most `plan.variants` pairs of an instruction, chosen by hash, so that no instruction dominates."""
        found: dict[str, ChecklistPair] = {}
        for first, second in combinations(item.responses, 2):
            pair = self._pair(item, first, second)
            if isinstance(pair, str):
                self.abstained[pair] += 1
            elif found.setdefault(pair.pair_id, pair) is not pair:
                self.abstained["equal responses"] += 1
        made = sorted(found.values(), key=lambda pair: content_hash("choice", pair.pair_id, self.plan.seed))
        if over := made[self.plan.variants :]:
            self.abstained["over the pairs of one instruction"] += len(over)
        return RecordGroup(made[: self.plan.variants]) if made else None

    def settings(self) -> dict[str, Any]:
        plan = self.plan
        return {
            **super().settings(),
            "path": plan.path_name,
            "variants": plan.variants,
            "limit": plan.limit,
            "weights": self._scored[1].name,
            "margin": MARGIN,
            "test_share": TEST_SHARE,
            "other_share": OTHER_SHARE,
        }

    @cached_property
    def _scored(self) -> tuple[Mapping[Instruction, list[Scored]], Weights, Counter[str]]:
        """The scored responses in PATH/results/judgements/main_exp by instruction, the weights, and the skips."""
        root = self.plan.path
        if root is None:
            raise JudgeError(f"{self.name} needs --path, a checkout of Quehry/HelloBench with results/judgements")
        options = HelloBenchOptions()
        found: dict[Instruction, list[Scored]] = {}
        skipped: Counter[str] = Counter()
        for system, folder in systems_in(root / "results" / "judgements" / EXPERIMENTS[0]).items():
            for response, instruction in answered(root, folder, options):
                scores = released_scores(response.row, len(instruction.checklist.criteria))
                if scores is None or not response.text.strip():
                    skipped["judgement or response missing"] += 1
                    continue
                found.setdefault(instruction, []).append(Scored(system, response.text, tuple(scores)))
        return found, chosen_weights(root, options), skipped

    def _pair(self, item: Instructed, first: Scored, second: Scored) -> ChecklistPair | str:
        """The pair of two responses, or the reason why there is none."""
        if first.text == second.text:
            return "equal responses"
        pair_id = content_hash(item.instruction.id, sorted([first.text, second.text]))
        if int(content_hash(pair_id, self.plan.seed), 16) % 2:
            first, second = second, first
        scores = tuple(100 * weighted_score(item.weights, one.scores) for one in (first, second))
        if abs(scores[0] - scores[1]) < MARGIN:
            return f"less than {MARGIN:g} points apart"
        winner, loser = (first, second) if scores[0] > scores[1] else (second, first)
        lower = tuple(n for n, (w, s) in enumerate(zip(winner.scores, loser.scores, strict=True)) if s < w)
        return ChecklistPair(
            schema=1,
            pair_id=pair_id,
            instruction_id=item.instruction.id,
            task=item.instruction.stem,
            category=item.instruction.category,
            instruction=item.instruction.text,
            questions=item.instruction.checklist.questions,
            response_a=first.text,
            response_b=second.text,
            systems=(first.system, second.system),
            preferred="A" if winner is first else "B",
            lower=lower,
            scores=(round(scores[0], 4), round(scores[1], 4)),
            weights=self._scored[1].name,
        )


@register
class ChecklistPairs(_ChecklistPairs):
    """Pairs of responses by checklist scores (HelloBench's judgements): the instructions to train on."""

    name = "checklist-pairs"
    part = TRAIN


@register
class HeldOutChecklistPairs(_ChecklistPairs):
    """Pairs of responses by checklist scores: the held-out instructions."""

    name = "checklist-pairs-test"
    part = TEST


@register
class OtherChecklistPairs(_ChecklistPairs):
    """Pairs of responses by checklist scores: the categories that are held out as a whole."""

    name = "checklist-pairs-other"
    part = OTHER


def part_of(instruction: Instruction, seed: int) -> str:
    """The part of an instruction: all its pairs are in the same one, and so are those of a held-out category."""
    if _share(OTHER, instruction.category, seed) < OTHER_SHARE:
        return OTHER
    return TEST if _share("held out", instruction.id, seed) < TEST_SHARE else TRAIN


def _share(name: str, value: str, seed: int) -> float:
    """A number in [0, 1) by hash."""
    return int(content_hash(name, value, seed), 16) % 1000 / 1000
