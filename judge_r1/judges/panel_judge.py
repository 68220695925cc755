"""Several judges, orders and samples as one judge, for the server and the Python API.

Each request is asked of every member, in as many orders and samples as the panel has. The verdict is the majority of
the valid votes, or that of another `Rule`. Its confidence is the mean probability that they give it: c or 1 - c of a
vote with confidence c, else 1 or 0, and 1/2 of a tie. The explanation is that of a vote for the verdict in the order of
the request, since it names the candidates by their places. A tie violates no principle. A member whose endpoint fails
fails the request, as in an evaluation.
"""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from math import isclose
from typing import Any, Literal

from judge_r1.core.event_loop import gather_all
from judge_r1.core.records import Trajectory, evidence_of
from judge_r1.core.verdicts import (
    Judgment,
    PairwiseVerdict,
    Preference,
    ScoresVerdict,
    Verdict,
    Winner,
    preference,
    reorder,
)
from judge_r1.episode.driver import step_callback
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import BadJudge, Judge, JudgeOutput, PromptFit, close_all, pairs_only_message, usage_of
from judge_r1.judges.request import CustomPrompt, JudgeRequest
from judge_r1.judges.runners import as_finished

Rule = Literal["majority", "all", "any", "min"]
"""How votes decide (`judge_r1.judges.vote`)."""


class PanelJudge:
    """The judges `members` as one, in one order (that of the request) or in both. Up to `at_a_time` requests run
    concurrently, each with all its votes. `weights` are those of the members, by default 1."""

    def __init__(
        self,
        name: str,
        members: Sequence[Judge],
        *,
        orders: int | None,
        samples: int,
        at_a_time: int,
        rule: Rule = "majority",
        weights: Sequence[float] = (),
    ) -> None:
        self.name, self.members, self._orders, self._samples = name, members, orders or 1, samples
        self._at_a_time, self._rule, self._weights = at_a_time, rule, weights or [1.0] * len(members)
        judges = [{"judge": judge.name, **judge.settings} for judge in members]
        self.settings: dict[str, Any] = {"orders": orders, "samples": samples, "members": judges}
        if weights:
            self.settings |= {"rule": rule, "weights": list(weights)}

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit | None:
        """The fit of the member that most prompts do not fit, if any member counts tokens."""
        asked = [one for request in requests for one, _ in self._asked(request)]
        fits = [fit for judge in self.members if (fit := judge.check(asked))]
        return max(fits, key=lambda fit: fit.too_long, default=None)

    def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        return as_finished(self.name, requests, self._one, self._at_a_time)

    def close(self) -> None:
        close_all(*self.members)

    async def _one(self, request: JudgeRequest) -> JudgeOutput:
        with step_callback(None):  # a listener follows one episode
            shown = self._asked(request)
            votes = await gather_all([_vote(judge, *one) for judge in self.members for one in shown])
        weights = [weight for weight in self._weights for _ in shown]
        return _combined(request, votes, self._rule, weights)

    def _asked(self, request: JudgeRequest) -> list[tuple[JudgeRequest, bool]]:
        """The requests to each member, and whether they show the candidates in the other order."""
        if isinstance(request.task, CustomPrompt):
            raise BadJudge(pairs_only_message(self.name, request))
        in_orders = [(request, False), (swapped(request, request.task), True)][: self._orders]
        # Numbers of their own for each request: two samples of a panel must not share the seeds of their votes.
        samples = range(request.sample * self._samples, (request.sample + 1) * self._samples)
        return [(replace(shown, sample=sample), is_swapped) for sample in samples for shown, is_swapped in in_orders]


def swapped(request: JudgeRequest, task: PairwiseTask) -> JudgeRequest:
    """The request with its two candidates in the other order."""
    talks = task.conversations and (task.conversations[1], task.conversations[0])
    other = replace(task, reasoning_a=task.reasoning_b, reasoning_b=task.reasoning_a, conversations=talks)
    return replace(request, order=(request.order[1], request.order[0]), task=other)


def in_first_order(outputs: Sequence[JudgeOutput]) -> JudgeOutput:
    """The output of both orders of a request, in terms of the first; one output as it is."""
    first, *others = outputs
    if not others:
        return first
    votes = [first, *(one._replace(verdict=reorder(one.verdict, (1, 0))) for one in others)]
    found = _combined(first.request, votes)
    # Two orders are too few to be a probability: a judge without a confidence still has none.
    return found if any(vote.confidence is not None for vote in votes) else found._replace(confidence=None)


async def _vote(judge: Judge, request: JudgeRequest, is_swapped: bool) -> JudgeOutput:
    """The output of one member, in terms of the order of the panel's request."""
    async with aclosing(judge.judge([request])) as outputs:  # type: ignore[type-var]
        [output] = [output async for output in outputs]
    return output._replace(verdict=reorder(output.verdict, (1, 0))) if is_swapped else output


def decide(verdicts: Sequence[Verdict], rule: Rule, weights: Sequence[float]) -> Winner:
    """The winner of the votes on a pair, by a rule. Invalid ones do not count, except that with them not all agree."""
    valid = [(own, weight) for one, weight in zip(verdicts, weights, strict=True) if (own := preference(one))]
    named = {own for own, _ in valid}
    if rule == "min" and valid:
        scores = [one.scores for one in verdicts if isinstance(one, ScoresVerdict)]
        points = scores if len(scores) == len(valid) else [_POINTS[own] for own, _ in valid]
        a, b = (min(column) for column in zip(*points, strict=True))
    elif rule == "majority":
        a, b = (sum(weight for own, weight in valid if own == side) for side in "AB")
    elif rule == "all":
        a, b = (float(named == {side} and len(valid) == len(verdicts)) for side in "AB")
    else:
        a, b = (float(side in named and named <= {side, "tie"}) for side in "AB")
    return "tie" if isclose(a, b, abs_tol=1e-9) else "A" if a > b else "B"


_POINTS: dict[Winner, tuple[float, float]] = {"A": (1.0, 0.0), "tie": (0.5, 0.5), "B": (0.0, 1.0)}


def _combined(
    request: JudgeRequest, votes: Sequence[JudgeOutput], rule: Rule = "majority", weights: Sequence[float] = ()
) -> JudgeOutput:
    weights = weights or [1.0] * len(votes)
    failed = [vote for vote in votes if vote.trajectory.infrastructure_failed]
    valid = [(own, vote) for vote in votes if (own := preference(vote.verdict))]
    usage = usage_of(votes)
    if failed or not valid:
        return (failed or votes)[0]._replace(request=request, usage=usage)
    winner = decide([vote.verdict for vote in votes], rule, weights)
    agreeing = [vote for own, vote in valid if own == winner]
    heavy = [weight for vote, weight in zip(votes, weights, strict=True) if preference(vote.verdict)]
    confidence = None
    if winner != "tie":
        sure = sum(weight * _probability(*one, winner) for weight, one in zip(heavy, valid, strict=True))
        confidence = sure / sum(heavy)
    turns = tuple(turn for vote in votes for turn in vote.trajectory.turns)
    judgments = [(vote.request.order, judgment) for vote in agreeing if (judgment := vote.trajectory.judgment)]
    named = Counter(number for _, found in judgments for number in found.violated_principles if winner != "tie")
    explained = (found.explanation for order, found in judgments if order == request.order)
    judgment = Judgment(
        verdict=PairwiseVerdict(winner=winner),
        # By at least half of the votes for the verdict, as an evaluation aggregates them (`label_result`).
        violated_principles=tuple(sorted(number for number, count in named.items() if 2 * count >= len(agreeing))),
        explanation=next(filter(None, explained), None),
        evidence=evidence_of(turns),
        confidence=confidence,
    )
    trajectory = Trajectory.without_ids(valid[0][1].trajectory.ended, turns, judgment)
    return JudgeOutput(request, trajectory, judgment.verdict, confidence, usage)


def _probability(own: Winner, vote: JudgeOutput, winner: Preference) -> float:
    if own == "tie":
        return 0.5
    known = 1.0 if vote.confidence is None else vote.confidence
    return known if own == winner else 1.0 - known
