"""LongJudgeBench in the commands `eval` and `replay`: baselines, and published outputs without texts."""

import json
from pathlib import Path

import pytest

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.longjudgebench import load
from judge_r1.cli.eval import eval_
from judge_r1.cli.replay import replay
from judge_r1.core.registry import UnknownName
from judge_r1.evaluation.folder import read_summary
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.published_outputs import score_predictions
from judge_r1.evaluation.results import read_outcomes
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel


@pytest.mark.parametrize(
    ("subset", "baselines"),
    [
        (
            "ma,search=true",
            {"always first": 1 / 2, "longer": 0, "always tie": 0, "best system of each pair (fitted on gold)": 1 / 2},
        ),
        (
            "deepresearch_bench,search=true",
            {"fixed order of systems (fitted on gold)": 1, "longest": 1, "one annotator, vs the others": 1},
        ),
        ("all,search=true", {}),
    ],
)
def test_evaluation_includes_baselines(root: Path, tmp_path: Path, subset: str, baselines: dict[str, float]) -> None:
    benchmark = load(root, subset)
    evaluation = Evaluation(benchmark, tmp_path, resume=False, name="longjudgebench")
    evaluation.run(lambda: make_panel("random", JudgeBuild("", texts=benchmark.texts)))
    summary = evaluation.finish([])
    found = {row["name"]: row["accuracy"] for row in summary["rows"] if row["name"] != "random"}
    assert found == pytest.approx(baselines)
    assert all(row["settings"] == {"baseline": True} for row in summary["rows"] if row["name"] in baselines)
    assert read_summary(tmp_path).items() >= json.loads(json.dumps(summary)).items()


def test_sets_and_queries_that_are_left_out_are_named(root: Path, tmp_path: Path) -> None:
    (root / "data_standardized" / "wp_bench.jsonl").rename(tmp_path / "wp_bench.jsonl")
    try:
        notes = load(root, "all").notes
    finally:
        (tmp_path / "wp_bench.jsonl").rename(root / "data_standardized" / "wp_bench.jsonl")
    assert any(("left out" in note and "WP" in note) or "the set wp_bench is left out" in note for note in notes), notes
    assert not any("wp" in note.lower() for note in load(root, "all").notes)
    assert load(root, "wp_bench").notes == []


def test_predictions_without_texts(root: Path, tmp_path: Path) -> None:
    (root / "data_standardized" / "wp_bench.jsonl").rename(tmp_path / "wp_bench.jsonl")
    file = tmp_path / "judge.jsonl"
    file.write_text(
        json.dumps(
            {
                "data_id": "p0",
                "response_a": "bad0",
                "response_b": "good0",
                "judge_result": {"preferred_response": "B", "swap_position": "swapped", "debiased": True},
            }
        )
    )
    try:
        row = score_predictions("longjudgebench", root, [file], "wp_bench")["rows"][0]
    finally:
        (tmp_path / "wp_bench.jsonl").rename(root / "data_standardized" / "wp_bench.jsonl")
    assert (row["name"], row["n"], row["accuracy"]) == ("judge", 4, 1 / 8)
    assert row["extra"]["invalid"] == 7 / 8
    assert row["extra"]["released"] == 1


def test_replay_reproduces_the_summary(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    eval_(judge=["random"], path=root, out=tmp_path / "eval", benchmark="longjudgebench", subset="ma,search=true")
    original = json.loads((tmp_path / "eval" / "summary.json").read_text())
    assert (original["benchmark"], original["subset"]) == ("longjudgebench", "ma,search=true")
    assert list(read_outcomes(tmp_path / "eval")) == [row["name"] for row in original["rows"]]
    capsys.readouterr()
    eval_(judge=["longer"], path=root, out=tmp_path / "eval", benchmark="longjudgebench", subset="ma,search=true")
    assert "also holds random, which this summary omits" in capsys.readouterr().err
    (tmp_path / "eval" / "summary.json").write_text(json.dumps(original))
    replay(tmp_path / "eval", path=root, out=tmp_path / "again")
    assert read_summary(tmp_path / "again") | {"digest": original["digest"]} == original


def test_unknown_judge_stops_before_evaluation(root: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'random'"):
        eval_(
            judge=["longer", "randm"],
            path=root,
            out=tmp_path / "eval",
            benchmark="longjudgebench",
            subset="ma,search=true",
        )
    assert not (tmp_path / "eval").exists()


def test_folder_without_pairs_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark, match=r"holds no pairs\.jsonl: give --path"):
        eval_(judge=["longer"], path=tmp_path, out=tmp_path / "eval")
