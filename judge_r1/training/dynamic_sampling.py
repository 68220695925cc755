"""Dynamic sampling (DAPO, section 3.2): replaces groups without a learning signal by other pairs.

DAPO compares rewards. We compare outcomes, that is, whether the comparison is right. Two wrong judgments of a group may
differ in the F1 of their principles; training on that difference would teach principles while the verdict stays wrong.
"""

from collections.abc import Sequence

from judge_r1.core.pair_set import PairSet
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import ReasoningPair, Trajectory

REDRAWS = 3
"""How often a step replaces groups with identical outcomes before it trains on them. Without a limit, a judge that is
always right or always wrong would be sampled forever."""


def same_outcome(group: Sequence[Trajectory]) -> bool:
    """Whether all judgments of a group are right, or all are wrong. Infrastructure failures do not count."""
    outcomes = {
        trajectory.reward["R1"] > 0
        for trajectory in group
        if trajectory.reward is not None and not trajectory.infrastructure_failed
    }
    return len(outcomes) < 2


class PairReserve:
    """The pairs that a step has not drawn, in an order given by seed and step."""

    def __init__(self, data: PairSet, drawn: Sequence[str], seed: int, step: int) -> None:
        used = set(drawn)
        rest = [pair for pair in data.pairs if pair.pair_id not in used]
        self._rest = sorted(rest, key=lambda pair: content_hash("redraw", seed, step, pair.pair_id), reverse=True)

    def draw(self, count: int) -> list[ReasoningPair]:
        """Up to `count` pairs; fewer if the reserve runs out."""
        return [self._rest.pop() for _ in range(min(count, len(self._rest)))]
