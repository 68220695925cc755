"""The build benchmark at a small size."""

import json
from pathlib import Path

import fake_llm_server
import pytest

from scripts.bench import build


def test_rejections_are_summed_by_set_and_reason(capsys: pytest.CaptureFixture[str]) -> None:
    first = {"wanted": {"P1": 5}, "accepted": {"P1": 4}, "rejected": {"P1: the lines differ": 2}}
    second = {
        "wanted": {"P1": 5, "multi": 1000},
        "accepted": {},
        "rejected": {"P1: the lines differ": 1, "multi: no": 9},
    }
    build.rejections([first, second])
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[3:]]
    found = {row[0].strip("| "): (row[1], row[7], row[8].rstrip(" |")) for row in rows}
    assert found["**wanted**"] == ("10", "1,000", "1,010")
    assert found["**accepted**"] == ("4", "0", "4")
    assert found["the lines differ"] == ("3", "0", "3")
    assert list(found)[2:] == ["no", "the lines differ"], "the most frequent reason comes first"


def test_one_build_prints_its_peak_memory(capsys: pytest.CaptureFixture[str]) -> None:
    build.one(100, "by teacher")
    row = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert 80 <= row["pairs"] <= 120
    assert row["peak_mb"] > 20


@pytest.mark.real_data
def test_the_fault_run_of_two_real_cases(real_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build.real(real_data, tmp_path, ["medrbench"], 2)
    output = capsys.readouterr().out
    assert "| medrbench | 2 |" in output
    assert "| 4 of 4 |" in output
    assert (tmp_path / "medrbench" / "faults" / "opinions.jsonl").stat().st_size > 0


@pytest.mark.real_data
def test_different_answers_under_faults_are_an_error(
    real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = fake_llm_server.Faults

    def other_cuts(**options: float) -> fake_llm_server.Faults:
        return faults(**{**options, "seed": 1 if options.get("rate") else 0})  # type: ignore[arg-type]

    monkeypatch.setattr(fake_llm_server, "Faults", other_cuts)
    monkeypatch.setattr(build, "CUT", 0.3)
    with pytest.raises(SystemExit, match="medrbench: files differ"):
        build.real(real_data, tmp_path, ["medrbench"], 1)
