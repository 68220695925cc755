"""Asking a scripted judge, pinning the result, and what the gate says about each change."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from fake_judge_endpoint import JudgeServer, chat_completion
from label_factories import TRUSTED, rows_of, scripted, write_csv
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.labels.check import CheckResult, check
from judge_r1.labels.gate import compare, pin
from judge_r1.labels.rows import read_labels
from judge_r1.labels.verdicts import verdicts_of_file

TEMPLATE = "Is the output helpful?\n$input\n$output\nAnswer pass or fail."
Change = Callable[[str, str], str]


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["labels", *map(str, arguments)])


class Setting:
    """A folder with a pinned judge that was asked at a scripted endpoint."""

    def __init__(self, folder: Path, rows: Sequence[dict[str, str]]) -> None:
        self.folder, self.rows = folder, [{k: v for k, v in row.items() if k != "verdict"} for row in rows]
        self.labels = write_csv(folder / "labels.csv", self.rows)
        (folder / "prompt.txt").write_text(TEMPLATE)
        self.prompt = folder / "prompt.txt"

    def spec(self, url: str, options: str = "") -> str:
        return f"judge=prompt:file={self.prompt},answers=pass/fail{options}@{url}#toy"

    def check(self, change: Change | None = None, *more: object) -> Any:
        with scripted(change or (lambda prompt, word: word)) as server:
            return run("check", self.labels, "--judge", self.spec(server.url), "--out", self.folder / "out", *more)

    def pin(self, *more: object) -> Any:
        return run("pin", self.folder / "out", "--out", self.folder / "gate.json", *more)

    def gate(self, *more: object, change: Change | None = None, options: str = "", model: str = "toy-2026") -> Any:
        with scripted(change or (lambda prompt, word: word), model) as server:
            spec = self.spec(server.url, options)
            out = self.folder / f"gate{len(list(self.folder.iterdir()))}"
            return run("gate", self.folder / "gate.json", "--labels", self.labels, "--judge", spec, "--out", out, *more)


@pytest.fixture
def pinned(tmp_path: Path) -> Setting:
    found = Setting(tmp_path, rows_of(TRUSTED))
    checked = found.check()
    assert checked.exit_code == 0, checked.output
    assert "TRUSTED" in checked.output
    assert found.pin().exit_code == 0
    return found


def last_line(result: Any) -> str:
    return str(result.stdout.strip().splitlines()[-1])


def test_the_same_judge_passes(pinned: Setting) -> None:
    found = pinned.gate("--markdown", pinned.folder / "a.md", "--junit", pinned.folder / "a.xml")
    assert (found.exit_code, last_line(found)) == (0, "gate: pass")
    assert "| `recall[pass] >= 0.8` | 0.98 |" in (pinned.folder / "a.md").read_text()
    suite = ET.parse(pinned.folder / "a.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("4", "0")


def test_a_gate_file_holds_no_text(pinned: Setting) -> None:
    text = (pinned.folder / "gate.json").read_text()
    assert "question" not in text
    assert "answer 1" not in text
    assert json.loads(text)["judges"][0]["verdicts"]["i0"] == "pass"


def worse(prompt: str, word: str) -> str:
    """Says pass to a fifth of the items, and the right word to others."""
    return "pass" if any(f"question {n}5" in prompt for n in range(12)) else word


@pytest.mark.parametrize(
    ("change", "reasons"),
    [(lambda prompt, word: "pass", "drift,not-trusted"), (worse, "drift")],
)
def test_a_worse_judge_fails(pinned: Setting, change: Change, reasons: str) -> None:
    found = pinned.gate(change=change)
    assert found.exit_code == 1
    assert last_line(found) == f"gate: fail {reasons}"


def test_a_judge_that_abstains_fails(pinned: Setting) -> None:
    found = pinned.gate(change=lambda prompt, word: "I cannot say")
    assert found.exit_code == 1
    assert "drift" in last_line(found)


def test_a_changed_label_and_an_added_one(pinned: Setting) -> None:
    rows = [dict(row) for row in pinned.rows]
    rows[0]["label"] = "fail"
    write_csv(pinned.labels, rows)
    found = pinned.gate()
    assert (found.exit_code, last_line(found)) == (1, "gate: fail labels-changed")
    assert "labels changed or removed: i0" in found.stdout
    assert pinned.gate("--accept", "labels").exit_code == 0
    write_csv(pinned.labels, [*pinned.rows, {**pinned.rows[0], "id": "new", "output": "another [pass]"}])
    added = pinned.gate()
    assert (added.exit_code, last_line(added)) == (0, "gate: pass")
    assert "labels-added: 1 item" in added.stdout


def test_a_changed_prompt_or_setting_is_another_judge(pinned: Setting) -> None:
    shorter = pinned.gate(options=",budget.response_tokens=99")
    assert (shorter.exit_code, last_line(shorter)) == (1, "gate: fail judge-changed")
    assert "judge changed: budget" in shorter.stdout
    pinned.prompt.write_text(TEMPLATE + " Be strict.")
    found = pinned.gate()
    assert (found.exit_code, last_line(found)) == (1, "gate: fail judge-changed")
    assert "judge changed: prompt" in found.stdout
    assert pinned.gate("--accept", "judge").exit_code == 0


def test_a_gate_samples_as_the_pinned_answers_were_sampled(tmp_path: Path) -> None:
    setting = Setting(tmp_path, rows_of(TRUSTED))
    assert setting.check(None, "--temperature", "0.7", "--seed", "3").exit_code == 0
    assert setting.pin().exit_code == 0
    found = setting.gate()
    assert (found.exit_code, last_line(found)) == (0, "gate: pass")


def test_another_model_behind_the_same_name(pinned: Setting) -> None:
    found = pinned.gate(model="toy-2027")
    assert (found.exit_code, last_line(found)) == (1, "gate: fail model-changed")
    assert "toy-2026 → toy-2027" in found.stdout
    assert pinned.gate("--accept", "model", model="toy-2027").exit_code == 0


def test_an_undecided_judge_is_pinned_only_on_request_and_never_passes(tmp_path: Path) -> None:
    setting = Setting(tmp_path, rows_of([("pass", "pass", 20), ("fail", "fail", 12)]))
    assert "UNDECIDED" in setting.check().stdout
    refused = setting.pin()
    assert refused.exit_code == 2
    assert "--allow-undecided" in refused.output
    assert setting.pin("--allow-undecided").exit_code == 0
    found = setting.gate()
    assert (found.exit_code, last_line(found)) == (3, "gate: undecided undecided")
    assert setting.gate("--undecided", "pass").exit_code == 0


def test_a_server_that_is_gone_is_never_a_pass(pinned: Setting) -> None:
    found = run("gate", pinned.folder / "gate.json", "--labels", pinned.labels, "--judge",
                pinned.spec("http://127.0.0.1:9/v1", ",timeout=1"), "--out", pinned.folder / "gone")  # fmt: skip
    assert found.exit_code == 75, found.output


def test_a_judge_that_cannot_be_asked_leaves_no_folder(pinned: Setting) -> None:
    new = pinned.folder / "new"
    found = run("check", pinned.labels, "--judge", "longer", "--judge", "longer", "--out", new / "out")
    assert (found.exit_code, new.exists()) == (2, False), found.output


def test_wrong_files_and_options_end_with_2(pinned: Setting) -> None:
    rows = [{**row, "id": f"other{n}"} for n, row in enumerate(rows_of(TRUSTED))]
    other = write_csv(pinned.folder / "other.csv", rows)
    found = run(
        "gate", pinned.folder / "gate.json", "--labels", other, "--verdicts", "verdict", "--out", pinned.folder / "x"
    )
    assert found.exit_code == 2
    assert "share 0 items" in found.output
    assert pinned.gate("--accept", "all").exit_code == 2
    (pinned.folder / "gate.json").write_text('{"schema": 2}')
    assert pinned.gate().exit_code == 2


def test_repeats_and_resume_ask_nothing_twice(tmp_path: Path) -> None:
    setting = Setting(tmp_path, rows_of(TRUSTED))
    with scripted() as server:
        arguments = ("check", setting.labels, "--judge", setting.spec(server.url), "--out", tmp_path / "out")
        assert run(*arguments).exit_code == 0
        assert len(server.bodies) == 360
        assert run(*arguments).exit_code == 2
        assert run(*arguments, "--resume").exit_code == 0
        assert len(server.bodies) == 360
    (judge,) = json.loads((tmp_path / "out" / "labels.json").read_text())["judges"]
    assert judge["measures"]["values"]["repeats"]["value"] == 1


def offline(folder: Path, rows: Sequence[dict[str, Any]], *options: object) -> Path:
    """The gate file of verdicts that stand in a file."""
    file = write_csv(folder / "labels.csv", rows)
    checked = run("check", file, "--verdicts", "verdict", "--out", folder / "out", *options)
    assert checked.exit_code == 0, checked.output
    assert run("pin", folder / "out", "--allow-undecided", "--out", folder / "gate.json").exit_code == 0
    return file


def test_pinned_verdicts_of_a_file_need_a_column(tmp_path: Path) -> None:
    file = offline(tmp_path, rows_of(TRUSTED))
    found = run("gate", tmp_path / "gate.json", "--labels", file)
    assert found.exit_code == 2
    assert "give --verdicts COLUMN" in found.output
    same = run("gate", tmp_path / "gate.json", "--labels", file, "--verdicts", "verdict")
    assert (same.exit_code, last_line(same)) == (0, "gate: pass")
    assert "120 shared items show a drop of 0.09 or more in 80 % of runs" in same.output


def test_how_labels_count_is_pinned(tmp_path: Path) -> None:
    rows = [{**row, "annotator": name, "label": "fail" if name == "ben" and n == 0 else row["label"]}
            for n, row in enumerate(rows_of(TRUSTED)) for name in ("ana", "ben")]  # fmt: skip
    file = offline(tmp_path, rows, "--adjudicated", "ana")
    assert json.loads((tmp_path / "gate.json").read_text())["gold"]["i0"] == "pass"
    assert run("gate", tmp_path / "gate.json", "--labels", file, "--verdicts", "verdict").exit_code == 0
    refused = run("check", file, "--verdicts", "verdict", "--each", "--adjudicated", "ana", "--out", tmp_path / "x")
    assert refused.exit_code == 2


def test_numbers_drift_by_their_errors(tmp_path: Path) -> None:
    rows = [{"id": n, "output": n, "score": n / 100, "verdict": (n + 1) / 100} for n in range(60)]
    file = offline(tmp_path, rows, "--require", "mae<=0.2")
    write_csv(file, [{**row, "verdict": row["verdict"] + 0.05} for row in rows])
    found = run("gate", tmp_path / "gate.json", "--labels", file, "--verdicts", "verdict")
    assert last_line(found) == "gate: fail drift"
    assert "60 became wrong, 0 right: -0.050" in found.output


def test_looks_are_counted_and_tokens_are_priced(tmp_path: Path) -> None:
    setting = Setting(tmp_path, rows_of(TRUSTED))
    prices = tmp_path / "prices.yaml"
    prices.write_text("other: {input: 1, output: 1}")
    unknown = setting.check(None, "--prices", prices)
    assert unknown.exit_code == 2
    assert "no single price for toy" in unknown.output
    prices.write_text("toy: {input: 1000, output: 1000}")
    assert " 3.60 $, " in setting.check(None, "--prices", prices).output
    setting.prompt.write_text(TEMPLATE + " Be strict.")
    with scripted() as server:
        spec = setting.spec(server.url)
        assert run("check", setting.labels, "--judge", spec, "--out", tmp_path / "second").exit_code == 0
    assert "2 judges were measured on these labels" in setting.pin().output
    assert json.loads((tmp_path / "gate.json").read_text())["looks"] == 2


@pytest.mark.parametrize(("answers", "said"), [("1-5", "the labels are pass/fail"), ("red/blue", "red/blue")])
def test_a_judge_that_cannot_answer_with_these_labels_is_not_asked(tmp_path: Path, answers: str, said: str) -> None:
    setting = Setting(tmp_path, rows_of(TRUSTED))
    with scripted() as server:
        spec = f"prompt:file={setting.prompt},answers={answers}@{server.url}#toy"
        found = run("check", setting.labels, "--judge", spec, "--out", tmp_path / "out")
        assert not server.bodies
    assert found.exit_code == 2
    assert said in found.output


def test_a_scale_that_is_wider_than_the_labels_and_numbers_are_refused(tmp_path: Path) -> None:
    rows = [{"id": n, "output": f"x{n}", "label": 2 + n % 3} for n in range(30)]
    (tmp_path / "prompt.txt").write_text("Rate $output from 1 to 5.")
    spec = f"prompt:file={tmp_path}/prompt.txt,answers=1-5@http://127.0.0.1:9/v1#toy"
    file = write_csv(tmp_path / "labels.csv", rows)
    found = run("check", file, "--judge", spec, "--out", tmp_path / "out")
    assert found.exit_code == 2
    assert "outside the scale 2-4 of the labels: give --scale" in found.output
    numbers = run("check", file, "--kind", "numeric", "--judge", spec, "--out", tmp_path / "out")
    assert numbers.exit_code == 2
    assert "give --verdicts COLUMN, or --scale" in numbers.output


def test_a_server_that_changes_its_model_is_named(tmp_path: Path) -> None:
    setting = Setting(tmp_path, rows_of(TRUSTED))
    names = cycle(("toy-1", "toy-2"))

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        status, data = chat_completion("pass")
        return status, {**data, "model": next(names)}

    with JudgeServer(answer) as server:
        found = run("check", setting.labels, "--judge", setting.spec(server.url), "--out", tmp_path / "out")
    assert "note: replies name 2 models (toy-1, toy-2)" in found.output
    assert "note: constant judge: every verdict is 'pass'" in found.output


def test_items_without_texts_are_not_asked(tmp_path: Path) -> None:
    rows = [{"id": n, "output": "", "label": "pass" if n % 2 else "fail", "verdict": "pass"} for n in range(4)]
    file = write_csv(tmp_path / "labels.csv", rows)
    found = run("check", file, "--judge", "direct@http://127.0.0.1:9/v1#m", "--out", tmp_path / "out")
    assert found.exit_code == 2
    assert "4 items have no text to judge, such as 0" in found.output


@pytest.mark.parametrize("name", ["run0", "x" * 300])
def test_a_trace_that_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    rows = [{"id": n, "trace": f"{name}.jsonl", "label": "pass" if n % 2 else "fail"} for n in range(4)]
    file = write_csv(tmp_path / "labels.csv", rows)
    found = run("check", file, "--judge", "direct@http://127.0.0.1:9/v1#m", "--out", tmp_path / "out")
    assert found.exit_code == 2
    assert f"item 0: its trace {name}.jsonl is no file" in found.output


def test_a_judge_of_pairs_is_asked_in_both_orders(tmp_path: Path) -> None:
    rows = [
        {"id": f"p{n}", "prompt": f"q{n}", "a": f"x{n}", "b": f"y{n}", "preference": "A" if n % 2 else "B"}
        for n in range(40)
    ]
    file = write_csv(tmp_path / "pairs.csv", rows)
    (tmp_path / "pair.txt").write_text("Which is better?\n$input\n[A] $a\n[B] $b\nAnswer A or B.")
    with scripted(lambda prompt, word: "A") as server:
        spec = f"judge=prompt:file={tmp_path}/pair.txt,answers=A/B@{server.url}#toy"
        found = run("check", file, "--judge", spec, "--repeats", 1, "--out", tmp_path / "out")
        assert len(server.bodies) == 80
    assert found.exit_code == 0, found.output
    (judge,) = json.loads((tmp_path / "out" / "labels.json").read_text())["judges"]
    values = judge["measures"]["values"]
    assert (values["consistency"]["value"], values["first_preference"]["value"]) == (0, 1)
    assert judge["measures"]["missing"] == {"orders_disagree": 40}
    assert judge["decision"]["word"] == "not trusted"


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        ([{"output": 'expected: "pass" text', "label": "pass"}], [], "show a label in their own text"),
        ([{"output": " ".join(f"w{n}" for n in range(20)), "label": "pass"}], ["leak"], "shows 1 labelled item"),
    ],
)
def test_leaks_are_refused(tmp_path: Path, rows: list[dict[str, str]], options: list[str], said: str) -> None:
    all_rows = [*({"id": str(n), **row} for n, row in enumerate(rows)), {"id": "z", "output": "y", "label": "fail"}]
    file = write_csv(tmp_path / "labels.csv", all_rows)
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("$output" + (" For example: " + rows[0]["output"] if options else ""))
    spec = f"prompt:file={prompt},answers=pass/fail@http://127.0.0.1:9/v1#toy"
    found = run("check", file, "--judge", spec, "--dry-run")
    assert found.exit_code == 2
    assert said in found.output
    assert run("check", file, "--judge", spec, "--dry-run", "--allow-leak").exit_code == 0


def checked_rows(folder: Path, rows: Sequence[dict[str, Any]], asked: dict[str, Any] | None = None) -> CheckResult:
    labels = read_labels(write_csv(folder / "labels.csv", rows))
    given = verdicts_of_file(labels).model_copy(update={"asked": asked or {}})
    return check(labels, [given])


@pytest.mark.parametrize(
    ("clusters", "p", "worse_p", "ci95"),
    [
        (range(80), 0.0654297, 0.0327148, (-0.1801353, -0.0074051)),
        ([*(n // 3 for n in range(9)), *range(10, 81)], 0.25, 0.125, None),
    ],
)
def test_drift_is_tested_by_cluster(
    tmp_path: Path, clusters: Sequence[int], p: float, worse_p: float, ci95: tuple[float, float] | None
) -> None:
    """9 of 80 verdicts became wrong, 2 became right: drift if all are independent, none if the 9 are in 3 clusters."""
    words, other = ("pass", "fail"), {"pass": "fail", "fail": "pass"}
    rows = [
        {"id": f"{n:02}", "output": n, "label": words[n % 2], "cluster": cluster} for n, cluster in enumerate(clusters)
    ]
    before, after = (
        [{**row, "verdict": other[row["label"]] if n in wrong else row["label"]} for n, row in enumerate(rows)]
        for wrong in ((9, 10), range(9))
    )
    gate = pin(checked_rows(tmp_path, before), None, allow_undecided=True)
    found = compare(gate, checked_rows(tmp_path, after))
    assert found.drift is not None
    assert (found.drift["p"], found.drift["worse_p"]) == pytest.approx((p, worse_p), abs=1e-6)
    assert found.drift["difference"] == pytest.approx(-0.0875)
    if ci95 is not None:
        assert found.drift["ci95"] == pytest.approx(ci95, abs=1e-6)
    assert ("drift" in found.reasons) == (worse_p < 0.05)


MEMBER = {"kind": "prompt", "model": "toy", "prompt": "1f", "answers": ["pass", "fail"], "temperature": 0.0, "seed": 0,
          "parser": "last line", "budget": {"response_tokens": 100}}  # fmt: skip
ASKED = {"spec": "x", "orders": 2, "settings": {"members": [MEMBER]}, "models": ["toy-1"], "fingerprints": ["fp_1"]}


@pytest.mark.parametrize("field", MEMBER)
def test_each_setting_that_changes_alone_is_another_judge(tmp_path: Path, field: str) -> None:
    rows = rows_of(TRUSTED)
    gate = pin(checked_rows(tmp_path, rows, {**ASKED, "requests": 120, "repeats": 1, "seconds": 1}), None)
    members = [{**MEMBER, field: "another"}]
    now = {**ASKED, "requests": 120, "repeats": 1, "seconds": 1, "settings": {"members": members}}
    found = compare(gate, checked_rows(tmp_path, rows, now))
    assert (found.status, found.reasons, found.notes[0]) == ("fail", ("judge-changed",), f"judge changed: {field}")
    assert compare(gate, checked_rows(tmp_path, rows, now), accept=["judge"]).status == "pass"


@pytest.mark.parametrize(
    ("change", "status", "reasons", "note"),
    [
        ({}, "pass", (), ""),
        ({"orders": 1}, "fail", ("judge-changed",), "judge changed: orders"),
        ({"models": ["toy-2"]}, "fail", ("model-changed",), "model changed: toy-1 → toy-2"),
        ({"models": []}, "pass", (), "model-unknown: the server reports no model"),
        ({"fingerprints": ["fp_2"]}, "pass", (), "the server's fingerprint is another one"),
    ],
)
def test_what_else_a_gate_pins(
    tmp_path: Path, change: dict[str, Any], status: str, reasons: tuple[str, ...], note: str
) -> None:
    rows, asked = rows_of(TRUSTED), {**ASKED, "requests": 120, "repeats": 1, "seconds": 1}
    gate = pin(checked_rows(tmp_path, rows, asked), None)
    found = compare(gate, checked_rows(tmp_path, rows, {**asked, **change}))
    assert (found.status, found.reasons) == (status, reasons)
    assert not note or note in found.notes


def test_a_person_with_the_name_of_the_judges_model_is_no_person(tmp_path: Path) -> None:
    rows = [{**row, "annotator": "toy-1"} for row in rows_of(TRUSTED)]
    with pytest.raises(JudgeError, match="toy-1 is a judge here and labelled items as a person"):
        checked_rows(tmp_path, rows, {**ASKED, "requests": 120, "repeats": 1, "seconds": 1})
