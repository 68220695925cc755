"""A second judge that watches a share of the groups whose rewards the first one gives. It never changes a reward.

Where both agree less and less, the policy may learn what the first judge likes and the second does not see. Agreement
also falls because answers of a better policy get closer, and two judges of one family share blind spots: it is a hint.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from statistics import fmean

from judge_r1.core.record_base import content_hash
from judge_r1.judges.base import BadJudge
from judge_r1.judges.panel import check_second
from judge_r1.rewards.group import Comparison, GroupScores, Watched
from judge_r1.rewards.group_judge import Group, GroupJudge
from judge_r1.rewards.pair_judge import is_url

_log = logging.getLogger(__name__)
DEADLINE_S = 600.0
"""Seconds for the comparisons of one look. Those of a group that is not done by then count as failed."""


class Watch:
    """Asks `judge` for the comparisons of a share of all groups, drawn by a hash of group and seed.

    Raises:
        ValueError: The share is not above 0 and at most 1.
        JudgeError: The judge is the one that gives the rewards (`beside`), or as for `GroupJudge`.
    """

    def __init__(self, judge: str, *, beside: str, share: float = 0.05, seed: int = 0, concurrency: int = 64) -> None:
        if not 0 < share <= 1:
            raise ValueError(f"watch_share is above 0 and at most 1, not {share}")
        if judge.rstrip("/") == beside.rstrip("/"):
            raise BadJudge(f"the judge {judge!r} cannot check itself: take one of another model family")
        if not (is_url(judge) or is_url(beside)) and (note := check_second(judge, beside)):
            _log.warning(note)
        self._share, self._seed = share, seed
        self._judge = GroupJudge(judge, concurrency=concurrency)

    def draws(self, group: Group) -> bool:
        """Whether the group is watched."""
        drawn = content_hash("watch", self._seed, group.question.prompt, *group.answers)
        return int(drawn[:12], 16) < self._share * 16**12

    async def look(self, groups: Sequence[Group], found: Sequence[GroupScores]) -> Watched:
        """What the second judge says of the comparisons of the drawn groups. Its errors are logged and counted."""
        compared = same = failed = 0
        until = time.monotonic() + DEADLINE_S
        for group, scores in zip(groups, found, strict=True):
            try:
                if not scores.comparisons or not self.draws(group):
                    continue
                compare = self._judge.compare(group, scores.comparisons)
                again = await asyncio.wait_for(compare, until - time.monotonic())
            except Exception as error:  # such as memory that runs out, or the deadline
                _log.warning("the judge that watches failed: %s", str(error) or type(error).__name__)
                failed += len(scores.comparisons)
                continue
            failed += sum(one.first_wins is None for one in again)
            own, other = winners(scores.comparisons), winners(again)
            both = [pair for pair in own if pair in other]
            compared, same = compared + len(both), same + sum(own[pair] == other[pair] for pair in both)
        return Watched(compared, same, failed)

    def close(self) -> None:
        self._judge.close()


def winners(comparisons: Sequence[Comparison]) -> dict[tuple[int, int], int]:
    """The member with the higher mean probability over the orders of each pair; pairs that tie are left out."""
    points: dict[tuple[int, int], list[float]] = {}
    for one in comparisons:
        if one.first_wins is not None:
            first = one.first < one.second
            pair = (one.first, one.second) if first else (one.second, one.first)
            points.setdefault(pair, []).append(one.first_wins if first else 1 - one.first_wins)
    means = {pair: fmean(values) for pair, values in points.items()}
    return {pair: pair[0] if mean > 0.5 else pair[1] for pair, mean in means.items() if abs(mean - 0.5) > 1e-9}
