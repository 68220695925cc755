"""Figure 1 from evaluated runs."""

from pathlib import Path

import pytest
from run_factories import toy_eval

from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError
from judge_r1.evaluation.analysis.output import radar, radar_grid
from judge_r1.evaluation.report.discovery import find_runs


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


def test_a_radar_needs_three_domains_and_principles() -> None:
    with pytest.raises(AnalysisError, match="0 domains and principles"):
        radar([])
