"""Checks of verdicts in a file: measures and decisions on cases with known values."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from label_factories import HUMAN, JUDGE, PEOPLE, TRUSTED, TWO_CLASSES, VERDICTS, rows_of, write_csv
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.labels.check import CheckResult, check, disagreements
from judge_r1.labels.decision import parse_requirement, power
from judge_r1.labels.output import write_result
from judge_r1.labels.rows import read_labels
from judge_r1.labels.verdicts import verdicts_of_file


def checked(path: Path, rows: list[dict[str, Any]], **options: Any) -> CheckResult:
    labels = read_labels(write_csv(path / "labels.csv", rows), **options)
    return check(labels, [verdicts_of_file(labels)])


def test_two_classes(tmp_path: Path) -> None:
    (judge,) = checked(tmp_path, rows_of(TWO_CLASSES)).judges
    values = judge.measures.values
    expected = {"agreement": 0.85, "kappa": 0.5714286, "ac1": 0.7696737, "mcc": 0.5773503, "balanced": 0.8125}
    assert {name: values[name].value for name in expected} == pytest.approx(expected, abs=1e-6)
    assert values["recall[pass]"].lower == pytest.approx(0.7971999, abs=1e-6)
    assert values["recall[fail]"].lower == pytest.approx(0.5444176, abs=1e-6)
    assert values["recall[fail]"].ci95 == pytest.approx((0.5312991, 0.8881383), abs=1e-6)
    assert judge.measures.constant == {"pass": 0.8}
    assert judge.measures.constant_p == pytest.approx(0.4244, abs=0.01)
    assert judge.decision.word == "undecided"
    assert [one.hint for one in judge.decision.checked][:2] == [
        "about 26 more labels of 'pass'",
        "the value itself is not above it: more labels will rather end in not trusted",
    ]


def test_a_good_judge_is_trusted_and_a_constant_one_is_not(tmp_path: Path) -> None:
    (good,) = checked(tmp_path, rows_of(TRUSTED)).judges
    assert (good.decision.word, good.decision.because) == ("trusted", "all requirements are met")
    (constant,) = checked(tmp_path, rows_of([("pass", "pass", 60), ("fail", "pass", 60)])).judges
    assert constant.decision.word == "not trusted"
    assert any("constant judge" in note for note in constant.measures.notes)


@pytest.mark.parametrize(
    ("counts", "because"),
    [
        ([("pass", "pass", 10), ("fail", "fail", 9)], "19 labelled items"),
        ([("pass", "pass", 40), ("fail", "fail", 4)], "4 labels of 'fail'"),
        ([("pass", "pass", 48), ("pass", "fail", 2)], "0 labels of 'fail'"),
    ],
)
def test_few_labels_decide_nothing(tmp_path: Path, counts: list[tuple[str, str, int]], because: str) -> None:
    (judge,) = checked(tmp_path, rows_of(counts)).judges
    assert judge.decision.word == "undecided"
    assert because in judge.decision.because


def test_one_class_has_no_kappa(tmp_path: Path) -> None:
    (judge,) = checked(tmp_path, rows_of([("pass", "pass", 48), ("pass", "fail", 2)])).judges
    values = judge.measures.values
    assert (values["agreement"].value, values["recall[pass]"].value) == (0.96, 0.96)
    assert (values["kappa"].value, values["recall[fail]"].value) == (None, None)


def test_pairs_with_ties_and_abstentions(tmp_path: Path) -> None:
    table = {"A": (28, 4, 3, 1), "B": (5, 22, 2, 1), "tie": (4, 3, 6, 1)}
    rows = []
    for label, counts in table.items():
        for verdict, count in zip(("A", "B", "tie", "no idea"), counts, strict=True):
            for _ in range(count):
                n = len(rows)
                rows.append({"id": n, "input": n, "a": f"{n}x", "b": f"{n}y", "label": label, "verdict": verdict})
    (judge,) = checked(tmp_path, rows).judges
    values = judge.measures.values
    assert values["agreement"].value == pytest.approx(0.7)
    assert values["kappa"].value == pytest.approx(0.5252226, abs=1e-6)
    assert values["coverage"].right == 77
    assert values["half_credit"].value == pytest.approx(0.775)
    assert judge.measures.missing == {"no label: no idea": 3}


def test_a_scale_goes_by_value(tmp_path: Path) -> None:
    rows = [
        {"id": n, "input": n, "output": "x", "rating": h, "verdict": j}
        for n, (h, j) in enumerate(zip(HUMAN, JUDGE, strict=True))
    ]
    result = checked(tmp_path, rows, scale=(1, 5))
    values = result.judges[0].measures.values
    expected = {"linear_kappa": 0.7486034, "quadratic_kappa": 0.8173913, "mae": 0.45, "bias": 0.05, "agreement": 0.75}
    expected |= {"spearman": 0.8062258, "tau_b": 0.7568075}
    assert {name: values[name].value for name in expected} == pytest.approx(expected, abs=1e-6)
    assert any("nobody used the level 3, 4" in note for note in result.labels.notes)


def test_several_people_give_a_ceiling_and_the_alt_test(tmp_path: Path) -> None:
    words = np.where(PEOPLE == 1, "yes", "no")
    rows = [
        {"id": n, "input": n, "output": "x", **{f"label_p{p}": words[n, p] for p in range(3)},
         "verdict": "yes" if VERDICTS[n] else "no"}
        for n in range(40)
    ]  # fmt: skip
    (judge,) = checked(tmp_path, rows).judges
    people = judge.measures.people
    assert people is not None
    assert people["ceiling"]["people_mean"] == pytest.approx(0.85)
    assert people["ceiling"]["judge_mean"] == pytest.approx(0.8666667)
    assert people["ceiling"]["met"] is True
    assert people["alt_test"]["winning_rate"] == 1
    assert judge.measures.values["agreement"].value == pytest.approx(0.925)


def test_requirements_are_parsed_and_unknown_ones_refused(tmp_path: Path) -> None:
    labels = read_labels(write_csv(tmp_path / "labels.csv", rows_of(TRUSTED)))
    given = verdicts_of_file(labels)
    strict = check(labels, [given], requirements=[parse_requirement("recall[fail] >= 0.99")])
    assert strict.judges[0].decision.word == "undecided"
    with pytest.raises(JudgeError, match="the measures are"):
        check(labels, [given], requirements=[parse_requirement("recal>=0.9")])
    for wrong in ("kappa", "kappa<=0.5", "|bias|>=1"):
        with pytest.raises(JudgeError, match="must read"):
            parse_requirement(wrong)


@pytest.mark.parametrize(
    ("rate", "counts", "trusted", "refused"),
    [
        (0.95, {"pass": 50, "fail": 50}, 0.87, 0.0),
        (0.95, {"pass": 25, "fail": 25}, 0.36, 0.0),
        (0.95, {"pass": 80, "fail": 20}, 0.36, 0.0),
        (0.8, {"pass": 160, "fail": 40}, 0.0, 0.07),
    ],
)
def test_power_of_a_check(rate: float, counts: dict[str, int], trusted: float, refused: float) -> None:
    found = power(counts, 0.8, [rate])[rate]
    assert found == pytest.approx((trusted, refused), abs=0.06)


def test_files_of_a_result(tmp_path: Path) -> None:
    labels = read_labels(write_csv(tmp_path / "labels.csv", rows_of(TWO_CLASSES)))
    given = verdicts_of_file(labels)
    result = check(labels, [given])
    write_result(tmp_path / "out", result, labels, [given])
    assert CheckResult.model_validate_json((tmp_path / "out" / "labels.json").read_text()) == result
    rows = list(csv.DictReader((tmp_path / "out" / "disagreements.csv").open()))
    assert [row["id"] for row in rows] == disagreements(result, result.judges[0])
    assert len(rows) == 15
    page = (tmp_path / "out" / "report.html").read_text()
    assert "undecided" in page
    assert '<a href="#judge-0-fail-pass">5</a>' in page
    assert 'id="judge-0-fail-pass"' in page


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["labels", *map(str, arguments)])


def test_the_command_needs_no_model_for_verdicts(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "labels.csv", rows_of(TRUSTED))
    found = run("check", file, "--verdicts", "verdict", "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert "TRUSTED: all requirements are met" in found.output
    planned = run("check", file, "--dry-run", "--judge", "direct@http://localhost:1/v1#m")
    assert "360 requests" in planned.output
    assert "classes: pass 60, fail 60" in planned.output
    assert json.loads((tmp_path / "out" / "labels.json").read_text())["labels"]["clusters"] == 120


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "give --judge SPEC"),
        (["--verdicts", "verdict", "--repeats", "3"], "--repeats is for a judge"),
        (["--verdicts", "verdict"], "give --out"),
        (["--verdicts", "mark", "--out", "x"], "no column 'mark'"),
        (["--verdicts", "verdict", "--scale", "5", "--out", "x"], "LOW-HIGH"),
        (["--verdicts", "verdict", "--columns", "label", "--out", "x"], "OURS=YOURS"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, options: list[str], said: str) -> None:
    found = run("check", write_csv(tmp_path / "labels.csv", rows_of(TRUSTED)), *options)
    assert found.exit_code == 2
    assert said in found.output
