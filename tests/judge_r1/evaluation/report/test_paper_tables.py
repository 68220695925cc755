"""The paper's Table 12 and Figures 5 and 6."""

import re
from pathlib import Path

from run_factories import scaling_study, toy_eval, toy_run

from judge_r1.evaluation.report.discovery import find_runs
from judge_r1.evaluation.report.paper_tables import figure5, figure6, table12
from judge_r1.evaluation.report.tables import Best


def test_table_12_sorts_rows_and_marks_the_best(tmp_path: Path) -> None:
    scaling_study(tmp_path)
    grid = table12(find_runs([tmp_path])[1])
    assert grid is not None
    assert grid.columns == (
        "judge", "method", "trained on", "academic", "legal", "medical", "P1", "P2", "P3", "P4", "P5", "P6", "Overall",
    )  # fmt: skip
    assert [row[0] for row in grid.rows] == [
        "base", "GRPO 21K", "GRPO 63K", "GRPO 105K", "fc-search", "search", "warm-fc", "warm-fc-search",
    ]  # fmt: skip
    assert grid.rows[1][:3] == ("GRPO 21K", "GRPO", "21,000")
    assert grid.rows[0][1:3] == ("–", "–")
    for row in grid.rows:
        best = [isinstance(cell, Best) for cell in row[3:]]
        assert best == [row[0] == "warm-fc-search"] * 10
    assert grid.rows[-1][7:9] == ("0.88", "0.98")


def test_table_12_can_show_the_judges_of_the_paper(tmp_path: Path) -> None:
    scaling_study(tmp_path)
    grid = table12(find_runs([tmp_path])[1], other_items=True)
    assert grid is not None
    rows = {row[0]: row[1:] for row in grid.rows}
    assert rows["DPO63K-8B (published)"] == (
        "–", "–", "0.71", "0.82", "0.71", "0.86", "0.74", "0.87", "0.67", "0.80", "0.87", "0.75",
    )  # fmt: skip
    assert len(rows) == 8 + 22
    assert rows["Judge-R1-fc (published)"][-1] == "0.77"
    assert "on its own test pairs" in grid.note


def test_figure_5_has_one_line_per_method(tmp_path: Path) -> None:
    scaling_study(tmp_path)
    figures = figure5(find_runs([tmp_path])[1])
    assert [figure.title for figure in figures][:4] == ["Overall", "academic", "legal", "medical"]
    overall = figures[0]
    assert next(iter(overall.legend)) == "GRPO"
    assert "GRPO from 0.77 to 0.97" in overall.svg
    assert len(re.findall(rf'<circle class="dot c{overall.legend["GRPO"]}"', overall.svg)) == 3
    assert overall.svg.count("<polyline") == 5


def test_figure_5_averages_runs_of_one_size(tmp_path: Path) -> None:
    judged = {}
    for size, seed, value in ((10, 0, 0.5), (10, 1, 0.7), (20, 0, 0.9)):
        run = toy_run(tmp_path / f"{size}-{seed}", size, seed=seed)
        judged[f"{size}-{seed}"] = (f"agentic@{run}/model", value)
    toy_eval(tmp_path / "eval", judged)
    figures = figure5(find_runs([tmp_path])[1])
    assert "GRPO from 0.6 to 0.9" in figures[0].svg


def test_figure_5_needs_two_sizes(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "a", 10)
    toy_eval(tmp_path / "eval", {"a": (f"agentic@{run}/model", 0.5)})
    evaluated = find_runs([tmp_path])[1]
    assert (figure5(evaluated), figure6(evaluated)) == ([], [])
    assert table12(evaluated) is not None


def test_figure_6_has_a_panel_per_available_comparison(tmp_path: Path) -> None:
    scaling_study(tmp_path)
    figures = figure6(find_runs([tmp_path])[1])
    assert [figure.title for figure in figures] == ["Warm-up, without search", "Warm-up, with search", "Search"]
    assert list(figures[1].legend) == [
        "fc-search (Judge-R1-fc-search)", "warm-fc-search (Judge-R1-warm-fc-search)",
    ]  # fmt: skip
    assert figures[1].svg.count("<rect") == 2 * 10
    assert "P2 0.83" in figures[1].svg
