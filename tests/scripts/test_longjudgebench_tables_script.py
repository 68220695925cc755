import io
import sys
from pathlib import Path

import pytest
from longjudgebench_factories import TextJudge, synthetic_checkout
from rich.console import Console

import judge_r1.models
from judge_r1.benchmarks.longjudgebench.benchmark import load, predictions, read_queries
from judge_r1.benchmarks.longjudgebench.subset import parse_subset
from judge_r1.evaluation.runner import evaluate
from judge_r1.judges.panel import JudgePanel
from scripts import longjudgebench_tables


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_checkout(tmp_path_factory.mktemp("checkout"))


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["longjudge.py", *map(str, arguments)])
    longjudgebench_tables.main()


def test_the_table_of_baselines(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "baselines", "--path", root)
    output = capsys.readouterr().out
    assert "| DR | 50 | 2 | 2 | 200 | 4 |" in output
    assert "| DR | fixed order of systems (fitted on gold) | 2 | 1.0000 [" in output
    assert "| DR | longest | 2 |" in output
    assert "| MA | always tie | 2 | 0.0000 [" in output  # the third pair is a tie in the gold


def test_traces_become_lines_that_are_binned_by_length(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = JudgePanel("row", (TextJudge(lambda request: '{"preferred_insights_consistency": "A"}'),))
    evaluate(row, load(root, "ma"), out=tmp_path / "out", resume=False, console=Console(file=io.StringIO()))
    file = tmp_path / "ma.jsonl"
    run(
        monkeypatch,
        "lines",
        "--path",
        root,
        "--subset",
        "ma",
        "--traces",
        tmp_path / "out",
        "--row",
        "row",
        "--out",
        file,
    )
    assert capsys.readouterr().out == "6 lines\n"
    longjudgebench_tables.print_bins(read_queries(root, parse_subset("ma")), predictions(root, file, "ma"), len)
    assert "| 0-3000 | 4 | 0.5000 |\n| 3000-8000 | 0 | – |" in capsys.readouterr().out


def test_prompts_are_counted(root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    tiny = Path(judge_r1.models.__path__[0]) / "tiny"
    for subset, requests in (("ma", 6), ("surge:search", 24)):
        run(monkeypatch, "prompts", "--path", root, "--subset", subset, "--model", tiny)
        output = capsys.readouterr().out
        assert f": {requests} requests, median " in output


def test_a_mistake_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match=r"error: .*ma_reference\.jsonl is missing: point --path at a checkout"):
        run(monkeypatch, "baselines", "--path", tmp_path, "--subset", "ma")
