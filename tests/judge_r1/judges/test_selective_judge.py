"""A judge that may be silent: by the file that calibrate writes, through the commands' own parts."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.items import Item
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.evaluation.calibrate import ConfidenceRow, calibrate
from judge_r1.evaluation.runner import evaluate
from judge_r1.files.arrays.positions import LazySequence
from judge_r1.files.jsonl import write_json
from judge_r1.judges.base import BadJudge, JudgeBuild, JudgeOutput, run_all
from judge_r1.judges.baselines import Baseline, always_a
from judge_r1.judges.panel import JudgePanel, make_judge
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.selective import ABSTAINED, SelectiveJudge
from judge_r1.statistics.selective_risk import Selective


class Sure(Baseline):
    """Prefers the first; how sure it is stands in the request, and it is right as often as it says."""

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        async for output in super().judge(requests):
            yield output._replace(confidence=float(output.request.item.instruction))


def cases(count: int, seed: int) -> list[Item]:
    """Items of which the surer half is nearly always right, the other in three of five."""
    generator, found = random.Random(seed), []
    for number in range(count):
        sure = round(generator.uniform(0.5, 1), 3)
        right = generator.random() < (0.99 if sure > 0.75 else 0.6)
        gold = "A" if right else "B"
        found.append(
            Item(item_id=str(number), cluster_id=str(number), instruction=str(sure), candidates=("x", "y"), gold=gold)
        )
    return found


def certified() -> Selective:
    rows = [
        ConfidenceRow(schema=1, confidence=float(i.instruction), correct=i.gold == "A", cluster=i.cluster_id)
        for i in cases(800, 0)
    ]
    found = calibrate(rows, (0.1, 0.1), 0)
    assert found.selective is not None
    return found.selective


def test_it_answers_above_the_certified_confidence_and_is_right_there(tmp_path: Path) -> None:
    judge = SelectiveJudge(Sure("sure", always_a, 0), certified())
    row = JudgePanel("silent", (judge,))
    outcomes = evaluate(row, LoadedBenchmark(cases(1000, 1)), out=tmp_path, resume=False).items
    answered = [outcome for outcome in outcomes if outcome.valid]
    assert 0.4 < len(answered) / len(outcomes) < 0.8
    assert sum(outcome.score == 0 for outcome in answered) / len(answered) < 0.1
    silent = {vote.ended for outcome in outcomes if not outcome.valid for vote in outcome.votes}
    assert silent == {ABSTAINED}


def test_it_reads_requests_one_by_one() -> None:
    """The requests of a long evaluation, with their texts, are never in memory together."""
    requests, read = LoadedBenchmark(cases(3, 1)).requests(), list[int]()
    lazy = LazySequence(range(len(requests)), lambda index: (read.append(index), requests[index])[1])

    async def first() -> None:
        judge = SelectiveJudge(Sure("sure", always_a, 0), certified())
        async with aclosing(judge.judge(lazy)) as outputs:  # type: ignore[type-var]
            await anext(outputs)

    asyncio.run(first())
    assert read == [0]


def test_without_a_confidence_it_is_always_silent(tmp_path: Path) -> None:
    write_json(
        tmp_path / "calibration.json",
        calibrate(
            [ConfidenceRow(schema=1, confidence=0.9, correct=n % 50 > 0, cluster=str(n)) for n in range(400)],
            (0.1, 0.1),
            0,
        ).model_dump(mode="json", by_alias=True),
    )
    judge = make_judge(f"selective:calibration={tmp_path / 'calibration.json'}(longer)", JudgeBuild(""))
    outputs = run_all(judge, LoadedBenchmark(cases(5, 2)).requests())
    assert {output.trajectory.ended for output in outputs} == {ABSTAINED}
    assert not any(isinstance(output.verdict, PairwiseVerdict) for output in outputs)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("selective@longer", "one judge in brackets"),
        ("selective(longer)", "one option"),
        ("selective:calibration=nowhere.json(longer)", "cannot be read"),
        ("selective:calibration=HERE/other.json(longer)", "is no calibration.json"),
        ("selective:calibration=HERE/none.json(longer)", "certifies no threshold"),
    ],
)
def test_a_file_that_certifies_nothing_is_refused(spec: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    rows = [ConfidenceRow(schema=1, confidence=0.5 + n % 2 / 3, correct=n % 3 > 0, cluster=str(n)) for n in range(40)]
    write_json(tmp_path / "none.json", calibrate(rows, None, 0).model_dump(mode="json", by_alias=True))
    with pytest.raises(BadJudge, match=says):
        make_judge(spec.replace("HERE", str(tmp_path)), JudgeBuild(""))
