"""Confidence and endpoint usage in the votes."""

import math
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from rich.console import Console

from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.records import Trajectory, Turn
from judge_r1.core.verdicts import Judgment
from judge_r1.evaluation.results import total_usage
from judge_r1.evaluation.runner import evaluate
from judge_r1.evaluation.votes import EvaluationError, stored_votes
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.panel import JudgePanel
from judge_r1.judges.request import JudgeRequest

SUITE = pair_benchmark(mini_pairs(6))


class Sure:
    """Says A, as sure as it is told to be."""

    name = "sure"
    settings: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, sure: float | None, logprob: float = -0.5) -> None:
        self.sure, self.logprob = sure, logprob

    def check(self, asks: Sequence[JudgeRequest]) -> None:
        pass

    async def judge(self, asks: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for ask in asks:
            trajectory = Trajectory(
                prompt_ids=(1,), token_ids=(2,), loss_mask=(1,), logprobs=(self.logprob,), turns=(Turn(text="A"),),
                judgment=Judgment(comparison="A>B", violated_principles=()), ended="answer",
            )  # fmt: skip
            yield JudgeOutput(ask, trajectory, ask.read(trajectory), self.sure, {"calls": 2, "seconds": 0.25})


def played(judge: Sure, out: Path) -> Any:
    return evaluate(JudgePanel("row", (judge,)), SUITE, out=out, resume=False, console=Console(quiet=True))


def test_traces_hold_confidence_and_usage(tmp_path: Path) -> None:
    results = played(Sure(0.75), tmp_path)
    votes = list(stored_votes(tmp_path))
    assert [stored.item_id for stored in votes] == list(results.votes)
    assert {stored.vote.confidence for stored in votes} == {0.75}
    assert {game.confidence for outcome in results.items for game in outcome.votes} == {0.75}
    assert results.usage.counts == {"calls": 2 * len(votes), "seconds": 0.25 * len(votes)}
    assert total_usage([None]) == {}


def test_unknown_confidence_and_usage_are_left_out(tmp_path: Path) -> None:
    played(Sure(None), tmp_path)
    assert {stored.vote.confidence for stored in stored_votes(tmp_path)} == {None}


@pytest.mark.parametrize("logprob", [-math.inf, math.nan])
def test_non_finite_log_probabilities_are_rejected(logprob: float, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="log-probabilities that are not finite"):
        played(Sure(0.5, logprob), tmp_path)
