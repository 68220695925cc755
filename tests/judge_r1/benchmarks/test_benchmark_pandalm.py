from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import accuracy, percent, write

from judge_r1.benchmarks.pandalm import load, predictions
from judge_r1.core.errors import JudgeError
from judge_r1.files.tabular import BadTable


def item(idx: int, *votes: int, **more: Any) -> dict[str, Any]:
    return {
        "idx": idx,
        "motivation_app": "Gmail",
        "cmp_key": "a_b",
        "instruction": "Shorten it.",
        "input": "a long text",
        "response1": "one two",
        "response2": "one",
        **{f"annotator{number}": vote for number, vote in enumerate(votes, 1)},
        **more,
    }


def result(idx: int, answers: int | str) -> dict[str, Any]:
    return {"idx": idx, "judge_result": answers, "judge_reason": ""}


def test_three_different_votes_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=r"row 1: column 'annotator3' differs from the two other votes"):
        load(write(tmp_path / "testset-v1.json", [item(0, 0, 1, 2)]), None)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([result(0, 1)], r"judge\.json has no result for 1 item, such as idx 1"),
        ([result(0, 1), result(0, 1)], "row 2: column 'idx' 0 occurs twice in the file"),
        ([result(7, 1)], "row 1: column 'idx' 7 is not an item of"),
        ([{"idx": 0, "answer": 1}], "..._result' is missing"),
    ],
)
def test_incomplete_results_are_reported(answers: list[dict[str, Any]], message: str, tmp_path: Path) -> None:
    data = write(tmp_path / "testset-v1.json", [item(0, 1, 1, 1), item(1, 1, 1, 1)])
    with pytest.raises(JudgeError, match=message):
        predictions(data, write(tmp_path / "judge.json", answers), None)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "right", "macro", "decided", "unread"),
    [("gpt-3.5-turbo", 69.77, 52.74, 77.40, 25), ("pandalm-7b", 66.77, 57.43, 71.03, 0)],
)
def test_published_accuracy_is_reproduced(
    name: str, right: float, macro: float, decided: float, unread: int, real_data: Path
) -> None:
    from sklearn.metrics import f1_score

    folder = real_data / "pandalm"
    results = predictions(folder, folder / "data" / f"{name}-testset-v1.json", None)
    extra = load(folder, None).metrics(results)
    assert percent(results) == right
    assert sum(not o.valid for o in results) == unread
    assert round(100 * extra["macro F1"], 2) == macro
    gold, answers = [o.gold for o in results], [getattr(o.verdict, "winner", "none") for o in results]
    assert extra["macro F1"] == pytest.approx(f1_score(gold, answers, labels=["A", "B", "tie"], average="macro"))
    assert extra["non-tie"] == accuracy([o for o in results if o.gold != "tie"])
    assert round(100 * extra["non-tie"], 2) == decided
