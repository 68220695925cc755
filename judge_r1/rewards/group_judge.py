"""Scores groups of answers with one judge. The modules for trainers call it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from threading import Lock
from typing import cast

from judge_r1.core.errors import JudgeError
from judge_r1.core.event_loop import BackgroundLoop, gather_all
from judge_r1.rewards.group import Comparison, GroupScores, Orders, judge_answers, shown_texts
from judge_r1.rewards.pair_judge import PairJudge, Question, ServedPairJudge, open_pair_judge
from judge_r1.rewards.schedule import SCHEDULES, Schedule

VARIABLE = "JUDGE_R1_REWARD_JUDGE"
"""The environment variable that names the judge where a trainer takes a function without arguments."""
SCHEDULE_VARIABLE = "JUDGE_R1_REWARD_SCHEDULE"
"""The environment variable that names the schedule there."""


@dataclass(frozen=True)
class Group:
    """Answers to one question, and the reference that the schedule `anchor` compares them with. A blank one is none."""

    question: Question
    answers: Sequence[str]
    reference: str | None = None


class GroupJudge:
    """Scores groups; can be called from any event loop and thread. Call `close` when done.

    Args:
        judge: A SPEC, such as `agentic@runs/demo/grpo/model`, or the URL of `judge-r1 serve`.
        schedule: Which answers of a group are compared (`judge_r1.rewards.schedule`).
        orders: 2 judges each pair in both orders, 1 in one.
        concurrency: Maximum number of comparisons at a time, over all groups.

    Raises:
        JudgeError: The SPEC or the URL is not valid, no server answers, or the model cannot be loaded.
        ValueError: There is no such schedule or number of orders.
    """

    def __init__(
        self, judge: str, *, schedule: Schedule = "circular", orders: Orders = 2, concurrency: int = 64
    ) -> None:
        if schedule not in SCHEDULES:
            raise ValueError(f"there is no schedule {schedule!r}: choose one of {', '.join(SCHEDULES)}")
        if orders not in (1, 2):
            raise ValueError(f"orders is 1 or 2, not {orders!r}")
        self.schedule: Schedule = schedule
        self._orders: Orders = orders
        self._loop = BackgroundLoop("judge-r1-rewards")
        try:
            self._judge: PairJudge = self._loop.run_sync(_opened(judge, concurrency))
        except BaseException:
            self._loop.close()
            raise

    async def score(self, groups: Sequence[Group]) -> list[GroupScores]:
        """The scores of all groups, judged concurrently. Raises: JudgeError if every comparison would fail."""
        return await self._loop.run(self._score(groups))

    def score_sync(self, groups: Sequence[Group]) -> list[GroupScores]:
        """As `score`, from synchronous code."""
        return self._loop.run_sync(self._score(groups))

    async def compare(self, group: Group, comparisons: Sequence[Comparison]) -> list[Comparison]:
        """The same comparisons by this judge. Raises: JudgeError as for `score`."""
        texts = shown_texts(group.answers, group.reference)

        async def one(pair: Comparison) -> Comparison:
            outcome = await self._judge.compare(group.question, texts[pair.first], texts[pair.second])
            return Comparison(pair.first, pair.second, *outcome)

        async def every() -> list[Comparison]:
            return await gather_all([one(pair) for pair in comparisons])

        return await self._loop.run(every())

    def close(self) -> None:
        self._loop.run_sync(self._judge.aclose())
        self._loop.close()

    async def _score(self, groups: Sequence[Group]) -> list[GroupScores]:
        return await gather_all([self._one(group) for group in groups])

    async def _one(self, group: Group) -> GroupScores:
        compare = partial(self._judge.compare, group.question)
        return await judge_answers(group.answers, group.reference, compare, schedule=self.schedule, orders=self._orders)


async def _opened(judge: str, concurrency: int) -> PairJudge:
    opened = open_pair_judge(judge, concurrency)
    if isinstance(opened, ServedPairJudge):
        await opened.check()
    return opened


def shared_judge(judge: str, *, schedule: Schedule) -> GroupJudge:
    """The judge of this process. It is loaded once, also if a trainer's threads ask for it at the same time."""
    # `cache` alone calls the function once for each thread that comes before the first result.
    with _loading:
        return _shared(judge, schedule)


def named_judge(*, schedule: Schedule | None = None) -> GroupJudge:
    """The shared judge that the environment names; without `schedule`, with the schedule that it names.

    Raises:
        JudgeError: The environment names no judge.
        ValueError: There is no such schedule.
    """
    if not (judge := os.environ.get(VARIABLE)):
        raise JudgeError(f"set the environment variable {VARIABLE} to a SPEC or the URL of judge-r1 serve")
    named = cast("Schedule", os.environ.get(SCHEDULE_VARIABLE, "circular"))  # GroupJudge checks it
    return shared_judge(judge, schedule=schedule or named)


_loading = Lock()


@cache
def _shared(judge: str, schedule: Schedule) -> GroupJudge:
    return GroupJudge(judge, schedule=schedule)
