"""The tokens that judges write, and the front of judges that no cheaper one reaches."""

import json
from pathlib import Path

import pytest
from evaluation_digests import write_summary
from hypothesis import given
from hypothesis import strategies as st
from test_rate import simulated_rows, write_votes
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.rating.cost import Used, cost_front, used_tokens
from judge_r1.evaluation.rating.grids import grids
from judge_r1.evaluation.rating.leaderboard import rate
from judge_r1.evaluation.rating.pipeline import run_rating
from judge_r1.evaluation.rating.records import JudgeRating, read_rating
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

    assert used_tokens(tmp_path) == {}
    lines = [line("own", "1", [1, 0, 1]), line("own", "1", [1]), line("text", "1", None), line("own", "2", [])]
    lines += [line("served", "1", None, {"output_tokens": 7.0}), line("served", "1", None)]
    lines += [line("paid", "1", None, {"output_tokens": 7.0, "input_tokens": n}) for n in (20.0, 22.0)]
    (tmp_path / "votes.jsonl").write_text("".join(lines))
    write_summary(tmp_path, {"rows": [], "differences": [], "seconds": {}})
    assert used_tokens(tmp_path) == {
        ("own", "1"): Used(3.0, None), ("own", "2"): Used(0.0, None), ("paid", "1"): Used(14.0, 42.0),
    }  # fmt: skip


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


def test_cost_in_usd_by_prices_of_a_day(tmp_path: Path) -> None:
    """Fig. 4, by hand: 1,000 tokens read, and 100 or 200 written."""
    names = sorted({row["judge"] for row in simulated_rows()})
    rows = [{**row, "tokens": 100 * (1 + names.index(row["judge"])), "input_tokens": 1000} for row in simulated_rows()]
    votes = write_votes(tmp_path / "v.jsonl", rows)
    prices = tmp_path / "prices.yaml"
    prices.write_text(f"date: 2026-11-30\n{names[0]}: {{input: 1, output: 10}}\n{names[1]}: {{input: 2, output: 20}}\n")
    command = ["rate", str(votes), "--repeats", "1", "--out", str(tmp_path / "out"), "--prices"]
    result = CliRunner().invoke(app, [*command, str(prices)])
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "out/rating.json").read_text())
    assert found["usd"] == {names[0]: pytest.approx(0.002), names[1]: pytest.approx(0.006)}
    assert (found["prices_date"], names[0] in found["usd_front"]) == ("2026-11-30", True)
    assert "$0.002" in (tmp_path / "out/elo-by-usd-per-match.svg").read_text()
    assert (tmp_path / "out/elo-by-written-tokens-per-match.svg").exists()
    for text, says in (
        (f"{names[0]}: {{input: 1, output: 1}}", "needs a line such as `date"),
        ("date: today", "date must be a day"),
        ("date: 2026-11-30\nnobody: {input: 1, output: 1}", "no judge is named 'nobody'"),
    ):
        prices.write_text(text)
        result = CliRunner().invoke(app, [*command, str(prices)])
        assert says in result.output + str(result.exception)


def test_old_ratings_without_prices_are_read(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_rating(read_votes([write_votes(tmp_path / "v.jsonl", simulated_rows())]), RatingOptions(repeats=1), out)
    assert "usd" not in json.loads((out / "rating.json").read_text())
    assert read_rating(out).usd == {}
