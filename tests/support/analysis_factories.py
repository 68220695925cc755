"""Evaluations of toy pairs, run by the real runner with a judge that answers by a function."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evaluation_factories import toy_case, toy_pairs

from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.core.records import ReasoningPair, Trajectory, Turn
from judge_r1.core.verdicts import Judgment
from judge_r1.evaluation.analysis.evaluation_reader import Judged, read_evaluation
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.files.jsonl import write_jsonl
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE, PairSet
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.panel import JudgePanel
from judge_r1.judges.request import JudgeRequest

AnswerFunction = Callable[[ReasoningPair, JudgeRequest], Trajectory]


class FunctionJudge:
    """Answers each request with the function `answers`."""

    def __init__(
        self, name: str, answers: AnswerFunction, pairs: Mapping[str, ReasoningPair], settings: dict[str, Any]
    ) -> None:
        self.name, self.settings, self._says, self._pairs = name, settings, answers, pairs

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        pass

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            trajectory = self._says(self._pairs[request.item.item_id], request)
            yield JudgeOutput(request, trajectory, request.read(trajectory))


def toy_folder(folder: Path, pairs: PairSet | None = None) -> PairSet:
    """Writes cases and pairs to `folder`: by default six toy cases with eight pairs each."""
    data = pairs or PairSet.of(map(toy_case, range(6)), toy_pairs(6))
    write_jsonl(folder / CASES_FILE, data.cases.values())
    write_jsonl(folder / PAIRS_FILE, data.pairs)
    return data


def evaluate_judges(
    home: Path,
    answers: Mapping[str, AnswerFunction],
    *,
    pairs: PairSet | None = None,
    orders: int | None = None,
    settings: dict[str, Any] | None = None,
    judge: str = "agentic@toy",
) -> list[Judged]:
    """Evaluates a judge for each of `answers` into `home/eval` on the pairs in `home/pairs`, and reads the results."""
    data = toy_folder(home / "pairs", pairs)
    suite = BENCHMARKS.get("lrbench").load(home / "pairs", None)
    with Evaluation(suite, home / "eval", resume=False) as evaluation:
        for name, answer_of in answers.items():
            judges = (FunctionJudge(judge, answer_of, data.by_id(), settings or {}),)
            evaluation.run(partial(JudgePanel, name, judges, orders))
        evaluation.finish([], silent=True)
    return read_evaluation(home / "eval", home / "pairs")


def answer(comparison: str | None, thought: str = "so", violated: Sequence[int] = (1,)) -> Trajectory:
    """One turn with a thought and an answer; with `comparison` None the answer is invalid."""
    judgment = comparison and Judgment(comparison=comparison, violated_principles=tuple(violated))
    text = f'{{"comparison": "{comparison}", "violated_principles": {list(violated)}}}' if comparison else "hm"
    return Trajectory(
        prompt_ids=(1,), token_ids=(2,), loss_mask=(1,), logprobs=(0.0,),
        turns=(Turn(text=f"<think>{thought}</think><answer>{text}</answer>"),),
        judgment=judgment or None, ended="answer" if judgment else "rejected_no_json",
    )  # fmt: skip


def right(pair: ReasoningPair, request: JudgeRequest) -> str:
    """The correct comparison for the order that the request shows."""
    best = "AB".index(pair.preferred)
    return "A>B" if request.order[0] == best else "A<B"


def wrong(pair: ReasoningPair, request: JudgeRequest) -> str:
    return "A<B" if right(pair, request) == "A>B" else "A>B"
