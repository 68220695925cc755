"""Tables that put own results beside published ones."""

from pathlib import Path
from typing import Any

from judge_r1.evaluation.report.discovery import Judged
from judge_r1.evaluation.report.published_measures import measure_grids
from judge_r1.evaluation.report.tables import NONE


def judged(benchmark: str, subset: str | None, folder: str = "a", **row: Any) -> Judged:
    own = {"name": "mine", "accuracy": 0.5, "ci95": [0.4, 0.6], "n": 9, **row}
    return Judged(Path(folder), {"benchmark": benchmark, "subset": subset, "rows": [own]}, {})


def test_correlations_of_longjudgebench_stand_beside_published_ones() -> None:
    [grid] = measure_grids(
        [judged("longjudgebench", "realdr,setting=rubric", extra={"kendall": 0.25, "tie_rate": 0.1})]
    )
    assert grid.columns == ("", "kendall")
    assert grid.rows[0] == ("mine", "0.25")
    assert ("GLM-5.1 (published)", "0.20") in grid.rows
    assert len(grid.rows) == 9
    assert "Tables 3 to 6 (2026-06-01" in grid.note


def test_accuracies_by_the_count_of_the_release_stand_beside_published_ones() -> None:
    extra = {"released": 0.4611, "acc_half": 0.5}
    assert (
        measure_grids([judged("longjudgebench", "ma,setting=rubric,search=true", extra=extra)]) == []
    )  # other prompts
    [grid] = measure_grids([judged("longjudgebench", "ma,setting=rubric", extra=extra)])
    assert (grid.columns, grid.rows[0]) == (("", "released"), ("mine", "0.46"))
    assert ("GPT-4o-mini (published)", "0.56") in grid.rows
    [grid] = measure_grids([judged("longjudgebench", None, extra={"avg": 0.5, "avg_released": 0.48})])
    assert grid.columns == ("", "avg_released")


def test_systems_of_hellobench_stand_beside_published_ones() -> None:
    systems = {"Systems": {"writer": {"S HTG": 12.5, "S AVG": None, "n": 5}}, "Other": {"writer": {"S HTG": 1.0}}}
    [grid] = measure_grids([judged("hellobench", "responses=runs/writer", tables=systems)])
    assert grid.columns == ("", "S HTG")
    assert grid.rows[0] == ("writer, judged by mine", "12.50")
    assert ("gpt4o_0806, judged by GPT-4o (published)", "47.87") in grid.rows
    assert len(grid.rows) == 27


def test_evaluations_of_one_subset_share_a_table() -> None:
    both = [judged("llmbar", "Natural", extra={"equal": 0.5}), judged("llmbar", "Natural", "b", extra={"equal": 0.75})]
    [grid] = measure_grids(both)
    assert [row[0] for row in grid.rows[:2]] == ["mine", "b/mine"]
    whole = dict.fromkeys(("Chat", "Safety"), 0.5)
    [rewards] = measure_grids([judged("rewardbench", None, extra=whole)])
    assert rewards.columns == ("", "Chat", "Safety")
    assert all(NONE not in row for row in rewards.rows)


def test_no_table_without_a_shared_measure() -> None:
    assert measure_grids([judged("llmbar", "Natural"), judged("mine", None, extra={"equal": 0.5})]) == []
    assert measure_grids([judged("llmbar", None, extra={"equal": 0.5})]) == []
