"""Evaluations of toy pairs, run by the real runner with a judge that answers by a function."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation_factories import toy_case, toy_pairs
from rich.console import Console

from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.core.jsonl import write_jsonl
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE, PairSet
from judge_r1.core.records import ReasoningPair, Trajectory, Turn
from judge_r1.core.verdicts import Judgment
from judge_r1.evaluation.analysis.evaluation_reader import Judged, read_evaluation
from judge_r1.evaluation.runner import evaluate
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.panel import JudgePanel
from judge_r1.judges.request import JudgeRequest

Says = Callable[[ReasoningPair, JudgeRequest], Trajectory]


class TellingJudge:
    """Answers each request with the function `says`."""

    def __init__(self, name: str, says: Says, pairs: Mapping[str, ReasoningPair], settings: dict[str, Any]) -> None:
        self.name, self.settings, self._says, self._pairs = name, settings, says, pairs

    def check(self, asks: Sequence[JudgeRequest]) -> None:
        pass

    async def judge(self, asks: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for ask in asks:
            trajectory = self._says(self._pairs[ask.item.item_id], ask)
            yield JudgeOutput(ask, trajectory, ask.read(trajectory))


def toy_folder(folder: Path, pairs: PairSet | None = None) -> PairSet:
    """Writes cases and pairs to `folder`: by default six toy cases with eight pairs each."""
    found = pairs or PairSet.of(map(toy_case, range(6)), toy_pairs(6))
    write_jsonl(folder / CASES_FILE, found.cases.values())
    write_jsonl(folder / PAIRS_FILE, found.pairs)
    return found


def played(
    home: Path,
    says: Mapping[str, Says],
    *,
    pairs: PairSet | None = None,
    orders: int | None = None,
    settings: dict[str, Any] | None = None,
    judge: str = "agentic@toy",
) -> list[Judged]:
    """Evaluates one judge for each of `says` into `home/eval` on the pairs in `home/pairs`, and reads the results."""
    data = toy_folder(home / "pairs", pairs)
    suite = BENCHMARKS.get("lrbench").load(home / "pairs", None)
    for name, say in says.items():
        row = JudgePanel(name, (TellingJudge(judge, say, data.by_id(), settings or {}),), orders)
        evaluate(row, suite, out=home / "eval", resume=False, console=Console(quiet=True))
    return read_evaluation(home / "eval", home / "pairs")


def answer(comparison: str | None, thought: str = "so", violated: Sequence[int] = (1,)) -> Trajectory:
    """One turn with a thought and an answer; with `comparison` None the answer is invalid."""
    judgment = comparison and Judgment(comparison=comparison, violated_principles=tuple(violated))
    said = f'{{"comparison": "{comparison}", "violated_principles": {list(violated)}}}' if comparison else "hm"
    return Trajectory(
        prompt_ids=(1,), token_ids=(2,), loss_mask=(1,), logprobs=(0.0,),
        turns=(Turn(text=f"<think>{thought}</think><answer>{said}</answer>"),),
        judgment=judgment or None, ended="answer" if judgment else "rejected_no_json",
    )  # fmt: skip


def right(pair: ReasoningPair, ask: JudgeRequest) -> str:
    """The correct comparison for the order that the request shows."""
    best = "AB".index(pair.preferred)
    return "A>B" if ask.order[0] == best else "A<B"


def wrong(pair: ReasoningPair, ask: JudgeRequest) -> str:
    return "A<B" if right(pair, ask) == "A>B" else "A>B"
