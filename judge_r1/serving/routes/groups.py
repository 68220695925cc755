"""Scores of candidates that arrive one by one and are compared with the other members of their group."""

from fastapi import APIRouter, Request

from judge_r1.core.wire import GroupScoreRequest, GroupScoreResponse
from judge_r1.rewards.schedule import comparisons
from judge_r1.serving.cancellation import cancel_on_disconnect
from judge_r1.serving.cohorts import Cohort
from judge_r1.serving.errors import JUDGE_ERRORS
from judge_r1.serving.json_body import json_router
from judge_r1.serving.middleware.auth import consume_quota, tenant_of
from judge_r1.serving.service import Service


def router(service: Service) -> APIRouter:
    routes = json_router(tags=["judging"], responses=JUDGE_ERRORS)

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
    pairs = comparisons(cohort.schedule, cohort.size, cohort.reference is not None)
    consume_quota(request, max(1, -(-cohort.orders * pairs // cohort.size)))
