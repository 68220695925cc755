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
from judge_r1.labels.check import CheckResult, Options, check, disagreements
from judge_r1.labels.decision import parse_requirement, power
from judge_r1.labels.output import lines_of, page, write_result
from judge_r1.labels.rows import read_labels
from judge_r1.labels.verdicts import verdicts_of_file
from judge_r1.statistics.intervals import wilson_ci


def checked(path: Path, rows: list[dict[str, Any]], **options: Any) -> CheckResult:
    labels = read_labels(write_csv(path / "labels.csv", rows), **options)
    return check(labels, [verdicts_of_file(labels)])


def test_two_classes(tmp_path: Path) -> None:
    (judge,) = checked(tmp_path, rows_of(TWO_CLASSES)).judges
    values = judge.measures.values
    expected = {"agreement": 0.85, "kappa": 0.5714286, "ac1": 0.7696737, "mcc": 0.5773503, "balanced": 0.8125}
    expected |= {"alpha": 0.5720430}
    assert {name: values[name].value for name in expected} == pytest.approx(expected, abs=1e-6)
    assert values["recall[pass]"].lower == pytest.approx(0.7971999, abs=1e-6)
    assert values["recall[fail]"].lower == pytest.approx(0.5444176, abs=1e-6)
    assert values["recall[fail]"].ci95 == pytest.approx((0.5312991, 0.8881383), abs=1e-6)
    assert wilson_ci(85, 100) == pytest.approx((0.7671644, 0.9069401), abs=1e-6)
    assert wilson_ci(70, 80) == pytest.approx((0.7849720, 0.9306644), abs=1e-6)
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
    assert values["constant_half_credit"].value == pytest.approx(0.5875)
    expected = {"answered": 0.7272727, "answered_kappa": 0.5569863, "without_ties": 0.78125, "both_decide": 0.8474576}
    expected |= {"both_decide_kappa": 0.6918166}
    assert {name: values[name].value for name in expected} == pytest.approx(expected, abs=1e-6)
    assert (values["without_ties"].of, values["both_decide"].of) == (64, 59)
    assert judge.measures.constant == {"A": 0.45}
    assert judge.measures.missing == {"no label: no idea": 3}


def test_a_judge_that_always_passes(tmp_path: Path) -> None:
    (judge,) = checked(tmp_path, rows_of([("pass", "pass", 90), ("fail", "pass", 10)])).judges
    values = judge.measures.values
    expected = {"agreement": 0.9, "kappa": 0, "ac1": 0.8895028, "balanced": 0.5, "alpha": -0.0473684}
    assert {name: values[name].value for name in expected} == pytest.approx(expected, abs=1e-6)
    assert values["mcc"].value is None


@pytest.mark.parametrize(
    ("counts", "kappa", "lower"),
    [([("pass", "pass", 30), ("fail", "fail", 10)], 1, 0.7663424), ([("pass", "pass", 40)], None, None)],
)
def test_a_judge_that_is_always_right_has_an_interval(
    tmp_path: Path, counts: list[tuple[str, str, int]], kappa: float | None, lower: float | None
) -> None:
    values = checked(tmp_path, rows_of(counts)).judges[0].measures.values
    assert values["kappa"].value == kappa
    assert values["kappa"].lower == (lower if lower is None else pytest.approx(lower, abs=1e-6))
    assert values["ac1"].value == 1
    assert values["ac1"].lower is not None
    assert values["ac1"].lower < 0.95


WRITTEN = ("PPPPP", "PPPPF", "PPPFF", "FFFFF", "PPPPP", "FFFFP", "PPPPP", "PFPFP")


def test_repeats(tmp_path: Path) -> None:
    repeats = {f"i{n}": tuple(word) for n, word in enumerate(WRITTEN)}
    labels = read_labels(write_csv(tmp_path / "labels.csv", rows_of([("pass", "pass", 4), ("fail", "pass", 4)])))
    (judge,) = check(labels, [verdicts_of_file(labels).model_copy(update={"repeats": repeats})]).judges
    assert judge.measures.values["repeats"].value == pytest.approx(0.75)
    assert (judge.measures.values["repeats"].right, judge.measures.values["repeats"].of) == (4, 8)


def test_verdicts_outside_the_labels_are_named(tmp_path: Path) -> None:
    rows = [{**row, "verdict": f"word {n}" if n < 9 else row["verdict"]} for n, row in enumerate(rows_of(TRUSTED))]
    result = checked(tmp_path, rows)
    assert result.judges[0].measures.values["coverage"].right == 111
    assert "no label: word 4 1, and 4 more" in "\n".join(lines_of(result))
    (none,) = checked(tmp_path, [{**row, "verdict": "maybe"} for row in rows]).judges
    assert none.measures.values["ac1"].value == pytest.approx(-0.4545455)


def test_people_who_tie_on_every_item_are_no_gold(tmp_path: Path) -> None:
    rows = [{"id": n, "output": n, "label_a": "pass", "label_b": "fail", "verdict": "pass"} for n in range(9)]
    with pytest.raises(JudgeError, match="people tie on every item"):
        checked(tmp_path, rows)


def test_each_compares_with_every_person(tmp_path: Path) -> None:
    rows = [{"id": n, "output": n, "label_a": "pass", "label_b": "fail" if n < 5 else "pass", "label_c": "pass",
             "verdict": "pass"} for n in range(20)]  # fmt: skip
    labels = read_labels(write_csv(tmp_path / "labels.csv", rows))
    (most,) = check(labels, [verdicts_of_file(labels)]).judges
    (each,) = check(labels, [verdicts_of_file(labels)], options=Options(each=True)).judges
    assert most.measures.values["agreement"].value == 1
    assert each.measures.values["agreement"].value == pytest.approx(55 / 60)
    assert (each.measures.items, each.measures.clusters) == (20, 20)


def test_people_who_do_not_agree_decide_nothing(tmp_path: Path) -> None:
    rows = rows_of(TRUSTED)
    own = [{**row, "label_b": "pass" if n % 2 else "fail"} for n, row in enumerate(rows)]
    for row in own:
        row["label_a"] = row.pop("label")
    (judge,) = checked(tmp_path, own).judges
    assert (judge.decision.word, judge.decision.because) == (
        "undecided", "people do not agree with each other: fix the rule first"
    )  # fmt: skip


def test_numbers_are_measured_by_distance(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    gold = rng.random(80).round(3)
    ben, given = ((gold + rng.normal(0, 0.05, 80)).round(4) for _ in range(2))
    rows = [
        {"id": n, "output": "x" * (1 + n), "label_ana": gold[n], "label_ben": ben[n], "verdict": given[n]}
        for n in range(80)
    ]
    labels = read_labels(write_csv(tmp_path / "labels.csv", rows))
    required = [parse_requirement("spearman>=0.8"), parse_requirement("mae<=0.1")]
    result = check(labels, [verdicts_of_file(labels)], requirements=required)
    (judge,) = result.judges
    assert judge.measures.values["spearman"].ci95 is not None
    assert judge.measures.people is not None
    assert (judge.measures.people["fleiss"], judge.measures.people["ac1"]) == (None, None)
    top = judge.measures.people["ceiling"]
    assert top["judge_mean"] == pytest.approx(-(np.abs(given - gold) + np.abs(given - ben)).mean() / 2)
    assert judge.decision.word == "trusted"
    assert f"; {min(judge.measures.base_rates, key=float)} to " in next(lines_of(result))


@pytest.mark.parametrize("words", [("pass", "fail"), ("1", "3"), ("0.25", "0.5")])
def test_people_who_never_differ_have_an_interval_of_alpha_below_one(tmp_path: Path, words: tuple[str, str]) -> None:
    """irrCAC 0.4.4 gives (1, 1); a bootstrap of the items, too."""
    rows = [
        {
            "id": n,
            "input": n,
            "output": "x",
            **dict.fromkeys(("label_a", "label_b", "label_c", "verdict"), words[n % 2]),
        }
        for n in range(12)
    ]
    (judge,) = checked(tmp_path, rows).judges
    people = judge.measures.people
    assert people is not None
    assert people["alpha"] == 1
    low, high = people["alpha_ci95"]
    # of 12 items at least .757 are alike at 95 % (Wilson); with chance at 12/23 or less that is about one half
    assert 0.4 < low < 0.6
    assert (people["alpha_lower"], high) == (low, 1)


def test_longer_outputs_that_are_judged_worse(tmp_path: Path) -> None:
    rows = [
        {"id": n, "output": "x" * (9 if n % 2 else 1), "label": "pass" if n < 20 else "fail",
         "verdict": "pass" if n % 2 or n < 20 else "fail"}
        for n in range(40)
    ]  # fmt: skip
    (judge,) = checked(tmp_path, rows).judges
    gap = judge.measures.values["length_gap"]
    assert gap.value == pytest.approx(-0.5)
    assert gap.ci95 is not None
    assert gap.ci95[1] < 0


def test_equal_inputs_are_one_cluster_and_the_note_says_how_to_part_them(tmp_path: Path) -> None:
    rows = [{**row, "input": "Is it helpful?"} for row in rows_of(TRUSTED)]
    (judge,) = checked(tmp_path, rows).judges
    assert any("items with equal input are one cluster" in note for note in judge.measures.notes)
    (apart,) = checked(tmp_path, rows, columns={"id": "id", "cluster": "id"}).judges
    assert apart.decision.word == "trusted"


def test_a_scale_goes_by_value(tmp_path: Path) -> None:
    rows = [
        {"id": n, "input": n, "output": "x", "rating": h, "verdict": j}
        for n, (h, j) in enumerate(zip(HUMAN, JUDGE, strict=True))
    ]
    result = checked(tmp_path, rows, scale=(1, 5))
    values = result.judges[0].measures.values
    expected = {"linear_kappa": 0.7486034, "quadratic_kappa": 0.8173913, "mae": 0.45, "bias": 0.05, "agreement": 0.75}
    expected |= {"spearman": 0.8062258, "tau_b": 0.7568075, "alpha": 0.8086694}
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
    labels = read_labels(tmp_path / "labels.csv")
    given = verdicts_of_file(labels)
    shown = page(check(labels, [given]), labels)
    assert shown.index("p0 - p1") < shown.index("p1 - all others") < shown.index("p0 - all others")


def test_requirements_are_parsed_and_unknown_ones_refused(tmp_path: Path) -> None:
    labels = read_labels(write_csv(tmp_path / "labels.csv", rows_of(TRUSTED)))
    given = verdicts_of_file(labels)
    strict = check(labels, [given], requirements=[parse_requirement("recall[fail] >= 0.99")])
    assert strict.judges[0].decision.word == "undecided"
    with pytest.raises(JudgeError, match=r"the measures are .*: run again with --resume"):
        check(labels, [given], requirements=[parse_requirement("recal>=0.9")])
    for wrong in ("kappa", "kappa<=0.5", "|bias|>=1"):
        with pytest.raises(JudgeError, match="must read"):
            parse_requirement(wrong)
    with pytest.raises(JudgeError, match=r"kappas are at most 1, such as 0\.8; an error is required as"):
        parse_requirement("kappa>=60")
    assert parse_requirement("mae<=5").threshold == 5


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
    write_result(tmp_path / "out", result, labels)
    assert CheckResult.model_validate_json((tmp_path / "out" / "labels.json").read_text()) == result
    rows = list(csv.DictReader((tmp_path / "out" / "disagreements.csv").open()))
    assert [row["id"] for row in rows] == disagreements(result, result.judges[0])
    assert len(rows) == 15
    page = (tmp_path / "out" / "report.html").read_text()
    assert "undecided" in page
    assert '<a href="#judge-0-fail-pass">5</a>' in page
    assert 'id="judge-0-fail-pass"' in page
    assert f"{rows[0]['id']} — {rows[0]['output']} — human: " in page


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
    planned = run("check", file, "--dry-run", "--require", "kappa>=0.7")
    assert "requirements: kappa >= 0.7\n" in planned.output
    assert json.loads((tmp_path / "out" / "labels.json").read_text())["labels"]["clusters"] == 120


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "give --judge SPEC"),
        (["--verdicts", "verdict", "--repeats", "3"], "--repeats is for a judge"),
        (["--verdicts", "verdict"], "give --out"),
        (["--dry-run", "--require", "recal>=0.9"], "--require recal: the measures are agreement, "),
        (["--judge", "longer", "--require", "recal>=0.9", "--out", "x"], "--require recal: the measures are"),
        (["--verdicts", "verdict", "--scale", "1-5", "--out", "x"], "--scale is for whole numbers"),
        (["--verdicts", "mark", "--out", "x"], "no column 'mark'"),
        (["--verdicts", "verdict", "--scale", "5", "--out", "x"], "LOW-HIGH"),
        (["--verdicts", "verdict", "--columns", "label", "--out", "x"], "OURS=YOURS"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, options: list[str], said: str) -> None:
    found = run("check", write_csv(tmp_path / "labels.csv", rows_of(TRUSTED)), *options)
    assert found.exit_code == 2
    assert said in found.output
