"""Every `analyse` command, on a toy evaluation and toy runs."""

import json
from pathlib import Path

import pytest
from analysis_factories import answer, evaluate_judges, right, wrong
from run_factories import scaling_study
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.core.records import Turn
from judge_r1.core.verdicts import Evidence


def run(*arguments: str | Path, status: int = 0) -> str:
    result = CliRunner().invoke(app, ["analyse", *map(str, arguments)], catch_exceptions=False, env={"COLUMNS": "200"})
    assert result.exit_code == status, result.output
    return result.output


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def searches(pair, ask):  # type: ignore[no-untyped-def]
        text = ask.task.context
        shown = Evidence(case_id=pair.case_id, start=0, end=35, text=text[:35], score=1)
        found = answer(right(pair, ask), "P2: witness 0 of file")
        return found.model_copy(
            update={
                "turns": (
                    Turn(text="<search>witness paid</search>", query="witness paid", passages=(shown,)),
                    *found.turns,
                )
            }
        )

    folder = tmp_path_factory.mktemp("analyse")
    settings = {"prompt": "standard", "retriever": "bm25", "budget": {"top_k": 2, "passage_words": 8}}
    evaluate_judges(folder, {"bad": lambda p, a: answer(wrong(p, a)), "good": searches}, settings=settings)
    return folder


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("reasoning", "GRPO-8B (paper)"),
        ("class-bias", "Acc.@A"),
        ("errors", "bad → good"),
    ],
)
def test_analyses_of_an_evaluation_write_tables_and_numbers(home: Path, tmp_path: Path, kind: str, said: str) -> None:
    output = run(kind, home / "eval", "--path", home / "pairs", "--out", tmp_path)
    assert said in output
    assert said in (tmp_path / f"{kind}.md").read_text()
    assert json.loads((tmp_path / f"{kind}.json").read_text())


def test_radar_of_runs_writes_a_table_and_a_figure(tmp_path: Path) -> None:
    scaling_study(tmp_path / "study")
    run("radar", tmp_path / "study", "--out", tmp_path / "out")
    assert list((tmp_path / "out").glob("radar-*.svg"))


def test_attention_needs_a_local_model(home: Path, tmp_path: Path) -> None:
    missing = run("attention", home / "eval", "--path", home / "pairs", "--out", tmp_path, status=2)
    assert "\nerror: there is no folder toy" in missing
    evaluate_judges(tmp_path, {"rule": lambda p, a: answer("A>B")}, judge="always-a")
    rules = run("attention", tmp_path / "eval", "--path", tmp_path / "pairs", "--out", tmp_path, status=2)
    assert "none of these judges is a local model" in rules


def test_radar_of_an_unknown_judge_is_rejected(tmp_path: Path) -> None:
    scaling_study(tmp_path)
    unknown = run("radar", tmp_path, "--judge-name", "bas", "--out", tmp_path / "out", status=2)
    assert "there is no judge 'bas'; did you mean 'base'" in unknown
