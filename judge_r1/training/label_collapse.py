"""Shows when a policy names the same principles for every pair: half of the reward is then a constant."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.core.records import ReasoningPair, Trajectory

SHARE, GOLD = "rollout/label_collapse", "rollout/label_collapse_gold"
STEPS = 10
"""Steps in a row before the warning."""
HIGH, VARIED, RATIO = 0.95, 0.8, 1.5


def label_shares(episodes: Sequence[tuple[ReasoningPair, Trajectory]]) -> dict[str, float]:
    """The largest share of one set of principles among the valid answers, and among the gold labels of their pairs.
    Nothing without a valid answer."""
    named = [(t.judgment.violated_principles, pair.violated) for pair, t in episodes if t.judgment is not None]
    if not named:
        return {}
    answers, gold = (Counter(sets).most_common(1)[0][1] / len(named) for sets in zip(*named, strict=True))
    return {SHARE: answers, GOLD: gold}


class CollapseWatch:
    """Gets the rows of metrics.jsonl in order."""

    def __init__(self) -> None:
        self._steps, self._warned = 0, False

    def warning(self, row: Mapping[str, Any]) -> str | None:
        """A warning, once, when for `STEPS` rows in a row one answer has at least `HIGH` of all while no gold label has
        `VARIED`, or `RATIO` times the share of the commonest gold label. Rows without the shares do not count."""
        if SHARE not in row:
            return None
        share, gold = row[SHARE], row[GOLD]
        collapsed = (share >= HIGH and gold < VARIED) or share >= RATIO * gold
        self._steps = self._steps + 1 if collapsed else 0
        if self._steps < STEPS or self._warned:
            return None
        self._warned = True
        return (
            f"step {row['step']}: for {STEPS} steps too many answers name the same principles, now {share:.2f}, while "
            f"the commonest label has {gold:.2f}: the judge does not learn to name the flaw. Give R2 more weight "
            "(grpo.advantage: decoupled, grpo.advantage_weights), or warm up on more rationales that name it"
        )
