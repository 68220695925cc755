"""The leaderboard of several evaluation folders, as a page, a table and Markdown."""

import json
from pathlib import Path

from evaluation_digests import write_summary
from report_factories import first_shown, gold_verdict, item_results, plain_suite, summary_of, write
from run_factories import toy_eval
from test_report import Page
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.evaluation.report.comparison import write_comparison
from judge_r1.evaluation.report.discovery import Judged
from judge_r1.evaluation.report.leaderboard import leaderboard
from judge_r1.evaluation.report.tables import NONE, Estimate


def judged(folder: str, benchmark: str, accuracy: dict[str, float], items: str = "i", judge: str = "") -> Judged:
    rows = [
        {"name": n, "accuracy": a, "ci95": [max(0, a - 0.1), min(1, a + 0.1)], "n": 50, "valid_rate": 0.9}
        for n, a in accuracy.items()
    ]
    judges = {name: {"judge": judge or name, "items": items} for name in accuracy}
    return Judged(Path(folder), {"benchmark": benchmark, "rows": rows}, judges)


def test_judges_are_sorted_by_shared_benchmarks() -> None:
    board = leaderboard([
        judged("a", "one", {"weak": 0.4, "strong": 0.8}, "1"),
        judged("b", "two", {"weak": 0.95}, "2"),
    ])  # fmt: skip
    assert board is not None
    assert board.grid.columns == ("judge", "one", "two")
    assert [row[0] for row in board.grid.rows] == ["strong", "weak"]
    assert "on the benchmarks that all of them have: one" in board.grid.note
    (_, strong, missing), (_, weak, only) = board.grid.rows
    assert missing == NONE
    assert [isinstance(c, Estimate) and c.best for c in (strong, weak, only)] == [True, False, True]
    assert str(strong) == "0.80 [0.70, 0.90] (50), valid 0.90"
    assert [figure.title for figure in board.figures] == ["one", "two"]


def test_equal_names_of_different_judges_are_separate_rows() -> None:
    same = leaderboard([judged("a", "one", {"x": 0.4}, judge="j"), judged("b", "two", {"x": 0.5}, judge="j")])
    other = leaderboard([judged("a", "one", {"x": 0.4}, judge="j"), judged("b", "two", {"x": 0.5}, judge="k")])
    taken = leaderboard([judged("a", "one", {"x": 0.4}, judge="j"), judged("b", "one", {"x": 0.5}, judge="j")])
    assert same is not None
    assert other is not None
    assert taken is not None
    assert [row[0] for row in same.grid.rows] == ["x"]
    assert [row[0] for row in other.grid.rows] == ["x", "b/x"]
    assert "share no benchmark" in other.grid.note
    assert [row[0] for row in taken.grid.rows] == ["b/x", "x"]


def test_a_rule_is_one_row_of_all_evaluations() -> None:
    """Rows of rules have no entry in rows.json; on the same items their numbers are the same."""
    evaluations = [
        judged("a", "one", {"x": 0.4, "longer": 0.5}, "1"),
        judged("b", "two", {"x": 0.6, "longer": 0.7}, "2"),
        judged("c", "two", {"y": 0.8, "longer": 0.7}, "2"),
    ]
    for found in evaluations:
        del found.judges["longer"]  # type: ignore[attr-defined]
        found.summary["rows"][1]["settings"] = {"baseline": True}
    board = leaderboard(evaluations)
    assert board is not None
    assert [row[0] for row in board.grid.rows] == ["y", "longer", "x"]


def test_a_judge_without_a_result_leaves_the_column_whole() -> None:
    found = judged("a", "one", {"x": 0.4, "longer": 0.5}, "1")
    del found.judges["longer"]  # type: ignore[attr-defined]
    found.judges["stopped"] = {"judge": "stopped", "items": "2"}  # type: ignore[index]
    board = leaderboard([found])
    assert board is not None
    assert board.grid.columns == ("judge", "one")


def test_different_items_are_different_columns() -> None:
    board = leaderboard([judged("a", "one", {"x": 0.4}, "1"), judged("b", "one", {"x": 0.5}, "2")])
    assert board is not None
    assert board.grid.columns == ("judge", "one (a)", "one (b)")
    assert leaderboard([]) is None


def evaluated(home: Path, benchmark: str, count: int) -> Path:
    """An evaluation folder of two judges as `eval` leaves it."""
    suite = plain_suite([(f"good {n}", f"bad {n}") for n in range(count)])
    results = [item_results("first", suite, first_shown), item_results("gold", suite, gold_verdict)]
    folder = home / benchmark
    folder.mkdir()
    (folder / "rows.json").write_text(
        json.dumps({r.panel: {"judge": r.panel, "settings": {}, "items": benchmark} for r in results})
    )
    write_summary(folder, summary_of(results) | {"benchmark": benchmark})
    write(folder / "report.html", results)
    return folder


def test_report_command_combines_all_benchmarks(tmp_path: Path) -> None:
    folders = [evaluated(tmp_path, "judgebench", 8), evaluated(tmp_path, "llmbar", 6)]
    toy_eval(tmp_path / "pairs", {"gold": ("gold", 0.9)})
    page, table = tmp_path / "board.html", tmp_path / "LEADERBOARD.md"
    asked = ["report", *map(str, folders), str(tmp_path / "pairs"), "--out", str(page), "--markdown", str(table)]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    assert "Leaderboard" in result.output
    lines = table.read_text(encoding="utf-8").splitlines()
    assert lines[0].split() == ["|", "judge", "|", "judgebench", "|", "llmbar", "|", "lrbench", "|"]
    assert lines[2].startswith("| gold  | **1.00** [0.68, 1.00] (8), valid 1.00 |")
    assert lines[3].startswith("| first |     0.00 [")
    shown = Page(page.read_text(encoding="utf-8"))
    assert "All judges by domain and principle" in " ".join(shown.words)
    links = {a["href"] for a in shown.of("a")}
    assert {"judgebench/report.html", "llmbar/report.html"} <= links
    assert {link for link in links if (link or "").startswith("#")} == {f"#{a['id']}" for a in shown.of("section")}


def test_report_without_an_evaluation_is_rejected(tmp_path: Path) -> None:
    from run_factories import toy_run

    toy_run(tmp_path / "run", 9)
    result = CliRunner().invoke(app, ["report", str(tmp_path / "run"), "--out", str(tmp_path / "p.html"),
                                      "--markdown", str(tmp_path / "L.md")])  # fmt: skip
    assert result.exit_code != 0
    assert not (tmp_path / "L.md").exists()


def test_report_is_deterministic(tmp_path: Path) -> None:
    evaluated(tmp_path, "judgebench", 5)
    for name in ("a.html", "b.html"):
        write_comparison([tmp_path / "judgebench"], tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_published_judges_follow_with_their_source() -> None:
    own = judged("a", "llmbar", {"mine": 0.55, "other": 0.5})
    summary = {**own.summary, "subset": "Natural"}
    board = leaderboard([own._replace(summary=summary), judged("b", "two", {"mine": 0.7})])
    assert board is not None
    rows = {row[0]: row[1:] for row in board.grid.rows}
    assert list(rows)[:2] == ["mine", "other"]
    assert rows["GPT-4 Metrics+Reference* (published)"] == ("0.96", NONE)
    published = [row[1] for row in board.grid.rows[2:]]
    assert published == sorted(published, reverse=True)
    assert "9 and 11 (2024-04" in board.grid.note
    assert "not measured here" in board.grid.note
    assert set(board.figures[0].svg.split()) == set(leaderboard([own]).figures[0].svg.split())  # type: ignore[union-attr]


def test_accuracies_of_another_definition_are_not_in_the_column() -> None:
    """LongJudgeBench's paper counts pairs that the gold calls a tie as wrong; its values stand beside `released`."""
    own = judged("a", "longjudgebench", {"mine": 0.5})
    own = own._replace(summary={**own.summary, "subset": "ma,setting=rubric"})
    board = leaderboard([own], other_items=True)
    assert board is not None
    assert [row[0] for row in board.grid.rows] == ["mine"]


def test_a_long_list_of_published_judges_is_cut() -> None:
    own = judged("a", "llmbar", {"mine": 0.55})
    own = own._replace(summary={**own.summary, "subset": "Natural"})
    best, every = leaderboard([own]), leaderboard([own], other_items=True)
    assert best is not None
    assert every is not None
    assert (best.published, every.published) == (20, 58)
    assert best.grid.rows[1] == ("GPT-4 Metrics+Reference* (published)", "0.96")
    assert "38 more with judge-r1 report --published" in best.grid.note
    assert "more with" not in every.grid.note


def test_published_judges_of_other_items_are_shown_on_request() -> None:
    own = judged("a", "lrbench", {"mine": 0.55})
    alone, more = leaderboard([own]), leaderboard([own], other_items=True)
    assert alone is not None
    assert more is not None
    assert [row[0] for row in alone.grid.rows] == ["mine"]
    assert "Published" not in alone.grid.note
    assert len(more.grid.rows) == 23
    assert more.grid.rows[1] == ("Judge-R1-warm-fc-search (published)", "0.98")
    assert "not released" in more.grid.note
