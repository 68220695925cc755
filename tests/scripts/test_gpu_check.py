"""The GPU check: its table and its messages, and every line of its parts on the processor."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from paths import REPO

from scripts import gpu_check


def test_missing_packages_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gpu_check.missing_packages() is None
    monkeypatch.setattr(gpu_check, "NEEDED", ("torch", "no_such_package", "another_missing_one"))
    sentence = gpu_check.missing_packages()
    assert sentence is not None
    assert sentence.startswith("the GPU check needs no_such_package, another_missing_one, which this Python lacks: ")


def test_the_table_marks_what_is_wrong() -> None:
    row = {"part": "size", "what": "memory", "value": 39.37, "unit": "GiB", "expected": 46.5, "ok": False}
    lines = gpu_check.table([row, row | {"value": "out of memory", "expected": None, "ok": None}]).splitlines()
    assert lines[2:] == [
        "| size | memory | 39.4 GiB | 46.5 GiB | **wrong** |",
        "| size | memory | out of memory |  |  |",
    ]


def test_an_unknown_part_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["gpu_check.py", "--parts", "size,speed"])
    with pytest.raises(SystemExit):
        gpu_check.main()
    parts = "size, retrieval, haystack, engine, training, english"
    assert f"there is no speed; the parts are {parts}" in capsys.readouterr().err


def test_a_part_that_fails_is_named_and_the_next_one_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu_check, "PARTS", {"no_such_part": 60, "check": 60})
    monkeypatch.setattr(
        sys, "argv", ["gpu_check.py", "--device", "cpu", "--parts", "no_such_part,check", "--out", str(tmp_path)]
    )
    assert gpu_check.main() == 1
    printed = capsys.readouterr().out
    assert "no_such_part: failed with exit code 1" in printed
    assert "check: finished" in printed
    assert printed.splitlines()[-1] == "wrong or unfinished: no_such_part"


def test_a_part_ends_at_its_deadline_with_its_children(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = type("Given", (), {"device": "cpu", "small": True, "out": tmp_path})
    assert not gpu_check._run("size", given, 0.5)
    assert "size: stopped at its deadline" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_part_passes_on_the_processor(tmp_path: Path) -> None:
    command = [sys.executable, "scripts/gpu_check.py", "--device", "cpu", "--small", "--out", str(tmp_path)]
    done = subprocess.run([*command, "--minutes", "14"], cwd=REPO, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    rows = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert {row["part"] for row in rows} == {"machine", *gpu_check.PARTS}
    assert sum(row["ok"] is True for row in rows) >= 12
