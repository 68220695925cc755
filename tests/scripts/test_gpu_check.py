"""The GPU check: its table and its messages, and every line of its parts on the processor."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from paths import REPO

from judge_r1.core.errors import TRY_AGAIN
from scripts import gpu_check
from scripts.gpu_checks import english, haystack
from scripts.gpu_checks.check import Check


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
    assert printed.splitlines()[-1] == "no_such_part: failed with exit code 1"


def test_a_part_ends_at_its_deadline_with_its_children(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = type("Given", (), {"device": "cpu", "small": True, "out": tmp_path})
    assert gpu_check._run("size", given, 0.5) == "stopped at its deadline"
    assert "size: stopped at its deadline" in capsys.readouterr().out


def test_an_unfinished_part_is_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nexit {TRY_AGAIN}\n")
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(sys, "argv", ["gpu_check.py", "--device", "cpu", "--parts", "english", "--out", str(tmp_path)])
    assert gpu_check.main() == 1
    printed = capsys.readouterr().out
    assert "english: not finished, run it again, after 0 s" in printed
    assert printed.splitlines()[-1] == "english: not finished, run it again"


def test_the_demo_at_its_deadline_is_not_finished_and_not_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(haystack, "child", lambda command, log: subprocess.Popen(sleeper))
    with pytest.raises(SystemExit) as end:
        haystack.run(Check("haystack", "cpu", True, tmp_path, haystack.RESERVE + 1))
    assert end.value.code == TRY_AGAIN
    [row] = gpu_check.read_rows(tmp_path / "results.jsonl")
    assert (row["what"], row["value"], row["ok"]) == ("demo: not finished at the deadline", 1, None)


RUN = "from pathlib import Path; run = Path('english/warmup'); run.mkdir(parents=True, exist_ok=True); "
STEP = json.dumps({"step": 1, "time/step": 2.0}) + "\n"


def english_stage(out: Path, monkeypatch: pytest.MonkeyPatch, program: str, left: float) -> list[str]:
    """What the rows of a stage say that `program` trains; `exit N` is the last where it ends the part."""

    def child(command: list[str], log: Path) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, "-c", RUN + program], cwd=out)

    monkeypatch.setattr(english, "child", child)
    monkeypatch.setattr(english, "START", 0.5)
    (out / "results.jsonl").unlink(missing_ok=True)
    ended = []
    try:
        english.trained(Check("english", "cpu", True, out, 60), "warmup", "warmup", [], time.monotonic() + left)
    except SystemExit as end:
        ended = [f"exit {end.code}"]
    return [f"{row['what']}: {row['value']}" for row in gpu_check.read_rows(out / "results.jsonl")] + ended


def test_a_stage_without_time_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = english_stage(tmp_path, monkeypatch, "", -100)
    assert said == ["warmup: no time to start, run this part again: 0.0", f"exit {TRY_AGAIN}"]
    assert not (tmp_path / "english").exists()


@pytest.mark.parametrize(("handler", "saved"), [("", "without a new"), ("stops", "with a")])
def test_a_stage_at_its_deadline_says_whether_it_saved(
    handler: str, saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops = f"import os, signal; signal.signal(signal.SIGTERM, lambda *_: os._exit({TRY_AGAIN})); " if handler else ""
    said = english_stage(tmp_path, monkeypatch, f"{stops}import time; time.sleep(60)", 3)
    assert said == [f"warmup: stopped {saved} checkpoint, run this part again: 0", f"exit {TRY_AGAIN}"]


def test_a_stage_that_is_finished_keeps_its_rows_in_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = f"(run / 'metrics.jsonl').write_text({STEP!r}); (run / 'model').mkdir()"
    first = english_stage(tmp_path, monkeypatch, program, 60)
    assert first == ["warmup: steps: 1", "warmup: time/step, first and last step: 2.000, 2.000"]
    assert english_stage(tmp_path, monkeypatch, "raise SystemExit('not again')", -100) == first


def test_a_stage_that_fails_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert english_stage(tmp_path, monkeypatch, "raise SystemExit(2)", 60) == ["warmup: steps: 0", "exit 1"]
    assert gpu_check.read_rows(tmp_path / "results.jsonl")[0]["ok"] is False


def test_pairs_of_a_killed_call_are_written_again(tmp_path: Path) -> None:
    (tmp_path / "shuffled").mkdir()
    (tmp_path / "shuffled" / "cases.jsonl").write_text("")
    english.pairs(tmp_path, 4)
    files = {f"{folder}/{name}.jsonl" for folder in ("train", "shuffled") for name in ("cases", "pairs")}
    assert files <= {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.jsonl")}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_part_passes_on_the_processor(tmp_path: Path) -> None:
    command = [sys.executable, "scripts/gpu_check.py", "--device", "cpu", "--small", "--out", str(tmp_path)]
    done = subprocess.run([*command, "--minutes", "14"], cwd=REPO, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    rows = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert {row["part"] for row in rows} == {"machine", *gpu_check.PARTS}
    assert sum(row["ok"] is True for row in rows) >= 12
