"""Result files that were cut or hold lines twice: every command that reads them says so."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from factories import mini_pairs
from run_factories import toy_run
from typer.testing import CliRunner

from data_builders.build import write_pairs
from judge_r1.cli import app
from judge_r1.core.file_lock import lock_folder

Change = Callable[[list[str]], list[str]]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_pairs(mini_pairs(12), folder)
    return folder


@pytest.fixture
def evaluation(data: Path, tmp_path: Path) -> Path:
    out = tmp_path / "eval"
    words = ["eval", "--judge", "longer", "--judge", "random", "--path", str(data), "--out", str(out)]
    assert CliRunner().invoke(app, words).exit_code == 0
    return out


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(map(str, words)))
    return result.exit_code, " ".join(result.output.split())


def rescored(line: str) -> str:
    result = json.loads(line)
    return json.dumps({**result, "score": 1 - result["score"]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[: len(lines) // 4], "items, and summary.json counts"),
        (lambda lines: lines * 2, "twice"),
        (lambda lines: [*lines, lines[0]], "twice"),
        (lambda lines: [line.replace('"longer"', '"other"') for line in lines], "judge 'other' is not in summary.json"),
        (lambda lines: [rescored(line) if '"longer"' in line else line for line in lines], "another accuracy than in"),
    ],
)
def test_results_that_do_not_belong_to_the_summary_are_refused(
    change: Change, message: str, evaluation: Path, tmp_path: Path
) -> None:
    file = evaluation / "outcomes.jsonl"
    file.write_text("".join(f"{line}\n" for line in change(file.read_text().splitlines())))
    for words in (
        ("report", evaluation, "--out", tmp_path / "new" / "page.html"),
        ("rate", evaluation, "--out", tmp_path / "new"),
        ("calibrate", evaluation, "--judge-name", "random", "--out", tmp_path / "new"),
    ):
        status, shown = run(*words)
        assert status == 2, shown
        assert message in shown
        assert "outcomes.jsonl: judge" in shown
        assert not (tmp_path / "new").exists()


def test_whole_results_and_none_pass(evaluation: Path, tmp_path: Path) -> None:
    assert run("report", evaluation, "--out", tmp_path / "page.html")[0] == 0
    (evaluation / "outcomes.jsonl").unlink()
    assert run("report", evaluation, "--out", tmp_path / "page.html")[0] == 0


def test_doubled_traces_and_rows_are_refused(evaluation: Path, data: Path, tmp_path: Path) -> None:
    traces = evaluation / "traces.jsonl"
    whole = traces.read_text()
    traces.write_text(whole * 2)
    status, shown = run("analyse", "class-bias", evaluation, "--path", data, "--out", tmp_path / "an")
    assert status == 2
    assert "has more votes than the judge gives on" in shown
    traces.write_text(whole)
    assert run("analyse", "class-bias", evaluation, "--path", data, "--out", tmp_path / "an")[0] == 0
    summary = json.loads((evaluation / "summary.json").read_text())
    (evaluation / "summary.json").write_text(json.dumps({**summary, "rows": summary["rows"] * 2}))
    status, shown = run("report", evaluation, "--out", tmp_path / "page.html")
    assert status == 2
    assert "two rows have the same name" in shown


def test_metrics_of_a_run(tmp_path: Path) -> None:
    """Repeated lines are an error, and a finished run whose metrics end before it is named."""
    log = toy_run(tmp_path / "run", 20) / "metrics.jsonl"
    whole = log.read_text().splitlines(keepends=True)
    (tmp_path / "run" / "model").mkdir()
    (tmp_path / "run" / "model" / "config.json").write_text("{}")
    page = tmp_path / "page.html"
    for lines, said in ((whole, False), (whole[:2], True)):
        log.write_text("".join(lines))
        status, shown = run("report", tmp_path / "run", "--out", page)
        assert status == 0, shown
        assert ("The metrics of run end before the run does" in shown) == said
        assert ("The metrics of run end before the run does" in page.read_text()) == said
    log.write_text("".join(whole * 2))
    status, shown = run("report", tmp_path / "run", "--out", page)
    assert status == 2
    assert "metrics.jsonl has a line of step 1 twice" in shown


def test_sheets_and_selections_lock_their_folder(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for words in (("audit", "sample", data, "--out", out), ("select", data, "--rating", data, "--out", out),
                  ("stats", data, "--tokenizer", "bundled:tiny", "--out", out)):  # fmt: skip
        with lock_folder(out):
            status, shown = run(*words)
        assert status == 2
        assert f"another process is writing to {out}" in shown
        assert not list(out.iterdir())
