"""`eval` and then `calibrate`, as commands."""

from pathlib import Path

from command_server import run
from evaluation_factories import toy_case, toy_pairs

from data_builders.build import write_pairs
from judge_r1.evaluation.calibrate import Calibration
from judge_r1.files.pair_set import PairSet


def test_evaluation_is_calibrated_by_agreement_of_samples(tmp_path: Path) -> None:
    """The coin, asked six times: its agreement with itself says little, and that is what is found."""
    items = tmp_path / "pairs"
    write_pairs(PairSet.of([toy_case(n) for n in range(6)], toy_pairs(6)), items)
    judges = ("--judge", "coin=panel:samples=6(random)", "--judge", "longer")
    played = run("eval", "--path", items, "--out", tmp_path / "eval", *judges)
    assert played.returncode == 0, played.stderr
    refused = run("calibrate", tmp_path / "eval", "--confidence-method", "samples", "--out", tmp_path / "out")
    assert "holds 2 judges: choose one with --judge-name (coin, longer)" in refused.stderr
    done = run(
        "calibrate",
        tmp_path / "eval",
        "--judge-name",
        "coin",
        "--confidence-method",
        "samples",
        "--out",
        tmp_path / "out",
    )
    assert done.returncode == 0, done.stderr
    found = Calibration.model_validate_json((tmp_path / "out" / "calibration.json").read_text())
    assert (found.n, found.clusters) == (48, 6)
    assert 0.2 < found.accuracy < 0.8
    silent = run("calibrate", tmp_path / "eval", "--judge-name", "longer", "--out", tmp_path / "out")
    assert silent.returncode == 2
    outcomes = tmp_path / "eval" / "outcomes.jsonl"
    right = [line for line in outcomes.read_text().splitlines(keepends=True) if '"score": 1.0' in line]
    outcomes.write_text("".join(right))
    lost = run(
        "calibrate",
        tmp_path / "eval",
        "--judge-name",
        "coin",
        "--confidence-method",
        "samples",
        "--out",
        tmp_path / "lost",
    )
    assert lost.returncode == 2
    assert "is not the file that summary.json was written with" in " ".join(lost.stderr.split())
    assert not (tmp_path / "lost" / "calibration.json").exists()
