"""One report of several evaluations and training runs."""

import json
from pathlib import Path

from browser import chromium
from run_factories import scaling_study, toy_eval, toy_run
from test_report import Page
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.evaluation.report.comparison import recipe_grid, write_comparison
from judge_r1.evaluation.report.discovery import find_runs


def test_comparison_page_is_complete(tmp_path: Path) -> None:
    scaling_study(tmp_path)
    write_comparison([tmp_path], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = Page(text)
    words = " ".join(page.words)
    for part in (
        "All judges by domain and principle", "Data scaling (Figure 5)", "Ablations (Figure 6)", "What differs",
        "episode.context", "rollout/reward/r", "8 training runs: ",
        "No evaluation given here names the model of warm:",
    ):  # fmt: skip
        assert part in words
    targets = {a["href"] for a in page.of("a")}
    assert targets == {f"#{a['id']}" for a in page.of("section")}
    write_comparison([tmp_path], tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == text


def test_runs_without_an_evaluation_are_compared_by_curves(tmp_path: Path) -> None:
    for seed in (0, 1):
        toy_run(tmp_path / f"seed{seed}", 9, seed=seed)
    assert write_comparison([tmp_path], tmp_path / "page.html") == []
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert {a["id"] for a in page.of("section")} == {"differing", "curves"}
    assert len(page.of("polyline", class_="line c1")) == 2  # loss and r of the second run


def test_keys_of_only_some_recipes_are_differences(tmp_path: Path) -> None:
    toy_run(tmp_path / "full", 9)
    toy_run(tmp_path / "lora", 9, lora={"rank": 4, "alpha": 8})
    first = {"name": "warm", "stage": "sft", "model": "base", "data": {"train": "nowhere"}}
    toy_run(tmp_path / "warm", 9, start=first)
    grid = recipe_grid(find_runs([tmp_path])[0])
    assert grid is not None
    assert [row for row in grid.rows if row[0] in ("lora", "start", "model")] == [
        ("start", "–", "–", "warm"),
        ("model", "base", "base", "runs/warm/model"),
        ("lora", "–", "rank 4, alpha 8", "–"),
    ]
    assert not [row for row in grid.rows if row[0].startswith(("lora.", "start."))]


def test_runs_that_are_not_finished_are_not_listed_as_if_they_were(tmp_path: Path) -> None:
    """Killed before the first step, killed after it, and finished with its model removed."""
    for name, steps in (("unborn", 0), ("stopped", 1), ("finished", 4)):
        log = toy_run(tmp_path / name, 9, seed=steps) / "metrics.jsonl"
        log.write_text("".join(log.read_text().splitlines(keepends=True)[:steps]))
    result = CliRunner().invoke(app, ["report", str(tmp_path), "--out", str(tmp_path / "page.html")])
    assert result.exit_code == 0, result.output
    page = " ".join(Page((tmp_path / "page.html").read_text(encoding="utf-8")).words)
    assert "3 training runs: finished, stopped (25%, not finished), unborn (0%, not finished)." in page
    for shown in (result.output, page):
        assert "Not finished, so without a model: stopped, unborn. Unless it still trains, run its train" in shown
        assert "No evaluation given here names the model of finished:" in shown


def test_unfinished_evaluations_are_named(tmp_path: Path) -> None:
    """Killed before its summary, and stopped at its second judge. A run at 99.6 % is not at 100 %."""
    toy_eval(tmp_path / "done", {"a": ("agentic@x", 0.5)})
    (toy_eval(tmp_path / "killed", {"b": ("agentic@y", 0.5)}) / "summary.json").unlink()
    rows = toy_eval(tmp_path / "stopped", {"c": ("agentic@z", 0.6)}, pairs="q") / "rows.json"
    rows.write_text(
        json.dumps(json.loads(rows.read_text()) | {"d": {"judge": "direct@w", "settings": {}, "items": "q"}})
    )
    (toy_run(tmp_path / "run", 9) / "metrics.jsonl").write_text('{"step": 996, "progress": 0.996}\n')
    result = CliRunner().invoke(app, ["report", str(tmp_path), "--out", str(tmp_path / "page.html")])
    assert result.exit_code == 0, result.output
    page = " ".join(Page((tmp_path / "page.html").read_text(encoding="utf-8")).words)
    assert "run (99%, not finished)" in page
    for shown in (result.output, page):
        assert f"{tmp_path / 'killed'} holds an evaluation that has not finished (no summary.json): run its" in shown
        assert f"{tmp_path / 'stopped'} also holds d, which its summary omits" in shown
        assert f"{tmp_path / 'done'} holds" not in shown


def test_different_pair_sets_are_noted(tmp_path: Path) -> None:
    toy_eval(tmp_path / "e1", {"a": ("agentic@x", 0.5)})
    toy_eval(tmp_path / "e2", {"b": ("agentic@x", 0.5)}, pairs="others")
    write_comparison([tmp_path], tmp_path / "page.html")
    assert "2 different sets of pairs" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_text_of_runs_never_becomes_markup(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    run = toy_run(tmp_path / "a&<b>", 9, name=evil)
    toy_run(tmp_path / "b", 9)
    toy_eval(tmp_path / "eval", {evil: (f"agentic@{run}/model", 0.5)})
    write_comparison([tmp_path], tmp_path / "page.html")
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert len(page.of("script")) == 1
    assert not page.of("b")


def test_report_command_prints_the_table_and_the_path(tmp_path: Path) -> None:
    scaling_study(tmp_path)
    out = tmp_path / "page.html"
    result = CliRunner().invoke(app, ["report", str(tmp_path), "--out", str(out)])
    assert result.exit_code == 0
    assert "Judge-R1-warm-fc-search" in result.output
    assert f"report: {out}" in result.output
    assert out.exists()


def test_comparison_page_in_a_browser(tmp_path: Path) -> None:
    """No complaint, nothing wider than the window, charts drawn, folded parts open."""
    scaling_study(tmp_path)
    write_comparison([tmp_path], tmp_path / "page.html")
    with chromium() as browser:
        for width, height in ((1280, 800), (390, 844)):
            page = browser.new_page(viewport={"width": width, "height": height})
            page.set_default_timeout(20_000)
            complaints: list[str] = []
            page.on("pageerror", lambda error, found=complaints: found.append(str(error)))
            page.on("console", lambda message, found=complaints: message.type == "error" and found.append(message.text))
            page.goto((tmp_path / "page.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            charts = page.locator("#figures-1 svg")
            assert charts.count() == 10
            box = charts.first.bounding_box()
            assert box["width"] > 200
            assert box["height"] > 100
            bar = page.locator("#figures-2 rect.bar").first
            assert bar.evaluate("e => getComputedStyle(e).fill") != "rgb(0, 0, 0)"  # not SVG's black
            page.get_by_text("All tables, with intervals").click()
            assert page.locator("#grid-1").is_visible()
            page.get_by_role("link", name="Learning curves").click()
            assert page.locator("#curves h2").is_visible()
            assert not complaints
            page.close()
