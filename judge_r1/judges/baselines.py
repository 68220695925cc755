"""Baseline judges that need no model."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import JUDGES, BadJudge, JudgeBuild, JudgeKind, JudgeOutput, pairs_only_message
from judge_r1.judges.request import CustomPrompt, JudgeRequest
from retrieval.words import count_words

Rule = Callable[[JudgeRequest, PairwiseTask], float]
"""Returns a margin: above 0 prefers the candidate shown first, below 0 the second, 0 is a tie."""


class Baseline:
    """A judge that applies a rule. It writes no text, names no principles and does not search."""

    def __init__(self, name: str, rule: Rule, seed: int) -> None:
        self.name, self._rule, self._seed = name, rule, seed

    @property
    def settings(self) -> dict[str, Any]:
        return {"seed": self._seed}

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        for request in requests:
            pair_of(self.name, request)

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            margin = self._rule(request, pair_of(self.name, request))
            verdict = PairwiseVerdict(winner="tie" if margin == 0 else "A" if margin > 0 else "B")
            yield JudgeOutput(request, Trajectory.without_ids("answer"), verdict)


def pair_of(name: str, request: JudgeRequest) -> PairwiseTask:
    """The pair to compare. Raises: BadJudge for a benchmark's own prompt."""
    if isinstance(request.task, CustomPrompt):
        raise BadJudge(pairs_only_message(name, request))
    return request.task


def always_a(request: JudgeRequest, task: PairwiseTask) -> float:
    """The candidate shown first."""
    return 1.0


def longer(request: JudgeRequest, task: PairwiseTask) -> float:
    """The candidate with more words."""
    return count_words(task.reasoning_a) - count_words(task.reasoning_b)


def _random(seed: int) -> Rule:
    """A coin toss per request, reproducible by the seed."""

    def coin(request: JudgeRequest, task: PairwiseTask) -> float:
        return (
            1.0
            if int(content_hash("coin", seed, request.item.item_id, list(request.order), request.sample), 16) % 2
            else -1.0
        )

    return coin


def _register(name: str, about: str, rule: Callable[[int], Rule]) -> None:
    def make(build: JudgeBuild) -> Baseline:
        return Baseline(name, rule(build.sampling.seed), build.sampling.seed)

    JUDGES.register(name)(JudgeKind(about, make, needs_backend=False))


_register("always-a", "prefers what is shown first", lambda seed: always_a)
_register("longer", "prefers the candidate with more words", lambda seed: longer)
_register("random", "tosses a coin", _random)
