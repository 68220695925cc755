from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import accuracy, run_baseline, write

from judge_r1.benchmarks.base import IN_PATH, BadBenchmark
from judge_r1.benchmarks.judgebench import load, predictions
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.folder import read_summary
from judge_r1.evaluation.pipeline import evaluate_predictions


def pair(number: int, label: str = "A>B", **more: Any) -> dict[str, Any]:
    return {
        "pair_id": f"p{number}",
        "original_id": number,
        "source": "mmlu-pro-law",
        "question": f"question {number}",
        "response_model": "gpt",
        "response_A": "one two three",
        "response_B": "one",
        "label": label,
        **more,
    }


def judged(number: int, *decisions: str | None, label: str = "A>B", judge: str = "arena_hard") -> dict[str, Any]:
    judgments = [{"judgment": {}, "decision": decision} for decision in decisions]
    return pair(number, label, judge_name=judge, judgments=judgments)


def test_groups_and_clusters(tmp_path: Path) -> None:
    write(tmp_path / "reasoning_subset_pair_ids.json", [{"not": "data"}])
    write(tmp_path / "data" / "gpt.jsonl", [pair(1), pair(2, "B>A", source="livebench-math", original_id=None)])
    write(tmp_path / "data" / "claude.jsonl", [pair(3, question="question 1", response_model="claude")])
    benchmark = load(tmp_path, None)
    assert [(item.item_id, item.group, item.gold) for item in benchmark.items] == [
        ("p3", "Knowledge", "A"), ("p1", "Knowledge", "A"), ("p2", "Math", "B"),
    ]  # fmt: skip
    clusters = [item.cluster_id for item in benchmark.items]
    assert clusters[0] == clusters[1] != clusters[2]
    assert [request.order for request in benchmark.requests()][:2] == [(0, 1), (1, 0)]
    assert [item.item_id for item in load(tmp_path, "Math").items] == ["p2"]
    assert [item.item_id for item in load(tmp_path, "claude").items] == ["p3"]
    assert accuracy(run_baseline("longer", benchmark)) == 2 / 3
    assert accuracy(run_baseline("always-a", benchmark)) == 0
    with pytest.raises(BadBenchmark, match="no subset 'math'; did you mean 'Math'"):
        load(tmp_path, "math")


def test_outputs_about_other_pairs_are_said_to_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are scored by the labels in their own file, whatever share of them --path holds."""
    data = write(tmp_path / "pairs.jsonl", [pair(1), pair(2)])
    for name, numbers, share in (("none", (3, 4), 0.0), ("some", (1, 3, 4, 5), 0.25), ("all", (1, 2), None)):
        outputs = write(tmp_path / f"{name}.jsonl", [judged(number, "A>B") for number in numbers])
        evaluate_predictions("judgebench", data, [outputs], None, tmp_path / name)
        (row,) = read_summary(tmp_path / name)["rows"]
        assert (row["n"], row["extra"].get(IN_PATH)) == (len(numbers), share)
        said = " ".join(capsys.readouterr().err.split())
        assert said == (
            "" if share is None else f"note: {data} holds {int(share * len(numbers))} of the {len(numbers)} items of "
            f"{name}; the labels of the others are those of its own file"
        )  # fmt: skip


def test_reward_models_have_one_vote(tmp_path: Path) -> None:
    data = write(tmp_path / "data.jsonl", [pair(1)])
    out = write(tmp_path / "out.jsonl", [judged(1, "A>B", "A>B", judge="reward_model")])
    (result,) = predictions(data, out, None)
    assert (result.score, len(result.votes)) == (1.0, 1)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (judged(1, "A>B", "B>A", label="B>A"), "'label' of pair p1 differs from the label in"),
        (judged(1, "A>>B", "B>A"), "decision must be A>B, B>A, A=B or null, not 'A>>B'"),
        (judged(1), "'judgments' must be a list of one or two judgments"),
        (judged(1, "A>B") | {"judgments": [{}]}, "'judgments' must hold objects with a decision"),
        (judged(1, "A>B") | {"source": "new-source"}, "'source' must begin with one of mmlu-pro"),
    ],
)
def test_malformed_outputs_are_reported(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    data = write(tmp_path / "data.jsonl", [pair(1)])
    with pytest.raises(JudgeError, match=message) as error:
        predictions(data, write(tmp_path / "out.jsonl", [row]), None)
    assert "out.jsonl, line 1" in str(error.value)


def test_repeated_pair_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark, match="holds item p1 twice"):
        load(write(tmp_path / "data.jsonl", [pair(1), pair(1)]), None)
