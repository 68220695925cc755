"""Table 4, Figure 5 and Figure 1 from evaluated runs."""

from pathlib import Path

import pytest
from run_factories import scaling_study, toy_eval, toy_run

from judge_r1.evaluation.analysis.ablations import ablation_grid, ablations, radar, radar_grid, scaling, scaling_grid
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError
from judge_r1.evaluation.report.discovery import find_runs


def test_table_4_of_a_complete_study(tmp_path: Path) -> None:
    scaling_study(tmp_path)
    rows = ablations(find_runs([tmp_path])[1])
    parts = {row["name"]: (row["warm"], row["fc"], row["search"]) for row in rows if "GRPO" not in row["name"]}
    assert parts == {
        "search": (False, False, True),
        "fc-search": (False, True, True),
        "warm-fc": (True, True, False),
        "warm-fc-search": (True, True, True),
    }
    assert rows[-1]["name"] == "warm-fc-search"
    assert "base" not in {row["name"] for row in rows}
    grid = ablation_grid(rows)
    last = [str(cell) for cell in grid.rows[-1][:7]]
    assert last == ["warm-fc-search", "Judge-R1-warm-fc-search", "yes", "yes", "yes", "60", "0.98 [0.88, 1.00]"]


def test_scaling_lists_the_points_of_figure_5(tmp_path: Path) -> None:
    scaling_study(tmp_path)
    rows = scaling(find_runs([tmp_path])[1])
    assert [(r["trained_on"], r["accuracy"]) for r in rows if r["method"] == "GRPO"] == [
        (21_000, 0.77), (63_000, 0.81), (105_000, 0.97),
    ]  # fmt: skip
    assert scaling_grid(rows).rows[0][:3] == ("GRPO 21K", "GRPO", "21,000")


def test_figure_1_shows_shared_domains_and_principles(tmp_path: Path) -> None:
    toy_eval(tmp_path / "eval", {"one": ("agentic@x", 0.5), "two": ("agentic@y", 0.9)})
    rows = find_runs([tmp_path])[1].rows
    del rows[0]["by_principle"]["P3"]
    found, figure = radar(rows)
    assert found["labels"] == ["academic", "legal", "medical", "P1", "P2", "P4", "P5", "P6"]
    drawn = [part["accuracy"] for part in found["rows"]["two"]]
    assert drawn == pytest.approx([0.9, 0.9, 0.9, 0.9, 0.8, 0.9, 0.9, 0.9])
    assert figure.legend == {"one": 0, "two": 1}
    assert [str(cell) for cell in radar_grid(found).rows[0][:2]] == ["one", "0.50 [0.40, 0.60] (60)"]


def test_folders_without_the_needed_runs_are_rejected(tmp_path: Path) -> None:
    toy_eval(tmp_path / "eval", {"one": ("agentic@x", 0.5)})
    evaluated = find_runs([tmp_path])[1]
    with pytest.raises(AnalysisError, match="none of the evaluations is of a GRPO run"):
        ablations(evaluated)
    with pytest.raises(AnalysisError, match="known training-set size"):
        scaling(evaluated)
    with pytest.raises(AnalysisError, match="0 domains and principles"):
        radar([])
    toy_run(tmp_path / "sft", 5, stage="sft")
    toy_eval(tmp_path / "eval2", {"sft": (f"agentic@{tmp_path}/sft/model", 0.5)})
    with pytest.raises(AnalysisError, match="none of the evaluations is of a GRPO run"):
        ablations(find_runs([tmp_path])[1])
