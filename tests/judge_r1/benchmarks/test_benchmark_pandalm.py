from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import accuracy, percent, play, write

from judge_r1.benchmarks.pandalm import load, predictions
from judge_r1.core.errors import JudgeError
from judge_r1.core.tabular import BadTable


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


def result(idx: int, said: int | str) -> dict[str, Any]:
    return {"idx": idx, "toy_result": said, "toy_reason": ""}


def test_gold_is_the_majority(tmp_path: Path) -> None:
    items = [item(0, 1, 1, 2), item(1, 2, 0, 2, input="", motivation_app="Yelp"), item(2, 0, 1, 0, response1=True)]
    write(tmp_path / "data" / "testset-v1.json", items)
    suite = load(tmp_path, None)
    assert [found.gold for found in suite.items] == ["A", "B", "tie"]
    assert [found.instruction for found in suite.items][:2] == ["Shorten it.\n\na long text", "Shorten it."]
    assert suite.items[2].candidates == ("True", "one")
    assert suite.items[0].cluster_id == suite.items[2].cluster_id != suite.items[1].cluster_id
    assert [found.item_id for found in load(tmp_path, "Yelp").items] == ["1"]
    outcomes = play("longer", suite)
    assert [o.score for o in outcomes] == [1.0, 0.0, 1.0]
    assert suite.metrics(outcomes)["non-tie"] == 0.5


def test_three_different_votes_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=r"row 1: column 'annotator3' differs from the two other votes"):
        load(write(tmp_path / "testset-v1.json", [item(0, 0, 1, 2)]), None)


def test_published_result_labels(tmp_path: Path) -> None:
    data = write(tmp_path / "testset-v1.json", [item(number, 0, 0, 0) for number in range(4)])
    said = [result(3, "garbage"), result(0, "Tie"), result(1, 0), result(2, "1")]
    outcomes = predictions(data, write(tmp_path / "toy.json", said), None)
    assert [(o.item_id, o.score, o.valid) for o in outcomes] == [
        ("0", 1.0, True), ("1", 1.0, True), ("2", 0.0, True), ("3", 0.0, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([result(0, 1)], r"toy\.json has no result for 1 item\(s\), such as idx 1"),
        ([result(0, 1), result(0, 1)], "row 2: column 'idx' 0 occurs twice in the file"),
        ([result(7, 1)], "row 1: column 'idx' 7 is not an item of"),
        ([{"idx": 0, "answer": 1}], "..._result' is missing"),
    ],
)
def test_incomplete_results_are_reported(said: list[dict[str, Any]], message: str, tmp_path: Path) -> None:
    data = write(tmp_path / "testset-v1.json", [item(0, 1, 1, 1), item(1, 1, 1, 1)])
    with pytest.raises(JudgeError, match=message):
        predictions(data, write(tmp_path / "toy.json", said), None)


@pytest.mark.real_data
def test_real_items(real_data: Path) -> None:
    items = load(real_data / "pandalm", None).items
    assert (len(items), len({found.cluster_id for found in items})) == (999, 170)
    assert {gold: sum(found.gold == gold for found in items) for gold in ("A", "B", "tie")} == {
        "A": 422, "B": 472, "tie": 105,
    }  # fmt: skip


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
    outcomes = predictions(folder, folder / "data" / f"{name}-testset-v1.json", None)
    extra = load(folder, None).metrics(outcomes)
    assert percent(outcomes) == right
    assert sum(not o.valid for o in outcomes) == unread
    assert round(100 * extra["macro F1"], 2) == macro
    gold, said = [o.gold for o in outcomes], [getattr(o.verdict, "winner", "none") for o in outcomes]
    assert extra["macro F1"] == pytest.approx(f1_score(gold, said, labels=["A", "B", "tie"], average="macro"))
    assert extra["non-tie"] == accuracy([o for o in outcomes if o.gold != "tie"])
    assert round(100 * extra["non-tie"], 2) == decided
