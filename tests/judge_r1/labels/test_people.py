"""Answers of people to one question about many texts."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.inspect_logs import Notes
from judge_r1.labels.people import answer_grids, count_answers, read_answers
from judge_r1.statistics.agreement import agreement_of_people

CSV = """annotator,id,answer,group
ana,1,no,mini
ana,1,yes,gpt-4o
ana,2,No,gpt-4o
ana,3,true,gpt-4o
ben,1,1,gpt-4o
ben,2,0.5,gpt-4o
ben,3,0,gpt-4o
"""


def written(tmp_path: Path, text: str = CSV) -> Path:
    file = tmp_path / "answers.csv"
    file.write_text(text)
    return file


def test_names_that_differ_in_white_space_alone_are_the_same(tmp_path: Path) -> None:
    counted = count_answers(read_answers([written(tmp_path, f"{CSV}ana ,2,no,mini \n")]))
    assert counted["mini"]["people"] == {"ana": 0}


def test_names_that_only_look_alike_are_refused(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="the annotators 'ana  b' and 'ana b' differ in white space alone"):
        read_answers([written(tmp_path, f"{CSV}ana b,2,no,mini\nana  b,3,no,mini\n")])


def test_labels_of_models_are_noted_and_a_group_may_be_0(tmp_path: Path) -> None:
    rows = [
        {"annotator": "ana", "id": "1", "label": "yes", "group": 0, "annotator_kind": "human"},
        {"annotator": "gpt", "id": "1", "label": "no", "group": 0, "annotator_kind": "llm"},
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    notes = Notes()
    assert list(count_answers(read_answers([tmp_path / "a.json"], notes))) == ["0"]
    assert "labels of models or code are left out" in notes[0]


def test_means_and_agreement_by_group(tmp_path: Path) -> None:
    counted = count_answers(read_answers([written(tmp_path)]))
    assert list(counted) == ["gpt-4o", "mini"]
    own = counted["gpt-4o"]
    assert (own["texts"], own["answers"]) == (3, 6)
    assert own["mean"] == pytest.approx((1 + 0 + 1 + 1 + 0.5 + 0) / 6)
    assert own["ci95"][0] < own["mean"] < own["ci95"][1]
    assert own["people"] == {"ana": pytest.approx(2 / 3), "ben": pytest.approx(0.5)}
    found = own["pairs"]["ana - ben"]
    assert (found["n"], found["equal"]) == (3, pytest.approx(1 / 3))
    assert found["pearson"] == pytest.approx(np.corrcoef([1, 0, 1], [1, 0.5, 0])[0, 1])
    assert counted["mini"]["pairs"] == {}
    groups, pairs = answer_grids(counted)
    assert groups.rows[1][0] == "mini"
    assert pairs.rows[0][:3] == ("gpt-4o", "ana - ben", "3")


@pytest.mark.parametrize(
    ("words", "mean"),
    [(("pass", "fail", "Pass"), 2 / 3), (("A", "B", "tie"), 0.5), (("good", "bad", "incorrect"), 1 / 3)],
)
def test_the_words_of_labels_are_answers(tmp_path: Path, words: tuple[str, ...], mean: float) -> None:
    rows = "".join(f"ana,{n},{word}\n" for n, word in enumerate(words))
    found = count_answers(read_answers([written(tmp_path, f"annotator,id,label\n{rows}")]))
    assert found["all"]["mean"] == pytest.approx(mean)


def test_kappa_and_people_who_share_too_little() -> None:
    one, other = [1.0, 1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 1.0]
    scores = {
        "a": dict(enumerate(one)),
        "b": dict(enumerate(other)),
        "c": {0: 1.0, 1: 1.0},
        "d": dict.fromkeys(range(5), 1.0),
    }
    found = agreement_of_people(scores)
    assert list(found) == ["a - b", "a - d", "b - d"]
    assert found["a - b"]["kappa"] == pytest.approx(cohen_kappa_score(one, other))
    assert found["a - d"]["pearson"] is None, "one side is constant"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ana,1,no,gpt-4o", "'ana' labels id '1' 'no', and 'yes' in"),
        ("ana,9,perhaps,gpt-4o", "'perhaps' is no number from 0 to 1"),
        ("ana,9,1.5,gpt-4o", "the answer '1.5'"),
        (",9,1,gpt-4o", "column 'annotator' names nobody"),
    ],
)
def test_a_bad_answer_names_its_row(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=r"answers\.csv, row 8") as error:
        read_answers([written(tmp_path, CSV + line + "\n")])
    assert message in str(error.value)


def test_the_command_writes_its_tables(tmp_path: Path) -> None:
    out = tmp_path / "agreement.json"
    result = CliRunner().invoke(app, ["agreement", str(written(tmp_path)), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "ana 0.67, ben 0.50" in result.output
    assert json.loads(out.read_text())["groups"]["mini"]["mean"] == 0
    empty = CliRunner().invoke(app, ["agreement", str(written(tmp_path, "annotator,id,answer\n"))])
    assert empty.exit_code == 2
    assert "has no rows" in empty.output
