"""Judges that need no model: a benchmark is read against them."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from judge_r1.core.records import PairwiseVerdict, Trajectory, content_hash
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import JUDGES, BadJudge, JudgeBuild, JudgeKind, JudgeOutput, pairs_only_message
from judge_r1.judges.request import CustomPrompt, JudgeRequest

Rule = Callable[[JudgeRequest, PairwiseTask], float]
"""Above 0: the candidate shown first is better; below 0: the second; 0: neither."""


class Baseline:
    """A rule as a judge. It writes nothing, names no principle and searches nothing."""

    def __init__(self, name: str, rule: Rule, seed: int) -> None:
        self.name, self._rule, self._seed = name, rule, seed

    @property
    def settings(self) -> dict[str, Any]:
        return {"seed": self._seed}

    def check(self, asks: Sequence[JudgeRequest]) -> None:
        for ask in asks:
            _pair_of(self.name, ask)

    async def judge(self, asks: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for ask in asks:
            margin = self._rule(ask, _pair_of(self.name, ask))
            verdict = PairwiseVerdict(winner="tie" if margin == 0 else "A" if margin > 0 else "B")
            yield JudgeOutput(ask, Trajectory.without_ids("answer"), verdict)


def _pair_of(name: str, ask: JudgeRequest) -> PairwiseTask:
    if isinstance(ask.task, CustomPrompt):
        raise BadJudge(pairs_only_message(name, ask))
    return ask.task


def always_a(ask: JudgeRequest, question: PairwiseTask) -> float:
    """The candidate shown first."""
    return 1.0


def longer(ask: JudgeRequest, question: PairwiseTask) -> float:
    """The candidate with more words."""
    return len(question.reasoning_a.split()) - len(question.reasoning_b.split())


def overlap(ask: JudgeRequest, question: PairwiseTask) -> float:
    """The candidate that shares more of its distinct words with the case, or with the request where there is none."""
    given = set((question.context or question.decision).lower().split())

    def share(text: str) -> float:
        words = set(text.lower().split())
        return len(words & given) / len(words) if words else 0.0

    return share(question.reasoning_a) - share(question.reasoning_b)


def _random(seed: int) -> Rule:
    """A coin for each game, the same for the same seed."""

    def coin(ask: JudgeRequest, question: PairwiseTask) -> float:
        return 1.0 if int(content_hash("coin", seed, ask.item.item_id, list(ask.order), ask.sample), 16) % 2 else -1.0

    return coin


def _register(name: str, about: str, rule: Callable[[int], Rule]) -> None:
    def make(making: JudgeBuild) -> Baseline:
        return Baseline(name, rule(making.sampling.seed), making.sampling.seed)

    JUDGES.register(name)(JudgeKind(about, make, needs_backend=False))


_register("always-a", "prefers what is shown first", lambda seed: always_a)
_register("longer", "prefers the candidate with more words", lambda seed: longer)
_register("overlap", "prefers the candidate with the larger share of words that the case holds", lambda seed: overlap)
_register("random", "tosses a coin", _random)
