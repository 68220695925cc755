"""Draws the conditions of a pair: failure, user behaviour, number of rounds, flawed round, and side.

Each pair has its own random numbers, from (seed, domain, document, number of the pair), so neither concurrency nor
other documents change it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Literal

from judge_r1.core.conversations import BEHAVIOURS, FAILURES, ROUNDS, Document, FailureType, UserBehaviour
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import Preference

Draws = Literal["uniform", "weighted"]
WEIGHTS: Mapping[str, float] = {
    "self_contradiction": 0.24, "evasion": 0.23, "disorganized": 0.11, "fabricated_answer": 0.11,
    "instruction_forgetting": 0.11, "no_clarification": 0.10, "unnecessary_refusal": 0.10,
    "focused": 0.16, "integrative": 0.13, "scattered": 0.12, "skeptical": 0.16, "misinformed": 0.16,
    "exploratory": 0.17, "underspecified": 0.10,
}  # fmt: skip
"""The optional weights of RankJudge's public code. The paper's data set has uniform draws."""
ROUND_WEIGHTS = (0.10, 0.20, 0.30, 0.25, 0.15)


@dataclass(frozen=True)
class Conditions:
    """The conditions of one pair. `flawed_round` counts from 1."""

    pair_id: str
    failure: FailureType
    behaviour: UserBehaviour
    rounds: int
    flawed_round: int
    preferred: Preference
    seed: int

    def random(self, part: str) -> Random:
        """Random numbers for one part of the pair."""
        return Random(f"{self.seed}/{self.pair_id}/{part}")


def sample_conditions(
    document: Document, number: int, seed: int, *, draws: Draws = "uniform", last_round: bool = True
) -> Conditions:
    """The conditions of pair `number` (from 0) of a document. Round 1 holds no flaw that needs an earlier turn, and
    with `last_round` false the last round holds no flaw."""
    pair_id = content_hash("conversation", seed, document.domain, document.document_id, number)
    random = Random(f"{seed}/{pair_id}/conditions")
    if draws == "uniform":
        failure, behaviour = random.choice(FAILURES), random.choice(BEHAVIOURS)
        rounds = random.choice(ROUNDS)
    else:
        (failure,) = random.choices(FAILURES, [WEIGHTS[failure.key] for failure in FAILURES])
        (behaviour,) = random.choices(BEHAVIOURS, [WEIGHTS[behaviour.key] for behaviour in BEHAVIOURS])
        (rounds,) = random.choices(ROUNDS, ROUND_WEIGHTS)
    flawed_round = random.randint(2 if failure.needs_earlier else 1, rounds if last_round else rounds - 1)
    preferred: Preference = "A" if random.random() < 0.5 else "B"
    return Conditions(pair_id, failure, behaviour, rounds, flawed_round, preferred, seed)
