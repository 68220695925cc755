import math

import pytest

from judge_r1.api import load_judge
from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.items import Item
from judge_r1.judges.base import BadJudge, JudgeBuild, run_all
from judge_r1.judges.evidence import SCALE, CasePassages, look_up
from judge_r1.judges.panel import make_judge

CONTEXT = "\n".join(
    [
        "Ana Berg owed thirty crowns to the bank in Oslo. " + "The weather was fine that day. " * 8,
        "Ole Dahl owed forty crowns to the court in Bergen. " + "The harbour was empty that day. " * 8,
    ]
)
RIGHT = "1. Ana Berg owed thirty crowns to the bank."
WRONG = "1. Ana Berg owed forty crowns to the bank."


def test_the_value_whose_passage_has_the_neighbours_is_better() -> None:
    """Both values are in the case, each in one passage of two: a word of one passage counts ln(1 + 1.5 / 1.5), one of
    both ln(1 + .5 / 2.5). Beside the value stand Ana, Berg, owed, crowns, to, the and bank."""
    case = CasePassages(CONTEXT)
    assert len(case.passages) == 2
    one, both = math.log(2), math.log(1.2)
    margin, [(part, passage)] = look_up(case, RIGHT, WRONG)
    assert margin == pytest.approx(3 * one)  # Ana, Berg, bank; both passages have owed, crowns, to and the
    assert case.idf["owed"] == pytest.approx(both)
    assert (part, passage.index) == (margin, 0)
    assert look_up(case, WRONG, RIGHT) == (-margin, [(part, passage)])
    assert look_up(case, RIGHT, RIGHT) == (0.0, [])


def test_a_detail_that_no_passage_has_is_worse_and_one_that_a_passage_has_is_better() -> None:
    case = CasePassages(CONTEXT)
    invented, told = (f"Ana Berg owed thirty crowns to the bank{more}." for more in (", and a test failed", " in Oslo"))
    assert look_up(case, RIGHT[3:], invented)[0] > 0 > look_up(case, RIGHT[3:], told)[0]
    [(_, passage)] = look_up(case, RIGHT[3:], invented)[1]
    assert "Ana Berg" in passage.text  # where the detail would stand


def test_the_judge_cites_its_passage_and_is_surer_with_a_larger_margin() -> None:
    judge = load_judge("evidence")
    found = judge(context=CONTEXT, reasoning_a=WRONG, reasoning_b=RIGHT)
    assert found.winner == "B"
    assert found.confidence == pytest.approx(1 / (1 + math.exp(-3 * math.log(2) / SCALE)))
    [passage] = found.evidence
    assert passage.text == CONTEXT[passage.start : passage.end]
    assert "thirty" in passage.text
    tie = judge(context=CONTEXT, reasoning_a=RIGHT, reasoning_b=RIGHT)
    assert (tie.winner, tie.confidence, tie.evidence) == ("tie", None, ())


def test_a_pair_without_a_case_is_refused() -> None:
    item = Item(item_id="7", cluster_id="7", instruction="red?", candidates=("red", "blue"), gold="A")
    with pytest.raises(BadJudge, match=r"item 7 has none: name another judge"):
        run_all(make_judge("evidence", JudgeBuild("")), LoadedBenchmark([item]).requests())
