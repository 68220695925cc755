"""Asking a scripted judge, pinning the result, and what the gate says about each change."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from label_factories import TRUSTED, rows_of, scripted, write_csv
from typer.testing import CliRunner

from judge_r1.cli import app

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
    assert json.loads(text)["verdicts"]["i0"] == "pass"


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
    cooler = pinned.gate("--temperature", "0.7")
    assert (cooler.exit_code, last_line(cooler)) == (1, "gate: fail judge-changed")
    assert "judge changed: temperature" in cooler.stdout
    pinned.prompt.write_text(TEMPLATE + " Be strict.")
    found = pinned.gate()
    assert (found.exit_code, last_line(found)) == (1, "gate: fail judge-changed")
    assert "judge changed: prompt" in found.stdout
    assert pinned.gate("--accept", "judge").exit_code == 0


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
    assert found.exit_code not in (0, 1)


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
