"""The comparison of two ratings of the same judges."""

import json
from pathlib import Path

import pytest
from test_rate import simulated_rows, write_votes
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.rating.comparison import agreement, compare
from judge_r1.evaluation.rating.leaderboard import rate
from judge_r1.evaluation.rating.pipeline import run_rating
from judge_r1.evaluation.rating.records import read_rating
from judge_r1.evaluation.rating.slices import RatingOptions
from judge_r1.evaluation.rating.vote_files import read_votes


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A rating of the same judges on other items."""
    run_rating(read_votes([write_votes(tmp_path / "o.jsonl", simulated_rows(1))]), RatingOptions(repeats=1), tmp_path)
    return tmp_path


def test_ranks_and_agreement(other: Path, tmp_path: Path) -> None:
    rows = simulated_rows(0)
    rating, _ = rate(read_votes([write_votes(tmp_path / "v.jsonl", rows)]), RatingOptions(repeats=1))
    found = compare(rating, other, ["J05"])
    theirs = {judge.judge: judge.elo for judge in read_rating(other).slices[0].judges}
    assert [row.rank for row in found.judges] == list(range(1, 22))
    by_other = sorted(found.judges, key=lambda row: row.other_rank)
    assert [row.other_elo for row in by_other] == sorted(theirs.values(), reverse=True)
    mine = {row.judge: row.elo for row in found.judges}
    assert found.agree == agreement(mine, theirs)
    del mine["J05"]
    assert found.agree_without == agreement(mine, theirs) != found.agree
    with pytest.raises(JudgeError, match="no judge of both ratings is named 'J5'"):
        compare(rating, other, ["J5"])


def test_a_rating_agrees_with_itself(other: Path) -> None:
    found = compare(read_rating(other), other)
    assert found.agree == pytest.approx((1, 1))
    assert found.agree_without is None
    assert all(row.rank == row.other_rank for row in found.judges)


def test_ratings_of_other_judges(other: Path, tmp_path: Path) -> None:
    rows = [{**row, "judge": f"other {row['judge']}"} for row in simulated_rows()]
    rating, _ = rate(read_votes([write_votes(tmp_path / "v.jsonl", rows)]), RatingOptions(repeats=1))
    with pytest.raises(JudgeError, match="rates 0 of these judges: give the judges the same names"):
        compare(rating, other)
    (tmp_path / "rating.json").write_text("[]")
    with pytest.raises(JudgeError, match=r"rating\.json is no rating of this version, whose `schema` is 2: rate again"):
        read_rating(tmp_path)


def test_the_command(other: Path, tmp_path: Path) -> None:
    path, out = write_votes(tmp_path / "v.jsonl", simulated_rows(0)), tmp_path / "out"
    words = ["rate", str(path), "--out", str(out), "--compare", str(other), "--without", "J05"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "Without J05: 0." in result.output
    assert json.loads((out / "rating.json").read_text())["compared"]["without"] == ["J05"]
    assert "Compared with" in (out / "rating.html").read_text()
    result = CliRunner().invoke(app, ["rate", str(path), "--out", str(out), "--without", "J05"])
    assert result.exit_code == 2
    assert "give --compare" in result.output
    result = CliRunner().invoke(
        app, ["rate", str(path), "--out", str(out), "--scale", str(other), "--compare", str(other)]
    )
    assert "--compare is for a fit" in result.output
