"""Groups whose members arrive as separate requests, for trainers that ask for the reward of one rollout at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from fastapi import HTTPException

from judge_r1.core.principles import GENERAL
from judge_r1.core.text_check import counted
from judge_r1.core.wire import JudgeRequestBody
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.result import result_of
from judge_r1.rewards.collector import Collector
from judge_r1.rewards.group import GroupScores, Orders, Outcome, first_win_probability, judge_answers
from judge_r1.rewards.schedule import Schedule
from judge_r1.serving.errors import client_message
from judge_r1.serving.middleware.body_limit import Limits
from judge_r1.serving.queue import ShuttingDown

RunPair = Callable[[JudgeRequestBody, str], Awaitable[JudgeOutput]]
"""Judges a pair for a tenant."""


@dataclass(frozen=True)
class Cohort:
    """What the members of a group have in common. Requests that differ in any field are in different groups, so no
    score depends on another tenant, prompt or case."""

    tenant: str
    name: str
    prompt: str
    size: int
    reference: str | None = None
    context: str | None = None
    case_id: str | None = None
    domain: str = GENERAL
    schedule: Schedule = "circular"
    orders: Orders = 2
    deadline_s: float | None = None


class Cohorts:
    """Collects the members and judges the groups. Each tenant has `concurrency` comparisons in the queue at a time."""

    def __init__(self, run_pair: RunPair, limits: Limits, concurrency: int) -> None:
        self._run_pair, self._limits, self._concurrency = run_pair, limits, concurrency
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._groups: Collector[Cohort, str] = Collector(self._judge, max_members=limits.group_members)

    @property
    def waiting(self) -> int:
        return self._groups.waiting

    async def join(self, cohort: Cohort, candidate: str) -> tuple[float, GroupScores]:
        """The score of a candidate, and those of its group.

        Raises:
            HTTPException: 413 for a group over the limit, 422 for a deadline over it.
            CollectorFull, JudgmentFailed, ShuttingDown
        """
        limits = self._limits
        if cohort.size > limits.group:
            raise HTTPException(413, f"a group of {counted(cohort.size, 'member')}: the limit is {limits.group}")
        deadline_s = limits.group_s if cohort.deadline_s is None else cohort.deadline_s
        if deadline_s > limits.group_s:
            raise HTTPException(422, f"a deadline of {deadline_s:g} s: the limit is {limits.group_s:g} s")
        cohort = replace(cohort, deadline_s=deadline_s)
        return await self._groups.join(cohort, candidate, size=cohort.size, deadline_s=deadline_s)

    def close(self) -> None:
        """Ends the groups that wait for members: nobody can join them after the start of a shutdown."""
        self._groups.close(ShuttingDown("the server is shutting down: send the group again"))

    async def _judge(self, cohort: Cohort, candidates: Sequence[str]) -> GroupScores:
        # One for all groups of a tenant: a training run must not fill the queue for its other requests.
        slots = self._slots.setdefault(cohort.tenant, asyncio.Semaphore(self._concurrency))

        async def judge(first: str, second: str) -> Outcome:
            pair = JudgeRequestBody(
                reasoning_a=first, reasoning_b=second, decision=cohort.prompt, context=cohort.context,
                case_id=cohort.case_id, domain=cohort.domain, trace=False,
            )  # fmt: skip
            async with slots:
                try:
                    output = await self._run_pair(pair, cohort.tenant)
                except Exception as error:  # the other comparisons count
                    return None, client_message(error)
            won = first_win_probability(output)
            return won, result_of(output).ended if won is None else None

        return await judge_answers(candidates, cohort.reference, judge, schedule=cohort.schedule, orders=cohort.orders)
