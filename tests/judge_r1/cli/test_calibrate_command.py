"""`judge-r1 calibrate` in a separate process."""

import json
import random
import subprocess
from pathlib import Path

import command_server
import pytest

from judge_r1.evaluation.calibrate import Calibration


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return command_server.run("calibrate", *arguments)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """600 cases with high confidence, which is justified only in the upper half."""
    generator = random.Random(0)
    path = tmp_path / "answers.jsonl"
    with path.open("w") as file:
        for case in range(600):
            confidence = round(generator.uniform(0.8, 1), 4)
            right = generator.random() < (0.99 if confidence > 0.9 else 0.6)
            row = {"confidence": confidence, "correct": right, "cluster": f"c{case}"}
            file.write(json.dumps(row) + "\n")
        file.write('{"confidence": null, "correct": false, "cluster": "c0"}\n')
    return path


def test_maps_scores_threshold_and_diagram_are_written(answers: Path, tmp_path: Path) -> None:
    done = run(answers, "--out", tmp_path / "out", "--alpha", "0.1")
    assert done.returncode == 0, done.stderr
    calibration = Calibration.model_validate_json((tmp_path / "out" / "calibration.json").read_text())
    assert (calibration.n, calibration.without_confidence) == (601, 1)
    assert calibration.with_isotonic.brier < calibration.before.brier
    assert calibration.with_isotonic.ece < calibration.before.ece / 2
    assert calibration.selective is not None
    assert (calibration.selective.alpha, calibration.selective.delta) == (0.1, 0.1)
    assert calibration.selective.threshold is not None
    assert 0.87 < calibration.selective.threshold < 0.93
    assert calibration.selective.guarantee in done.stdout
    assert f"{calibration.selective.answered} are answered" in done.stdout
    assert (tmp_path / "out" / "reliability.svg").read_text().startswith("<svg ")
    again = run(answers, "--out", tmp_path / "again", "--alpha", "0.1")
    assert again.returncode == 0
    for name in ("calibration.json", "reliability.svg"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_an_unreachable_guarantee_abstains_always(answers: Path, tmp_path: Path) -> None:
    done = run(answers, "--out", tmp_path / "out", "--alpha", "0.001")
    assert done.returncode == 0, done.stderr
    assert "abstain always" in done.stdout
    assert "are answered" not in done.stdout


def test_a_mistake_is_a_one_line_error(answers: Path, tmp_path: Path) -> None:
    for arguments, message in (
        ((answers, "--alpha", "1.5"), "--alpha must be between 0 and 1, not 1.5"),
        ((answers, "--alpha", "0.1", "--delta", "0"), "--delta must be between 0 and 1, not 0"),
        ((tmp_path / "none.jsonl",), "none.jsonl does not exist"),
    ):
        done = run(*arguments, "--out", tmp_path / "out")
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert message in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
