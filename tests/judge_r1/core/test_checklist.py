"""Checklists, their weighted score, and the files that they are read from."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from judge_r1.core.checklist import LEVELS, Checklist, Criterion, weighted_score
from judge_r1.core.errors import JudgeError
from judge_r1.files.rubric_file import checklist_for, read_rubric

WEIGHTS = st.lists(st.floats(0.01, 100), min_size=1, max_size=9)


@given(WEIGHTS, st.data())
def test_with_positive_weights_the_score_is_the_weighted_mean(weights: list[float], data: st.DataObject) -> None:
    scores = data.draw(st.lists(st.sampled_from(LEVELS), min_size=len(weights), max_size=len(weights)))
    expected = sum(w * s for w, s in zip(weights, scores, strict=True)) / sum(weights)
    assert weighted_score(weights, scores) == pytest.approx(expected)


def test_negative_weights_deduct_and_the_score_stays_in_range() -> None:
    assert weighted_score([2, 2, -1], [1, 0, 0]) == 0.5
    assert weighted_score([2, 2, -1], [1, 0, 1]) == 0.25
    assert weighted_score([1, -5], [1, 1]) == 0.0
    with pytest.raises(ValueError, match="no weight is positive"):
        weighted_score([-1.0], [1.0])


def test_a_checklist_refuses_weights_that_mean_nothing() -> None:
    with pytest.raises(ValidationError, match="must not be 0"):
        Criterion(question="Is it?", weight=0)
    with pytest.raises(ValidationError, match="no criterion has a positive weight"):
        Checklist.of(["Is it?"], [-1])
    with pytest.raises(ValidationError, match="at least two different choices"):
        Criterion(question="Is it?", choices=("yes",))


def test_the_digest_changes_with_weights_and_choices() -> None:
    one = Checklist.of(["Is it?"])
    assert one.digest == Checklist.of(["Is it?"], [1.0]).digest
    assert one.digest != Checklist.of(["Is it?"], [2.0]).digest
    assert one.digest != Checklist(criteria=(Criterion(question="Is it?", choices=("no", "yes")),)).digest


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("plain.json", ["Is it?", "Was it?"], [("Is it?", 1.0, 0), ("Was it?", 1.0, 0)]),
        (
            "own.json",
            {"criteria": [{"question": "Is it?", "weight": -2}, "Was it?"]},
            [("Is it?", -2, 0), ("Was it?", 1, 0)],
        ),
        ("verifiers.json", {"criteria": [{"name": "a", "text": "Is it?", "weight": 3}]}, [("Is it?", 3, 2)]),
        (
            "verifiers-choices.json",
            [{"name": "a", "text": "Is it?", "choices": ["bad", "fair", "good"]}],
            [("Is it?", 1, 3)],
        ),
        (
            "healthbench.json",
            {"rubrics": [{"criterion": "Names it", "points": 7, "tags": []}, {"criterion": "Errs", "points": -4}]},
            [("Names it", 7, 0), ("Errs", -4, 0)],
        ),
        ("rar.json", [{"title": "t", "description": "Is it?", "weight": 5}], [("Is it?", 5, 0)]),
    ],
)  # fmt: skip
def test_public_layouts_are_read(name: str, content: object, expected: list[object], tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(json.dumps(content))
    (found,) = read_rubric(file).values()
    assert [(c.question, c.weight, len(c.choices)) for c in found.criteria] == expected


def test_yaml_toml_and_categories_are_read(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("criteria:\n- question: Is it?\n  weight: 2\n")
    assert read_rubric(tmp_path / "r.yaml")[""].weights == (2.0,)
    (tmp_path / "r.toml").write_text('[[criteria]]\nname = "a"\ntext = "Is it?"\nchoices = ["no", "yes"]\n')
    assert read_rubric(tmp_path / "r.toml")[""].criteria[0].levels == (0.0, 1.0)
    (tmp_path / "c.json").write_text(json.dumps({"chat": ["Is it?"], "book": ["Was it?"]}))
    rubric = read_rubric(tmp_path / "c.json")
    assert checklist_for(rubric, "book", "here").questions == ("Was it?",)
    with pytest.raises(JudgeError, match="here: the rubric has no category 'song'; it has book, chat"):
        checklist_for(rubric, "song", "here")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "holds no list of criteria"),
        ([], "lists no criterion"),
        ([3], "criterion 1 must be a text or an object, not int"),
        ([{"weight": 1}], "criterion 1 has no question: give one of question, text, criterion, description"),
        ([{"question": "a", "text": "b"}], "criterion 1 has question and text: keep one of them"),
        ([{"question": "a", "weight": 1, "points": 1}], "has weight and points"),
        ([{"question": "a", "weight": "heavy"}], "criterion 1: field weight"),
        ([{"question": "a", "weigth": 2}], "criterion 1 has 'weigth'; did you mean 'weight'?"),
        ({"criteria": ["a"], "rubrics": ["b"]}, "has criteria and rubrics: keep one of them"),
        ([{"question": "a", "weight": -1}], "no criterion has a positive weight"),
        ({"chat": [{"question": " "}]}, "category 'chat', criterion 1: field question"),
    ],
)
def test_a_bad_rubric_is_one_sentence(content: object, message: str, tmp_path: Path) -> None:
    file = tmp_path / "rubric.json"
    file.write_text(json.dumps(content))
    with pytest.raises(JudgeError, match=r"rubric\.json") as error:
        read_rubric(file)
    assert message in str(error.value)


def test_choices_that_yaml_reads_as_booleans_are_said_to_need_quotes(tmp_path: Path) -> None:
    file = tmp_path / "rubric.yaml"
    file.write_text("- {question: Is it so, choices: [no, yes]}\n")
    with pytest.raises(JudgeError, match=r'criterion 1: a choice is true or false.* write "yes" and "no"'):
        read_rubric(file)
    file.write_text('- {question: Is it so, choices: ["no", "yes"]}\n')
    assert read_rubric(file)[""].criteria[0].choices == ("no", "yes")
