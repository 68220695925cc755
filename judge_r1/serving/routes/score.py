"""Scores for candidates, as of a reward model, by games of two.

Of a game in which the judge preferred a candidate with confidence p, the candidate gets p and its rival 1 - p; p is 1
where the judge does not say how sure it is, and a tie is 1/2 for both. An invalid game counts for nobody. What
candidate i gets from its rival j is the mean over both orders, and its score is the mean over its rivals:

    s_i = mean_j mean_order P(i beats j)

With a reference the only rival is the reference; without one the rivals are all other candidates, and where every game
is valid the scores have the mean 1/2.
"""

import time
import uuid
from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

from fastapi import APIRouter, HTTPException, Request

from judge_r1.core.records import PairwiseVerdict
from judge_r1.core.wire import ScoreRequest, ScoreResponse
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.result import request_of
from judge_r1.serving.cancellation import some_at_a_time, while_there
from judge_r1.serving.errors import PROBLEMS
from judge_r1.serving.middleware.auth import consume_quota, tenant_of
from judge_r1.serving.service import Service, no_case

Game = tuple[int, int, float | None]
"""First and second candidate, and P(the first beats the second); None where the answer is invalid."""


def first_wins(played: JudgeOutput) -> float | None:
    """P(the candidate shown first is better), None for an invalid answer."""
    if not isinstance(played.verdict, PairwiseVerdict):
        return None
    if played.verdict.winner == "tie":
        return 0.5
    sure = 1.0 if played.confidence is None else played.confidence
    return sure if played.verdict.winner == "A" else 1.0 - sure


def pairings(candidates: int, reference: bool) -> list[tuple[int, int]]:
    """Who plays whom, in both orders; the reference is number `candidates`."""
    pairs = [(i, candidates) for i in range(candidates)] if reference else list(combinations(range(candidates), 2))
    return [pair for i, j in pairs for pair in ((i, j), (j, i))]


def scores_of(candidates: int, games: Sequence[Game]) -> list[float | None]:
    """The formula above."""
    won: list[dict[int, list[float]]] = [{} for _ in range(candidates + 1)]
    for first, second, chance in games:
        if chance is not None:
            won[first].setdefault(second, []).append(chance)
            won[second].setdefault(first, []).append(1.0 - chance)
    return [fmean(map(fmean, rivals.values())) if rivals else None for rivals in won[:candidates]]


def router(service: Service) -> APIRouter:
    routes = APIRouter(tags=["judging"], responses=PROBLEMS)

    @routes.post("/v1/score")
    async def score(body: ScoreRequest, request: Request) -> ScoreResponse:
        """Score candidates by games of two, each in both orders: against a reference, or against each other."""
        count, limits = len(body.candidates), service.limits
        if count > limits.candidates:
            raise HTTPException(413, f"{count} candidates, over the {limits.candidates} that one request may have")
        places = pairings(count, body.reference is not None)
        consume_quota(request, len(places))
        started, trace_id, owner = time.monotonic(), uuid.uuid4().hex, tenant_of(request)
        texts = [*body.candidates, body.reference or ""]
        context = await service.context(body.context, body.case_id, owner)
        case_id = service.shelf.put(context, owner) if context.strip() else None

        async def again() -> str:
            """The case, for each game: one that is deleted under way stays away."""
            if body.case_id is not None:
                return await service.context(None, body.case_id, owner)
            if case_id is None:
                return context
            try:
                return service.shelf.get_owned(case_id, owner)
            except KeyError:
                raise no_case(case_id) from None

        async def one(number: int, first: int, second: int) -> Game:
            async def ask() -> JudgeRequest:
                return request_of(
                    f"{trace_id}-{number}",
                    service.shelf,
                    reasoning_a=texts[first],
                    reasoning_b=texts[second],
                    context=await again(),
                    decision=body.prompt,
                    domain=body.domain,
                    owner=owner,
                )

            return first, second, first_wins(await service.run(ask, owner, patient=True))

        works = [one(number, first, second) for number, (first, second) in enumerate(places)]
        with service.shelf.pin(case_id):
            games = await while_there(request, some_at_a_time(works, service.desk.running))
        return ScoreResponse(
            id=trace_id,
            judge=service.judge.name,
            scores=scores_of(count, games),
            games=len(games),
            invalid=sum(chance is None for _, _, chance in games),
            seconds=round(time.monotonic() - started, 4),
        )

    return routes
