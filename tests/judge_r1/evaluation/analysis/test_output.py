"""Files that an analysis writes."""

import json
from pathlib import Path

from judge_r1.evaluation.analysis.output import write_analysis
from judge_r1.evaluation.report.charts import Figure, bar_chart
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
