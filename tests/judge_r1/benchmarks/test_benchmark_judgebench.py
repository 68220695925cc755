from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import accuracy, percent, run_baseline, write

from judge_r1.benchmarks.base import IN_PATH, BadBenchmark
from judge_r1.benchmarks.judgebench import load, predictions
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.folder import read_summary
from judge_r1.evaluation.pipeline import evaluate_predictions

CATEGORIES = ("Knowledge", "Reasoning", "Math", "Coding")
OUTPUTS = "dataset=judgebench,response_model={},judge_name={},judge_model={}"
GPT, CLAUDE = "gpt-4o-2024-05-13", "claude-3-5-sonnet-20240620"


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


def test_published_decisions_count_in_both_orders(tmp_path: Path) -> None:
    """The second decision is in terms of the swapped order."""
    decisions_and_scores = {
        1: (("A>B", "B>A"), 1.0), 2: (("A>B", "A>B"), 0.0), 3: (("A>B", "A=B"), 1.0), 4: (("A=B", None), 0.0),
        5: ((None, "B>A"), 1.0), 6: ((None, None), 0.0), 7: (("A>B",), 1.0),
    }  # fmt: skip
    data = write(tmp_path / "data.jsonl", [pair(number) for number in decisions_and_scores])
    out = write(
        tmp_path / "out.jsonl", [judged(number, *decisions) for number, (decisions, _) in decisions_and_scores.items()]
    )
    results = predictions(data, out, None)
    assert [o.score for o in results] == [credit for _, credit in decisions_and_scores.values()]
    assert [o.valid for o in results] == [True] * 5 + [False, True]


def test_reward_models_have_one_vote(tmp_path: Path) -> None:
    data = write(tmp_path / "data.jsonl", [pair(1)])
    out = write(tmp_path / "out.jsonl", [judged(1, "A>B", "A>B", judge="reward_model")])
    (result,) = predictions(data, out, None)
    assert (result.score, len(result.votes)) == (1.0, 1)


def test_withheld_pairs_are_separate_clusters(tmp_path: Path) -> None:
    data = write(tmp_path / "data.jsonl", [pair(1)])
    withheld = [judged(number, "A>B", "B>A") | {"question": "[HELD OUT]"} for number in (2, 3)]
    out = write(tmp_path / "out.jsonl", [judged(1, "A>B", "B>A"), *withheld])
    results = predictions(data, out, None)
    assert len({o.cluster_id for o in results}) == 3


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


PUBLISHED = {
    OUTPUTS.format(GPT, "reward_model", "Skywork_Skywork-Reward-Gemma-2-27B.jsonl"): (
        *((59.74, 66.33, 83.93, 50.00), 64.29, 350),
    ),
    OUTPUTS.format(GPT, "arena_hard", "o1-mini-2024-09-12.jsonl"): ((65.71, 69.77, 83.33, 94.12), 73.12, 160),
    OUTPUTS.format(CLAUDE, "arena_hard", "claude-3-haiku-20240307.jsonl.gz"): ((39.73, 34.78, 23.53, 6.25), 32.56, 129),
}
"""File -> accuracy by category and overall, pairs."""


@pytest.mark.real_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_outputs_reproduce_the_accuracy(name: str, real_data: Path) -> None:
    """Skywork's numbers are from Table 3 of the paper. The others refer to the pairs of the snapshot."""
    by_category, overall, pairs = PUBLISHED[name]
    folder = real_data / "judgebench"
    results = predictions(folder, folder / "outputs" / name, None)
    assert len(results) == pairs
    assert [percent(results, category) for category in CATEGORIES] == pytest.approx(by_category, abs=0.006)
    assert percent(results) == pytest.approx(overall, abs=0.006)
