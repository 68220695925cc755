"""Tables and charts that compare only what can be compared, and name what they leave out."""

import json
from pathlib import Path
from typing import Any

import pytest
from evaluation_factories import toy_case, toy_pairs
from fake_llm_server import FakeLLMServer
from hellobench_factories import scripted_answer, write_lines
from typer.testing import CliRunner

from data_builders.build import write_pairs
from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.cli import app
from judge_r1.core.items import Item
from judge_r1.evaluation.folder import read_summary
from judge_r1.evaluation.report.charts import whisker_chart
from judge_r1.evaluation.report.comparison import _text_grids
from judge_r1.evaluation.report.discovery import Judged
from judge_r1.evaluation.report.leaderboard import leaderboard
from judge_r1.evaluation.report.tables import Estimate, grids, system_grids
from judge_r1.evaluation.summary import BadSummary, compared_pairs, what_it_says
from judge_r1.files.pair_set import PairSet


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(map(str, words)))
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_pairs(PairSet.of(map(toy_case, range(6)), toy_pairs(6)), folder)
    return folder


@pytest.fixture
def evaluated(data: Path, tmp_path: Path) -> Path:
    words = [word for name in ("longer", "evidence", "random", "always-a") for word in ("--judge", name)]
    status, shown = run("eval", *words, "--reference", "random", "--path", data, "--out", tmp_path / "eval")
    assert status == 0, shown
    return tmp_path / "eval"


def test_all_judges_are_compared_with_the_reference(evaluated: Path) -> None:
    found = [(one["a"], one["b"]) for one in read_summary(evaluated)["differences"]]
    assert found == [("longer", "random"), ("evidence", "random"), ("always-a", "random")]
    assert compared_pairs(["a", "b", "c"]) == [("b", "a"), ("c", "b")]
    assert compared_pairs(["a", "b", "c"], "b") == [("a", "b"), ("c", "b")]
    with pytest.raises(BadSummary, match="--reference 'bb' names no judge of this evaluation; did you mean 'bbb'"):
        compared_pairs(["bbb", "a"], "bb")


def test_an_unknown_reference_stops_before_the_first_judge(data: Path, tmp_path: Path) -> None:
    status, shown = run("eval", "--judge", "longer", "--reference", "lnger", "--path", data, "--out", tmp_path / "out")
    assert (status, "--reference 'lnger' names no judge of this evaluation; did you mean 'longer'" in shown) == (
        2,
        True,
    )
    assert not (tmp_path / "out").exists()


def test_published_outputs_are_compared_with_the_reference(tmp_path: Path) -> None:
    row = {
        "source": "mmlu-pro-law", "question": "?", "response_model": "m", "response_A": "x", "response_B": "y",
        "pair_id": "1", "label": "A>B", "judge_name": "j", "judgments": [{"judgment": {}, "decision": "A>B"}],
    }  # fmt: skip
    files = [write_lines(tmp_path / f"{name}.jsonl", [row]) for name in "abc"]
    named = [word for file in files for word in ("--predictions", file)]
    words = ["eval", "--benchmark", "judgebench", "--path", files[0], *named, "--out", tmp_path / "out"]
    status, shown = run(*words, "--reference", "c")
    assert status == 0, shown
    assert [(d["a"], d["b"]) for d in read_summary(tmp_path / "out")["differences"]] == [("a", "c"), ("b", "c")]


def test_the_table_of_shared_items_names_its_judges(evaluated: Path) -> None:
    [shared] = [grid for grid in grids(read_summary(evaluated)) if grid.title == "Items that all judges get alike"]
    assert shared.note.endswith("all 4 of these get wrong, and right: longer, evidence, random, always-a.")


def test_the_line_of_chance_is_that_of_the_random_judge(evaluated: Path) -> None:
    """Where a vote in each order must be right, a coin reaches about a quarter, and no line stands at one half."""
    page, summary = (evaluated / "report.html").read_text(), read_summary(evaluated)
    chance = next(row["accuracy"] for row in summary["rows"] if row["name"] == "random")
    rows = {"x": {"": Estimate(0.3, 0.2, 0.4)}}
    at = 10 + chance * 320
    assert whisker_chart("t", rows, {"": 0}, dashed=chance).count(f'<line class="rule half" x1="{at:.1f}"') == 1
    assert "rule half" not in whisker_chart("t", rows, {"": 0})
    assert page.count(f'<line class="rule half" x1="{at:.1f}"') == 1
    assert "The dashed line is the accuracy of `random`." in page
    assert "one half" not in page
    summary = summary | {"rows": [row for row in summary["rows"] if row["name"] != "random"], "differences": []}
    board = leaderboard([Judged(evaluated, summary, {})])
    assert board is not None
    assert "rule half" not in board.figures[0].svg


def test_scores_of_texts_rank_systems_and_no_judge(tmp_path: Path) -> None:
    texts = [
        {"id": f"{n}", "instruction": f"Write {n}.", "response": f"A {word} text.", "system": system}
        for n in range(3)
        for system, word in (("fine", "good"), ("poor", "dull"))
    ]
    write_lines(tmp_path / "texts.jsonl", texts)
    (tmp_path / "rubric.json").write_text(json.dumps([{"question": "Is it right?"}]))
    with FakeLLMServer(scripted_answer) as server:
        judges = [
            word for name in ("kind", "strict") for word in ("--judge", f"{name}=checklist@{server.url}/v1#{name}")
        ]
        words = ["--benchmark", "checklist", "--path", tmp_path / "texts.jsonl", "--subset", tmp_path / "rubric.json"]
        status, shown = run("eval", *judges, *words, "--out", tmp_path / "eval")
    assert status == 0, shown
    summary = read_summary(tmp_path / "eval")
    assert summary["differences"] == []
    assert leaderboard([Judged(tmp_path / "eval", summary, {})]) is None
    [table] = system_grids(summary)
    assert table.columns == ("system", "kind", "strict")
    means = {row[0]: [cell.value for cell in row[1:] if isinstance(cell, Estimate)] for row in table.rows}
    assert means.keys() == {"fine", "poor"}
    assert means["fine"] == [summary["rows"][0]["by_system"]["fine"]["accuracy"]] * 2
    assert all("accuracy" not in grid.columns and "Accuracy" not in grid.title for grid in grids(summary))
    assert "a higher one makes no better judge" in shown
    assert "number of texts" in shown
    status, shown = run("report", tmp_path / "eval", "--out", tmp_path / "r.html", "--markdown", tmp_path / "r.md")
    assert status == 0, shown
    assert (tmp_path / "r.md").read_text().startswith("| system | ")
    page = (tmp_path / "r.html").read_text()
    assert "Mean score by system (checklist)" in page
    assert "Bold: the best" not in page
    status, shown = run("rate", tmp_path / "eval", "--out", tmp_path / "rating")
    assert status == 2
    assert "the most generous judge would win" in shown


def test_systems_of_several_folders_share_a_table() -> None:
    def folder(name: str, **systems: float) -> Judged:
        parts = {
            system: {"n": 4, "invalid": 1, "accuracy": value, "ci95": [0.0, 1.0]} for system, value in systems.items()
        }
        rows = [{"name": "j", "by_system": parts}]
        return Judged(Path(name), {"benchmark": "b", "rates_texts": True, "rows": rows}, {})

    [grid] = _text_grids([folder("one", fine=0.5, poor=0.25), folder("two", fine=0.75, dull=0.0)])
    shown = {row[0]: str(row[1]) for row in grid.rows}
    assert shown == {
        "fine": "0.50 [0.00, 1.00] (3)", "poor": "0.25 [0.00, 1.00] (3)", "two/fine": "0.75 [0.00, 1.00] (3)",
        "dull": "0.00 [0.00, 1.00] (3)",
    }  # fmt: skip
    assert _text_grids([Judged(Path("x"), {"rows": [{"name": "j"}]}, {})]) == []


def pair_item(number: int, first: str, second: str) -> Item:
    return Item(item_id=f"{number}", cluster_id=f"{number}", instruction="Which?", candidates=(first, second), gold="A")


def test_items_with_equal_texts_are_noted(tmp_path: Path) -> None:
    def notes(*items: Item) -> Any:
        return what_it_says(LoadedBenchmark(list(items))).get("notes")

    assert notes(pair_item(1, "a", "b")) is None
    [note] = notes(pair_item(1, "a", "a"), pair_item(2, "a", "b"))
    assert note == "1 item of 2 has candidates with the same text: a judge that prefers one of them guesses"
    row = {"source": "mmlu-pro-law", "response_model": "m", "response_A": "x", "response_B": "x", "label": "A>B"}
    file = write_lines(tmp_path / "p.jsonl", [row | {"pair_id": f"p{n}", "question": f"q{n}"} for n in range(2)])
    words = ["--benchmark", "judgebench", "--judge", "random", "--path", file, "--out", tmp_path / "eval"]
    assert "note: 2 items of 2 have candidates with the same text" in run("eval", *words)[1]
    assert "2 items of 2 have candidates with the same text" in (tmp_path / "eval" / "report.html").read_text()
    shown = run("report", tmp_path / "eval", "--out", tmp_path / "r.html")[1]
    assert "note: eval: 2 items of 2 have candidates with the same text" in shown
