"""Estimates of a pool, and the items to label next."""

import csv
from pathlib import Path
from typing import Any

import pytest
from label_factories import TWO_CLASSES, rows_of, write_csv, write_lines
from typer.testing import CliRunner

from judge_r1.cli import app


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["labels", *map(str, arguments)])


@pytest.fixture
def checked(tmp_path: Path) -> Path:
    file = write_csv(tmp_path / "labels.csv", rows_of(TWO_CLASSES))
    assert run("check", file, "--verdicts", "verdict", "--out", tmp_path / "out").exit_code == 0
    verdicts = ["pass"] * 320 + ["fail"] * 80
    write_lines(tmp_path / "pool.jsonl", [{"id": f"p{n}", "verdict": v} for n, v in enumerate(verdicts)])
    return tmp_path


@pytest.mark.parametrize(
    ("drawn", "lines"),
    [
        (
            "random",
            ["prediction-powered: 0.824 [0.757, 0.891]", "post-stratified: 0.827", "corrected: 0.880 [0.752, 1.000]"],
        ),
        ("by-label", ["corrected: 0.880 [0.752, 1.000]", "next label: pass"]),
        ("by-verdict", ["stratified: 0.827", "tpr 0.903"]),
    ],
)
def test_estimates(checked: Path, drawn: str, lines: list[str]) -> None:
    found = run("estimate", checked / "out", "--pool", checked / "pool.jsonl", "--drawn", drawn)
    assert found.exit_code == 0, found.output
    for line in lines:
        assert line in found.output
    assert ("prediction-powered" in found.output) == (drawn == "random")


def test_next_draws_within_verdicts_with_probabilities(checked: Path) -> None:
    out = checked / "next.csv"
    found = run("next", checked / "out", "--pool", checked / "pool.jsonl", "--count", 40, "--out", out)
    assert found.exit_code == 0, found.output
    rows = list(csv.DictReader(out.open()))
    assert len(rows) == len({row["id"] for row in rows}) == 40
    for verdict, size in (("pass", 320), ("fail", 80)):
        own = [row for row in rows if row["verdict"] == verdict]
        assert own
        assert [float(row["probability"]) for row in own] == pytest.approx([len(own) / size] * len(own))


def test_the_pool_must_fit(checked: Path) -> None:
    assert run("estimate", checked / "out", "--drawn", "random").exit_code == 2
    bad = write_lines(checked / "bad.jsonl", [{"id": "1", "verdict": "maybe"}])
    found = run("estimate", checked / "out", "--pool", bad, "--drawn", "random")
    assert found.exit_code == 2
    assert "'maybe' is none of pass, fail" in found.output
    few = run("next", checked / "out", "--pool", checked / "pool.jsonl", "--count", 500, "--out", checked / "n.csv")
    assert few.exit_code == 2
