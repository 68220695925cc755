"""Dynamic sampling (DAPO, section 3.2): groups without a signal make room for other pairs.

DAPO looks at the reward; here it is the outcome, whether the comparison is right. Two wrong judgments of one group may
differ in the F1 of their principles, and a group that is kept for that difference teaches to name principles while
the verdict stays wrong.
"""

from collections.abc import Sequence

from judge_r1.core.pair_set import PairSet
from judge_r1.core.records import ReasoningPair, Trajectory, content_hash

REDRAWS = 3
"""Times that a step replaces the groups that are alike; what is alike then stays in the batch. A judge that is always
right, or always wrong, would otherwise be asked for ever."""


def same_outcome(group: Sequence[Trajectory]) -> bool:
    """Are all judgments of a group right, or all wrong? An episode that the infrastructure lost is neither."""
    outcomes = {
        trajectory.reward["R1"] > 0
        for trajectory in group
        if trajectory.reward is not None and not trajectory.infrastructure_failed
    }
    return len(outcomes) < 2


class PairReserve:
    """The pairs that a step may draw instead: those it has not drawn yet, in an order that seed and step decide."""

    def __init__(self, data: PairSet, drawn: Sequence[str], seed: int, step: int) -> None:
        used = set(drawn)
        rest = [pair for pair in data.pairs if pair.pair_id not in used]
        self._rest = sorted(rest, key=lambda pair: content_hash("redraw", seed, step, pair.pair_id), reverse=True)

    def draw(self, count: int) -> list[ReasoningPair]:
        """Up to `count` pairs; fewer where none are left."""
        return [self._rest.pop() for _ in range(min(count, len(self._rest)))]
