"""Files that an analysis writes."""

import json
from pathlib import Path

import pytest
from run_factories import toy_eval

from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError
from judge_r1.evaluation.analysis.output import write_analysis
from judge_r1.evaluation.analysis.radar import radar, radar_grid
from judge_r1.evaluation.report.charts import Figure, bar_chart
from judge_r1.evaluation.report.discovery import find_runs
from judge_r1.evaluation.report.tables import Best, Estimate, Grid

GRID = Grid("A title", "A note.", ("judge", "n|m"), (("one", Best("0.50")), ("another", Estimate(0.5, 0.4, 0.6))))


def figure() -> Figure:
    colors = {"x <y>": 0, "z": 6}
    return Figure("Of bars & more", bar_chart("t", ["a"], {"x <y>": [0.2], "z": [0.4]}, colors), colors, "Read it so.")


def test_analysis_is_written_as_json_markdown_and_svg(tmp_path: Path) -> None:
    paths = write_analysis(tmp_path / "new", "kind", {"a": 1}, [GRID], [figure()])
    assert [path.name for path in paths] == ["kind.json", "kind.md", "kind-of-bars-more.svg"]
    assert json.loads(paths[0].read_text()) == {"a": 1}
    page = paths[1].read_text()
    assert page.startswith("### A title\n\n| judge ")
    assert "![Of bars & more](kind-of-bars-more.svg)" in page
    assert "Read it so." in page


def test_figures_with_one_title_are_separate_files(tmp_path: Path) -> None:
    """As are titles whose letters a file name cannot have, such as names of judges in another script."""
    figures = [figure()._replace(title=title) for title in ("案", "件", "x")]
    paths = write_analysis(tmp_path, "kind", {}, [], figures)
    assert [path.name for path in paths[2:]] == ["kind-.svg", "kind--2.svg", "kind-x.svg"]


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
