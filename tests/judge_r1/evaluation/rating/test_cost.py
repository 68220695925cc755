"""The tokens that judges write, and the front of judges that no cheaper one reaches."""

import json
from pathlib import Path

import pytest
from evaluation_digests import write_summary
from hypothesis import given
from hypothesis import strategies as st
from test_rate import simulated_rows, write_votes

from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.rating.cost import cost_front, written_tokens
from judge_r1.evaluation.rating.grids import grids
from judge_r1.evaluation.rating.leaderboard import rate
from judge_r1.evaluation.rating.records import JudgeRating
from judge_r1.evaluation.rating.slices import RatingOptions
from judge_r1.evaluation.rating.vote_files import read_votes
from judge_r1.files.digests import with_digest


def judge(name: str, elo: float | None) -> JudgeRating:
    return JudgeRating(judge=name, status="rated", elo=elo, se=None, ci95=None, accuracy=0.5, votes=1)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8))
def test_the_front_holds_exactly_the_judges_that_none_beats(found: list[tuple[int, int]]) -> None:
    """By the definition: no other judge is as cheap and strictly better, or strictly cheaper and as good."""
    judges = [judge(str(number), float(elo)) for number, (elo, _) in enumerate(found)]
    front = {found[int(row.judge)] for row in cost_front(judges, {str(n): float(t) for n, (_, t) in enumerate(found)})}
    beaten = {
        (elo, tokens) for elo, tokens in found for other, cost in found
        if other >= elo and cost <= tokens and (other, cost) != (elo, tokens)
    }  # fmt: skip
    assert front == set(found) - beaten


def test_judges_without_elo_or_tokens_are_left_out() -> None:
    assert cost_front([judge("a", None), judge("b", 1.0)], {"a": 1.0}) == []


def test_tokens_of_an_evaluation(tmp_path: Path) -> None:
    def line(row: str, item: str, mask: list[int] | None, usage: dict[str, float] | None = None) -> str:
        trajectory = {"text_only": mask is None, "loss_mask": mask or [], "turns": []}
        body = json.dumps({"row": row, "item_id": item, "trajectory": trajectory, "usage": usage}).encode()
        return with_digest(body)[0].decode()

    assert written_tokens(tmp_path) == {}
    lines = [line("own", "1", [1, 0, 1]), line("own", "1", [1]), line("text", "1", None), line("own", "2", [])]
    lines += [line("served", "1", None, {"output_tokens": 7.0}), line("served", "1", None)]
    (tmp_path / "votes.jsonl").write_text("".join(lines))
    write_summary(tmp_path, {"rows": [], "differences": [], "seconds": {}})
    assert written_tokens(tmp_path) == {("own", "1"): 3.0, ("own", "2"): 0.0}


def test_a_column_of_tokens(tmp_path: Path) -> None:
    simulated = simulated_rows()
    rows = [{**row, "tokens": 10 if row["judge"] == simulated[0]["judge"] else ""} for row in simulated]
    rating, _ = rate(read_votes([write_votes(tmp_path / "v.jsonl", rows)]), RatingOptions(repeats=1))
    assert list(rating.tokens.values()) == [10.0]
    assert rating.front == (rows[0]["judge"],)
    (cost,) = [grid for grid in grids(rating) if grid.title == "Cost"]
    assert cost.rows[0][::3] == (rows[0]["judge"], "yes")
    for wrong in (-1, "many", "nan", "inf"):
        with pytest.raises(JudgeError, match=r"column 'tokens' holds .*, and must hold numbers from 0"):
            read_votes([write_votes(tmp_path / "v.jsonl", [{**rows[0], "tokens": wrong}])])


def test_tokens_of_published_matches(tmp_path: Path) -> None:
    match = {
        "id": "p1", "model": {"name": "m"}, "usage": {"completion_tokens": 549},
        "judge": {"correct_verdict": True, "correct_bad_round": True, "correct_behavior_type": True},
    }  # fmt: skip
    (tmp_path / "matches.json").write_text(json.dumps([match]))
    assert read_votes([tmp_path / "matches.json"]).tokens == {"m": [549.0]}
