"""Principles and quotations in the reasoning of known judges."""

from pathlib import Path

import pytest
from analysis_factories import answer, evaluate_judges, right
from evaluation_factories import toy_case, toy_pairs
from factories import make_case, make_pair

from judge_r1.core.records import Trajectory, Turn
from judge_r1.core.verdicts import Judgment
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError
from judge_r1.evaluation.analysis.reasoning_traits import reasoning_grid, reasoning_of, reasoning_row
from judge_r1.files.pair_set import PairSet

PAIRS = toy_pairs(6)
FACT = "Witness 3 of file {} paid 23 crowns"
"""In the context of a toy case, and in neither of its reasonings."""


def number(pair) -> int:  # type: ignore[no-untyped-def]
    return next(n for n in range(6) if toy_case(n).case_id == pair.case_id)


def test_reasoning_shares_of_a_known_judge(tmp_path: Path) -> None:
    """It always names P1 (right where P1 is broken), and quotes the case for two of eight pairs a case."""
    chosen = {pair.pair_id for pair in PAIRS if pair.violated in ((2,), (3,))}

    def says(pair, ask):  # type: ignore[no-untyped-def]
        quote = FACT.format(number(pair)) if pair.pair_id in chosen else "nothing"
        return answer(right(pair, ask), f"P1 is broken: {quote}", violated=(6,))

    row = reasoning_row(evaluate_judges(tmp_path, {"row": says})[0])
    assert (row["games"], row["valid"]) == (48, 48)
    assert row["any"]["value"] == 1
    assert row["right"]["value"] == sum(1 in pair.violated for pair in PAIRS) / 48
    assert row["named"] == 1
    assert row["case"]["value"] == row["own"]["value"] == 12 / 48
    assert row["passage"]["value"] == 0
    assert row["accuracy"]["value"] == 1


def test_quotation_of_a_candidate_is_not_an_own_quotation(tmp_path: Path) -> None:
    """The reference of a toy case repeats no sentence of it, so one pair's candidate is made to."""
    case = toy_case(0)
    copied = make_case(case.context, reference="1. Witness 1 of file 0 paid 21 crowns. So it stands.")
    pair = make_pair(copied, "1. It falls.", (1,))
    says = {
        "copies": lambda p, a: answer(right(p, a), "A says witness 1 of file 0 paid 21 crowns"),
        "looks": lambda p, a: answer(right(p, a), "but witness 4 of file 0 paid 24 crowns"),
    }
    copies, looks = (reasoning_row(r) for r in evaluate_judges(tmp_path, says, pairs=PairSet.of([copied], [pair])))
    assert (copies["case"]["value"], copies["own"]["value"]) == (1, 0)
    assert (looks["case"]["value"], looks["own"]["value"]) == (1, 1)


def test_invalid_answers_are_not_analysed(tmp_path: Path) -> None:
    first = PAIRS[0].pair_id
    says = {
        "some": lambda p, a: answer(right(p, a) if p.pair_id == first else None, "P1"),
        "none": lambda p, a: answer(None, "P1"),
    }
    some, none = evaluate_judges(tmp_path, says)
    row = reasoning_row(some)
    assert (row["valid"], row["games"]) == (1, 48)
    assert row["accuracy"]["value"] == 1 / 48
    with pytest.raises(AnalysisError, match="judge 'none' has no valid answer with text"):
        reasoning_row(none)
    grid = reasoning_grid({"some": row})
    assert [cells[0] for cells in grid.rows] == ["some", "Qwen3-8B (paper)", "GRPO-8B (paper)"]
    assert grid.rows[0][1] == "1/48"


def trajectory(*texts: str, explanation: str | None = None) -> Trajectory:
    judgment = Judgment(comparison="A>B", violated_principles=(2,), explanation=explanation)
    return Trajectory.without_ids("answer", [Turn(text=text) for text in texts], judgment)


def test_untagged_answer_is_separated_from_the_reasoning() -> None:
    bare = '{"comparison": "A>B", "violated_principles": [2], "explanation": "B invents principle 4"}'
    assert reasoning_of(trajectory(bare, explanation="B invents")) == ["B invents"]
    assert [b.strip() for b in reasoning_of(trajectory(f"I see P2. {bare}"))] == ["I see P2."]
    assert reasoning_of(trajectory("A>B\nviolated_principles: [2]")) == []
