"""Scores of candidates from pairwise comparisons, like those of a reward model.

If the judge prefers a candidate with confidence p, the candidate gets p and its opponent 1 - p. Without a confidence p
is 1; a tie gives both 1/2; an invalid comparison does not count. The score of candidate i is

    s_i = mean_j mean_order P(i beats j)

With a reference, the only opponent is the reference. Without one, the opponents are all other candidates, and the
scores have the mean 1/2 if every comparison is valid.

A judge that scores each candidate alone (`judge_r1.judges.scoring`) gives its own scores where there is no reference,
and needs no second candidate.

Members of a group may also arrive one by one; their scores are those of `judge_r1.rewards.group`.
"""

import asyncio
import time
import uuid
from collections.abc import Sequence
from statistics import fmean

from fastapi import APIRouter, HTTPException, Request

from judge_r1.core.event_loop import gather_all
from judge_r1.core.text_check import counted
from judge_r1.core.verdicts import ScoresVerdict
from judge_r1.core.wire import GroupScoreRequest, GroupScoreResponse, ScoreRequest, ScoreResponse
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.result import request_of
from judge_r1.rewards.group import Comparison, first_win_probability, judge_group
from judge_r1.rewards.schedule import Schedule
from judge_r1.rewards.schedule import comparisons as pair_count
from judge_r1.serving.cancellation import cancel_on_disconnect
from judge_r1.serving.cohorts import Cohort
from judge_r1.serving.errors import JUDGE_ERRORS
from judge_r1.serving.json_body import json_router
from judge_r1.serving.middleware.auth import consume_quota, tenant_of
from judge_r1.serving.service import Service, case_not_found


def mean_scores(candidates: int, comparisons: Sequence[Comparison]) -> list[float | None]:
    """s_i of the module's formula."""
    wins: list[dict[int, list[float]]] = [{} for _ in range(candidates + 1)]
    for one in comparisons:
        if one.first_wins is not None:
            wins[one.first].setdefault(one.second, []).append(one.first_wins)
            wins[one.second].setdefault(one.first, []).append(1.0 - one.first_wins)
    return [fmean(map(fmean, opponents.values())) if opponents else None for opponents in wins[:candidates]]


def _own_score(output: JudgeOutput) -> float | None:
    """The score of one candidate; None for an answer without one and a failure, as for comparisons."""
    return output.verdict.scores[0] if isinstance(output.verdict, ScoresVerdict) else None


def router(service: Service) -> APIRouter:
    routes = json_router(tags=["judging"], responses=JUDGE_ERRORS)

    @routes.post("/v1/score")
    async def score(body: ScoreRequest, request: Request) -> ScoreResponse:
        """Score candidates by pairwise comparisons in both orders: against a reference, or against each other. A judge
        that scores candidates alone gives its own scores."""
        count, limits = len(body.candidates), service.limits
        if count > limits.candidates:
            raise HTTPException(413, f"{counted(count, 'candidate')}: the limit of one request is {limits.candidates}")
        referenced = body.reference is not None
        alone = not referenced and getattr(service.judge, "scores_alone", False)
        if count < 2 and not referenced and not alone:
            raise HTTPException(422, "one candidate cannot be compared: send a reference, or more candidates")
        schedule: Schedule = "anchor" if referenced else "all_pairs"
        consume_quota(request, count if alone else 2 * pair_count(schedule, count, referenced))
        started, trace_id, tenant = time.monotonic(), uuid.uuid4().hex, tenant_of(request)
        texts = [*body.candidates, body.reference or ""]
        context = await service.context(body.context, body.case_id, tenant)
        case_id = service.local_cases.put(context, tenant) if context.strip() else None

        async def current_context() -> str:
            """Reads the case again for each comparison: it may have been deleted meanwhile."""
            if body.case_id is not None:
                return await service.context(None, body.case_id, tenant)
            if case_id is None:
                return context
            try:
                return service.local_cases.get_owned(case_id, tenant)
            except KeyError:
                raise case_not_found(case_id) from None

        slots = asyncio.Semaphore(service.queue.max_concurrency)

        async def judged(first: int, second: int | None = None) -> JudgeOutput:
            async def make_request() -> JudgeRequest:
                return request_of(
                    f"{trace_id}-{first}" if second is None else f"{trace_id}-{first}-{second}",
                    service.local_cases,
                    reasoning_a=texts[first],
                    reasoning_b=None if second is None else texts[second],
                    context=await current_context(),
                    decision=body.prompt,
                    domain=body.domain,
                    tenant=tenant,
                )

            # Its own slots: the comparisons of one request must not take all places of the queue.
            async with slots:
                return await service.run(make_request, tenant, wait_when_full=True)

        async def compare(first: int, second: int) -> Comparison:
            return Comparison(first, second, first_win_probability(await judged(first, second)))

        if alone:
            with service.local_cases.pin(case_id):
                outputs = await cancel_on_disconnect(request, gather_all([judged(index) for index in range(count)]))
            scores = [_own_score(output) for output in outputs]
            return ScoreResponse(
                id=trace_id, judge=service.judge.name, scores=scores, games=0, invalid=scores.count(None),
                seconds=round(time.monotonic() - started, 4),
            )  # fmt: skip
        with service.local_cases.pin(case_id):
            judging = judge_group(count, compare, schedule=schedule, reference=referenced)
            found = await cancel_on_disconnect(request, judging)
        return ScoreResponse(
            id=trace_id,
            judge=service.judge.name,
            scores=mean_scores(count, found.comparisons),
            games=len(found.comparisons),
            invalid=found.failed,
            seconds=round(time.monotonic() - started, 4),
        )

    @routes.post("/v1/groups/score")
    async def group_score(body: GroupScoreRequest, request: Request) -> GroupScoreResponse:
        """Score one candidate of a group. Waits for the other members, and for their comparisons.

        A candidate without a valid comparison gets the status 502, never a score.
        """
        fields = body.model_dump(exclude={"group", "candidate", "deadline"})
        cohort = Cohort(tenant_of(request), body.group, deadline_s=body.deadline, **fields)
        charge(request, cohort)
        score, found = await cancel_on_disconnect(request, service.join(cohort, body.candidate))
        return GroupScoreResponse(
            judge=service.judge.name,
            score=score,
            members=len(found.scores),
            games=len(found.comparisons),
            invalid=found.failed,
        )

    return routes


def charge(request: Request, cohort: Cohort) -> None:
    """Charges a member's share of the comparisons of its group to the key. Raises RateLimited."""
    pairs = pair_count(cohort.schedule, cohort.size, cohort.reference is not None)
    consume_quota(request, max(1, -(-cohort.orders * pairs // cohort.size)))
