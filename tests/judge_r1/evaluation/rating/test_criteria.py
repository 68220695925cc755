"""Ratings by a part of the verdict, the bias between types, and judges of their own pairs."""

import json
from collections import Counter
from pathlib import Path

import pytest
from evaluation_digests import write_summary
from typer.testing import CliRunner

from data_builders.build import build
from judge_r1.benchmarks.rankjudge.scoring import confusion
from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.rating.grids import grids
from judge_r1.evaluation.rating.leaderboard import rate
from judge_r1.evaluation.rating.slices import RatingOptions
from judge_r1.evaluation.rating.vote_files import read_votes


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The baselines on 60 pairs of short conversations."""
    folder = tmp_path_factory.mktemp("criteria")
    build("mini-conversations", folder / "data", variants=3, limit=20)
    words = ["eval", "--benchmark", "rankjudge", "--path", str(folder / "data"), "--out", str(folder / "eval")]
    assert CliRunner().invoke(app, words).exit_code == 0
    return folder / "eval"


def test_criteria_of_an_evaluation_are_its_metrics(evaluation: Path) -> None:
    rows = {row["name"]: row for row in json.loads((evaluation / "summary.json").read_text())["rows"]}
    for criterion, of_row in (
        ("score", lambda row: row["accuracy"]),
        ("side+round", lambda row: row["extra"]["side+round"]),
        ("side", lambda row: row["extra"]["side"]),
    ):
        votes = read_votes([evaluation], criterion=criterion)  # type: ignore[arg-type]
        totals: Counter[str] = Counter()
        for judge, _, score in votes.votes:
            totals[judge] += score  # type: ignore[assignment]
        assert {name: total / 60 for name, total in totals.items()} == pytest.approx(
            {name: of_row(row) for name, row in rows.items()}
        )


def test_the_bias_is_that_of_the_evaluation(evaluation: Path) -> None:
    rating, _ = rate(read_votes([evaluation]), RatingOptions(repeats=1))
    (table,) = [grid for grid in grids(rating) if grid.title == "Bias between types of flaws"]
    rows = {row["name"]: row for row in json.loads((evaluation / "summary.json").read_text())["rows"]}
    assert [row[0] for row in table.rows] == [judge.judge for judge in rating.slices[0].judges]
    for judge, *shown in table.rows:
        assert shown == [f"{rows[judge]['extra'][f'bias {letter}']:+.0f}" for letter in "ABCDEFG"]
        counts = {(gold, name): n for gold, row in rating.types[judge].items() for name, n in row.items()}
        assert rows[judge]["tables"]["Named type by type of the flaw"] == confusion(counts)


def test_criteria_of_published_matches(tmp_path: Path) -> None:
    match = {
        "id": "p1", "model": {"name": "m"}, "judge": {
            "answer": "A", "correct_verdict": True, "correct_bad_round": True, "correct_behavior_type": False,
            "correct": False, "behavior_type_gt": "A", "behavior_type_pred": "evasion",
        },
    }  # fmt: skip
    path = tmp_path / "matches.json"
    path.write_text(json.dumps([match]))
    scores = [read_votes([path], criterion=name).votes[0][2] for name in ("score", "side+round", "side")]  # type: ignore[arg-type]
    assert scores == [0.0, 1.0, 1.0]
    assert read_votes([path]).types == {"m": {("self_contradiction", "evasion"): 1}}


def test_votes_without_parts_have_no_criterion(tmp_path: Path, evaluation: Path) -> None:
    (tmp_path / "v.jsonl").write_text('{"judge": "a", "item": "i", "score": 1}\n')
    with pytest.raises(JudgeError, match="whose score has no parts: leave out --criterion"):
        read_votes([tmp_path / "v.jsonl"], criterion="side")
    line = json.loads((evaluation / "outcomes.jsonl").read_text().splitlines()[0])
    (tmp_path / "outcomes.jsonl").write_text(json.dumps({**line, "gold": "A"}) + "\n")
    write_summary(tmp_path, {"rows": [], "differences": [], "seconds": {}})
    with pytest.raises(JudgeError, match="holds no votes on conversations: leave out --criterion"):
        read_votes([tmp_path], criterion="side")


def test_a_judge_of_its_own_pairs_is_named(evaluation: Path, tmp_path: Path) -> None:
    """A judge whose name holds the model that wrote the pairs."""
    lines = [json.loads(line) for line in (evaluation / "outcomes.jsonl").read_text().splitlines()]
    for line in lines:
        line["gold"]["generator"] = "chat:Big-5"
        line["judge"] = {"chance": "direct@http://host/v1#big-5"}.get(line["judge"], line["judge"])
    (tmp_path / "outcomes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    write_summary(tmp_path, {"rows": [], "differences": [], "seconds": {}})
    rating, _ = rate(read_votes([tmp_path]), RatingOptions(repeats=1))
    assert rating.writers == ("direct@http://host/v1#big-5",)
    assert "#big-5: this model wrote pairs that it judges" in grids(rating)[0].note
    assert rate(read_votes([evaluation]), RatingOptions(repeats=1))[0].writers == ()
