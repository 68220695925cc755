"""Draws the conditions of a pair: failure, user behaviour, number of rounds, flawed round, and side.

Each pair has its own random numbers, from (seed, domain, document, number of the pair), so neither concurrency nor
other documents change it. All draws are uniform.
"""

from dataclasses import dataclass
from random import Random

from judge_r1.core.conversation_types import BEHAVIOURS, FAILURES, ROUNDS, FailureType, UserBehaviour
from judge_r1.core.conversations import Document
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import Preference


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


def sample_conditions(document: Document, number: int, seed: int) -> Conditions:
    """The conditions of pair `number` (from 0) of a document. Round 1 holds no flaw that needs an earlier turn."""
    pair_id = content_hash("conversation", seed, document.domain, document.document_id, number)
    random = Random(f"{seed}/{pair_id}/conditions")
    failure, behaviour = random.choice(FAILURES), random.choice(BEHAVIOURS)
    rounds = random.choice(ROUNDS)
    flawed_round = random.randint(2 if failure.needs_earlier else 1, rounds)
    preferred: Preference = "A" if random.random() < 0.5 else "B"
    return Conditions(pair_id, failure, behaviour, rounds, flawed_round, preferred, seed)
