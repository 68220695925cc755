"""Judges that score each candidate alone: their preference between two is that of the scores, in any order.

`pointwise@MODEL` runs an episode with search for each candidate and asks for a score from 1 to 10, as
recipes with `grpo.task: pointwise` train it. Any judge of single candidates becomes a judge of pairs by `ScoringJudge`.
`listwise@MODEL` reads all candidates in one prompt and names the best, as recipes with `grpo.task: listwise` train it.
"""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

from judge_r1.core.principles import GENERAL
from judge_r1.core.records import Trajectory, evidence_of
from judge_r1.core.verdicts import InvalidVerdict, Judgment, ScoresVerdict
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.agentic import AgenticJudge, episode_config
from judge_r1.judges.backend_spec import LocalJudgeFactory, continuous_judge, judge_of_backend
from judge_r1.judges.base import (
    JUDGES,
    BadJudge,
    Judge,
    JudgeBuild,
    JudgeKind,
    JudgeOutput,
    JudgeWrapper,
    PromptFit,
    close_all,
    joined_output,
)
from judge_r1.judges.request import CustomPrompt, JudgeRequest, RequestKey


class ScoringJudge:
    """Asks `judge` about each candidate of a request alone, once for each sample, and compares the scores.

    The samples of a candidate depend on the candidate and not on those beside it, so a preference has no order. The
    principles of a pair are those named for the candidate with the lower score.
    """

    scores_alone = True

    def __init__(self, judge: Judge) -> None:
        self._judge, self.name = judge, judge.name
        self.settings: dict[str, Any] = {**judge.settings, "candidates": "alone"}

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit | None:
        return self._judge.check(list(self._single(requests).values()))

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        """Yields a request when all its candidates are scored. The cost of a candidate counts for the first request
        that shows it."""
        singles = self._single(requests)
        waiting = defaultdict[RequestKey, list[JudgeRequest]](list)
        for request in requests:
            for key in _keys(request):
                waiting[key].append(request)
        scored: dict[RequestKey, JudgeOutput] = {}
        async with aclosing(self._judge.judge(list(singles.values()))) as outputs:  # type: ignore[type-var]
            async for output in outputs:
                key = output.request.key
                scored[key] = output
                for request in waiting.pop(key):
                    if all(own in scored for own in _keys(request)):
                        yield _combined(request, [scored[own] for own in _keys(request)])
                        for own in _keys(request):
                            scored[own] = scored[own]._replace(usage={})

    def close(self) -> None:
        close_all(self._judge)

    def _single(self, requests: Sequence[JudgeRequest]) -> dict[RequestKey, JudgeRequest]:
        """One request for each candidate and sample, in the order of their first request."""
        found: dict[RequestKey, JudgeRequest] = {}
        for request in requests:
            for key, task in zip(_keys(request), score_tasks(self.name, request), strict=True):
                if key not in found:
                    found[key] = replace(request, order=key[1], task=task)
        return found


def _keys(request: JudgeRequest) -> list[RequestKey]:
    return [(request.item.item_id, (index,), request.sample) for index in request.order]


def score_tasks(name: str, request: JudgeRequest) -> list[PairwiseTask]:
    """The task of each candidate of a request, as shown. Raises: BadJudge for a prompt that is not about an answer."""
    task = request.task
    if not isinstance(task, CustomPrompt):
        alone = replace(task, reasoning_b="", more=(), examples=(), conversations=None, form="score")
        return [replace(alone, reasoning_a=text) for text in task.candidates]
    answers = [text for field, text in task.fields.items() if re.fullmatch(r"output(_\d+)?", field)]
    if "input" not in task.fields or not answers:
        raise BadJudge(
            f"{name} judges answers to requests, and item {request.item.item_id} (of {request.item.group}) has a "
            "prompt of its own: take a direct@MODEL judge, which answers prompts"
        )
    return [PairwiseTask(GENERAL, task.fields["input"], text, "", form="score") for text in answers]


class ListJudge(JudgeWrapper):
    """Shows `judge` all candidates of a request in one list, of which it names the best, and one alone to score."""

    def shown(self, request: JudgeRequest) -> JudgeRequest:
        first, *others = score_tasks(self.name, request)
        if not others:
            return replace(request, task=first)
        second, *more = (task.reasoning_a for task in others)
        return replace(request, task=replace(first, reasoning_b=second, more=tuple(more), form="list"))


def _combined(request: JudgeRequest, outputs: Sequence[JudgeOutput]) -> JudgeOutput:
    """The output of a request from those of its candidates."""
    if len(outputs) == 1:
        return outputs[0]._replace(request=request)
    turns = [turn for output in outputs for turn in output.trajectory.turns]
    overflow = next((output.overflow for output in outputs if output.overflow), None)
    invalid = next((output.verdict for output in outputs if isinstance(output.verdict, InvalidVerdict)), None)
    if invalid is not None:
        return joined_output(request, outputs, invalid, turns)._replace(overflow=overflow)
    scores = tuple(score for output in outputs if isinstance(v := output.verdict, ScoresVerdict) for score in v.scores)
    verdict = ScoresVerdict(scores=scores)
    lowest = [output for output, score in zip(outputs, scores, strict=True) if score == min(scores) < max(scores)]
    worse = lowest[0].trajectory.judgment if len(lowest) == 1 else None
    judgment = Judgment(
        verdict=verdict,
        violated_principles=worse.violated_principles if worse else (),
        explanation=worse.explanation if worse else None,
        evidence=evidence_of(turns),
    )
    joined = joined_output(request, outputs, verdict, turns)
    return joined._replace(trajectory=Trajectory.without_ids("answer", turns, judgment))


def _make(build: JudgeBuild, local: LocalJudgeFactory = AgenticJudge) -> Judge:
    return ScoringJudge(judge_of_backend(build, "pointwise", episode_config, local, prompted=False))


def _make_list(build: JudgeBuild, local: LocalJudgeFactory = AgenticJudge) -> Judge:
    return ListJudge(judge_of_backend(build, "listwise", episode_config, local, prompted=False), {"candidates": "list"})


JUDGES.register("listwise")(
    JudgeKind(
        "names the best of all candidates in one prompt, with thoughts and searches; models as for agentic",
        _make_list,
        served=partial(_make_list, local=continuous_judge),
    )
)
JUDGES.register("pointwise")(
    JudgeKind(
        "scores each candidate alone from 1 to 10, with thoughts and searches; models as for agentic",
        _make,
        served=partial(_make, local=continuous_judge),
    )
)
