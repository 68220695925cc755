"""Through the commands' own ways: an evaluation with baselines beside it, and published outputs without texts."""

import json
from pathlib import Path

import pytest
from longjudge_toys import toy_checkout

from judge_r1.benchmarks.longjudgebench import load
from judge_r1.commands.evaluate import Evaluation
from judge_r1.evaluation.predictions import score_predictions
from judge_r1.judges import Making
from judge_r1.judges.spec import make_row


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_checkout(tmp_path_factory.mktemp("checkout"))


@pytest.mark.parametrize(
    ("subset", "baselines"),
    [
        ("ma:search", {"always first": 1 / 3, "longer": 1 / 3, "always tie": 1 / 3, "best system of each pair": 1 / 3}),
        ("deepresearch_bench:search", {"fixed order of systems": 1, "longest": 1, "one annotator, vs the others": 1}),
        ("all:search", {}),
    ],
)
def test_an_evaluation_of_a_column_carries_its_baselines(
    root: Path, tmp_path: Path, subset: str, baselines: dict[str, float]
) -> None:
    suite = load(root, subset)
    evaluation = Evaluation(suite, tmp_path, resume=False, benchmark="longjudgebench")
    evaluation.play(lambda: make_row("random", Making("", texts=suite.texts)))
    summary = evaluation.finish([])
    found = {row["name"]: row["accuracy"] for row in summary["rows"] if row["name"] != "random"}
    assert found == pytest.approx(baselines)
    assert all(row["settings"] == {"baseline": True} for row in summary["rows"] if row["name"] in baselines)
    assert json.loads((tmp_path / "summary.json").read_text()) == json.loads(json.dumps(summary))


def test_published_outputs_need_no_texts(root: Path, tmp_path: Path) -> None:
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
