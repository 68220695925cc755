"""Copies at several intensities, the confidence check, and judges side by side (thesis, Figs. 3.9 to 4.2)."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from data_builders.build import build_by_rules
from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan
from judge_r1.benchmarks.cofluence import load
from judge_r1.cli import app
from judge_r1.core.errors import JudgeError


def build(out: Path, **intensity: object) -> None:
    options = {"types": "typos", "story_tokens": 400, "lengths": "full,200", "intensity": intensity}
    plan = BuildPlan(source="cofluence", limit=2, options=options)
    build_by_rules(generator_for("cofluence", with_teacher=False)(plan), out)


def test_several_intensities_are_copies_of_their_own(tmp_path: Path) -> None:
    build(tmp_path / "several", typos=(2.0, 8.0))
    items = load(tmp_path / "several", None).items
    assert [item.systems for item in items] == [("original", "typos@2", "typos@8")] * 4
    assert items[0].gold == {"typos@2": "fluency", "typos@8": "fluency"}
    file = tmp_path / "several" / "manipulations.jsonl"
    lines = [line for line in file.open() if "200" in line or json.loads(line)["params"]["intensity"] == 8]
    file.write_text("".join(lines))
    names = {item.group: item.systems for item in load(tmp_path / "several", None).items}
    assert names["full"] == ("original", "typos@8")  # by the intensities of all data
    build(tmp_path / "one", typos=8.0)
    assert load(tmp_path / "one", None).items[0].systems == ("original", "typos")


def scores(path: Path) -> Path:
    """Two prompts; a document scores 4 or 5, and typos at 2 and 8 % cost one and two points of fluency."""
    rows = [
        {"judge": judge, "document": f"d{n}", "length": length, "manipulation": name, "intensity": intensity,
         "metric": "fluency", "fluency": 4 + n % 2 - cost * (judge == "v6-3"), "coherence": 4}
        for judge in ("v1", "v6-3") for length in ("full", "2000") for n in range(6)
        for name, intensity, cost in (("original", "", 0), ("typos", 2, 1), ("typos", 8, 2))
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_matrix_confidence_check_and_comparison_of_prompts(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["analyse", "deltas", str(scores(tmp_path / "s.jsonl")), "--out", str(out)])
    assert result.exit_code == 0, result.output
    text = (out / "deltas.md").read_text()
    check = [line for line in text.splitlines() if "typos@8" in line and "4.50" in line]
    assert len(check) == 4
    assert all(("yes" in line) == ("v6-3" in line) for line in check), "2.5 ± .57 lies below 4.5 ± .57"
    compared = next(line for line in text.splitlines() if line.startswith("| v6-3") and "/ -1.50" in line)
    assert compared.count("4.50 / -1.50") == 2
    matrix = (out / "deltas-fluency-typos-v6-3.svg").read_text()
    assert "8, full -2.00" in matrix
    assert "2, 2000 -1.00" in matrix
    for name in ("mean-fluency-with-95-intervals-v6-3", "mean-score-of-originals-fluency", "mean-fluency"):
        assert (out / f"deltas-{name}.svg").exists(), name


def test_intensities_must_differ(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="must be different numbers"):
        build(tmp_path, typos=(2.0, 2.0))
