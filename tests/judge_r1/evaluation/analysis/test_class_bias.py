"""Class bias of known judges."""

from pathlib import Path

import pytest
from analysis_factories import answer, evaluate_judges, right
from evaluation_factories import toy_pairs

from judge_r1.evaluation.analysis.class_bias import bias_grid, bias_row
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, Judged

GOLD_A = sum(pair.preferred == "A" for pair in toy_pairs(6))
PAIRS = len(toy_pairs(6))


def test_bias_of_a_judge_with_known_mistakes(tmp_path: Path) -> None:
    pairs = toy_pairs(6)
    of_a = [pair.pair_id for pair in pairs if pair.preferred == "A"]
    invalid = next(pair.pair_id for pair in pairs if pair.preferred == "B")

    def says(pair, ask):  # type: ignore[no-untyped-def]
        if pair.pair_id == invalid:
            return answer(None)
        return answer("A<B" if pair.pair_id in of_a[::2] else right(pair, ask))

    found = bias_row(evaluate_judges(tmp_path, {"b": says})[0])
    missed = len(of_a[::2])
    assert found["decided"] == PAIRS - 1
    assert found["accuracy_a"]["value"] == pytest.approx(1 - missed / GOLD_A)
    assert found["accuracy_b"]["value"] == pytest.approx(1 - 1 / (PAIRS - GOLD_A))
    assert found["prefers_a"]["value"] == pytest.approx((GOLD_A - missed) / (PAIRS - 1))
    assert found["gap"]["value"] == pytest.approx(found["accuracy_a"]["value"] - found["accuracy_b"]["value"])
    assert found["wrong_of_a"] == {"value": 1.0, "ci95": pytest.approx(found["wrong_of_a"]["ci95"]), "n": missed}


def test_right_judge_has_no_bias(tmp_path: Path) -> None:
    found = bias_row(evaluate_judges(tmp_path, {"r": lambda p, a: answer(right(p, a))})[0])
    assert found["gap"]["value"] == 0
    assert found["gap"]["ci95"][0] < 0 < found["gap"]["ci95"][1]
    assert found["wrong_of_a"] is None


def test_bias_table_ends_with_the_papers_rows(tmp_path: Path) -> None:
    grid = bias_grid({"a": bias_row(evaluate_judges(tmp_path, {"a": lambda p, a: answer("A>B")})[0])})
    assert [row[0] for row in grid.rows] == ["a", "Qwen3-8B (paper)", "GRPO-8B (paper)"]
    assert [str(cell) for cell in grid.rows[2][3:7]] == ["0.54", "0.61", "0.54", "+0.07"]
    assert str(grid.rows[0][6]).startswith("+1.00 [+0.")


def test_items_without_a_better_candidate_are_rejected(tmp_path: Path) -> None:
    [row] = evaluate_judges(tmp_path, {"a": lambda p, a: answer("A>B")})
    from dataclasses import replace

    tied = [item.model_copy(update={"gold": "tie"}) for item in row.benchmark.items]
    odd = Judged(row.name, row.members, replace(row.benchmark, items=tied), row.results)
    with pytest.raises(AnalysisError, match="no vote on two candidates of which one is better"):
        bias_row(odd)
