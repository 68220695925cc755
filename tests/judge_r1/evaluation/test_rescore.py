"""Stored votes of a real evaluation over HTTP, scored again."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_server import run
from factories import mini_pairs
from fake_judge_endpoint import JudgeServer, chat_completion
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.cli import app
from judge_r1.cli.eval import eval_
from judge_r1.cli.replay import replay
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Item, Vote
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict
from judge_r1.episode.parsing import parse_strict, parse_tolerant
from judge_r1.evaluation.rescore import REWARDS, reparse, with_rule
from judge_r1.evaluation.votes import stored_votes
from judge_r1.files.jsonl import write_jsonl

COUNT = 30


def sloppy(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    """Answers that both parsers take, that the tolerant one takes, and that none does; some are no answers at all."""
    drawn = int(content_hash(body["messages"][1]["content"]), 16)
    judgment = json.dumps({"comparison": "A>B" if drawn % 2 else "A<B", "violated_principles": [drawn % 6 + 1]})
    forms = (judgment, f"Well: {judgment}", "neither", judgment)
    text = forms[drawn % 4]
    if "stop" not in body:
        return chat_completion(text)
    return chat_completion(f"<answer>{text}" if drawn % 7 else "<think>hm")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, data = tmp_path_factory.mktemp("replay"), mini_pairs(COUNT)
    write_jsonl(folder / "data" / "cases.jsonl", data.cases.values())
    write_jsonl(folder / "data" / "pairs.jsonl", data.pairs)
    with JudgeServer(sloppy) as server:
        agent = f"agent=agentic:context=none,search=false@{server.url}#toy"
        panel = f"panel=panel:orders=2(direct:context=none@{server.url}#toy|longer)"
        eval_(judge=[agent, panel], path=folder / "data", out=folder / "eval")
    return folder


def again(home: Path, out: Path, **options: Any) -> dict[str, Any]:
    replay(home / "eval", path=home / "data", out=out, **options)
    assert (out / "report.html").exists()
    summary: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return summary


def rows(summary: dict[str, Any]) -> dict[str, Any]:
    return {row["name"]: row for row in summary["rows"]}


def test_replay_without_options_gives_the_same_summary(home: Path, tmp_path: Path) -> None:
    original = json.loads((home / "eval" / "summary.json").read_text())
    replayed = again(home, tmp_path / "same")
    assert replayed | {"digest": original["digest"]} == original
    assert replayed["digest"]["outcomes"] == original["digest"]["outcomes"]
    agent = rows(original)["agent"]
    assert agent["usage"]["calls"] == agent["n"] == len(mini_pairs(COUNT).pairs)
    strict = rows(again(home, tmp_path / "strict", parser="strict"))
    assert strict["agent"] == agent, "the agentic judge was read strictly already"
    assert strict["panel"]["ended"] != rows(original)["panel"]["ended"], "the direct one was read tolerantly"


def test_panels_missing_in_the_summary_are_not_replayed(home: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(home / "eval", tmp_path / "eval")
    eval_(judge=["longer"], path=home / "data", out=folder, limit=5)
    replay(folder, path=home / "data", out=tmp_path / "again")
    summaries = [json.loads((path / "summary.json").read_text()) for path in (tmp_path / "again", folder)]
    assert len({json.dumps(summary | {"digest": {}}) for summary in summaries}) == 1


def test_tolerant_parser_accepts_more_answers(home: Path, tmp_path: Path) -> None:
    before = rows(json.loads((home / "eval" / "summary.json").read_text()))["agent"]
    after = rows(again(home, tmp_path / "tolerant", parser="tolerant"))["agent"]
    assert after["valid_rate"] > before["valid_rate"]
    assert after["accuracy"] >= before["accuracy"]
    assert after["valid_rate"] == before["valid_tolerant"]
    assert after["settings"]["parser"] == "tolerant"
    assert after["ended"]["unclosed_think"] == before["ended"]["unclosed_think"]


def test_reward_and_aggregation_can_be_changed(home: Path, tmp_path: Path) -> None:
    before = rows(json.loads((home / "eval" / "summary.json").read_text()))
    other = rows(again(home, tmp_path / "reward", reward="comparison"))
    assert other["agent"]["reward"] == pytest.approx(before["agent"]["accuracy"])
    assert other["agent"]["accuracy"] == before["agent"]["accuracy"]
    strictest = rows(again(home, tmp_path / "all", aggregation="all"))
    assert strictest["panel"]["accuracy"] <= before["panel"]["accuracy"]
    assert strictest["agent"] == before["agent"] | {"settings": before["agent"]["settings"] | {"rule": "all"}}


@pytest.mark.parametrize(("option", "wrong"), [("--parser", "kind"), ("--aggregation", "last"), ("--reward", "none")])
def test_unknown_choices_are_rejected(home: Path, tmp_path: Path, option: str, wrong: str) -> None:
    arguments = ["replay", str(home / "eval"), "--path", str(home / "data"), "--out", str(tmp_path / "x")]
    result = CliRunner().invoke(app, [*arguments, option, wrong], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert f"'{wrong}' is not one of" in result.output
    assert not (tmp_path / "x").exists()


def test_items_outside_the_benchmark_are_rejected(home: Path, tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="that it was run on"):
        replay(home / "eval", path=home / "data", out=tmp_path / "x", subset="legal")
    with pytest.raises(JudgeError, match="no benchmark is named ''"):
        replay(home / "eval", path=home / "data", out=tmp_path / "x", benchmark="")
    assert not (tmp_path / "x").exists()


def test_replay_command_in_a_process(home: Path, tmp_path: Path) -> None:
    done = run("replay", home / "eval", "--path", home / "data", "--out", tmp_path / "x")
    assert done.returncode == 0, done.stderr
    nowhere = run("replay", tmp_path, "--path", home / "data", "--out", tmp_path / "y")
    assert (nowhere.returncode, nowhere.stderr.count("\n")) == (2, 1)
    assert "replay takes a folder that `eval` has finished" in nowhere.stderr


def test_reparsing_stored_trajectories_changes_nothing(home: Path) -> None:
    for stored in stored_votes(home / "eval"):
        if stored.trajectory.turns:
            parse = parse_strict if stored.row == "agent" else parse_tolerant
            assert reparse(stored.trajectory, parse) == stored.trajectory
            strict, tolerant = (reparse(stored.trajectory, p).judgment for p in (parse_strict, parse_tolerant))
            assert strict is None or strict.comparison == (tolerant and tolerant.comparison)


@given(st.lists(st.tuples(st.sampled_from([(0, 1), (1, 0)]), st.sampled_from(["A", "B", "tie", None])), min_size=1))
def test_aggregation_rules_equal_plain_counting(drawn: list[tuple[tuple[int, int], str | None]]) -> None:
    item = Item(item_id="i", cluster_id="c", instruction="q", candidates=("x", "y"), gold="A")
    games = [
        Vote(
            order=order, sample=0, member=0, ended="x", searches=0,
            verdict=PairwiseVerdict(winner=winner) if winner else InvalidVerdict(reason="x"),  # type: ignore[arg-type]
        )
        for order, winner in drawn
    ]  # fmt: skip
    suite = pair_benchmark(mini_pairs(1))
    right = [game.winner == 0 for game in games]
    assert with_rule(suite, "all").aggregate(item, games).score == float(all(right))
    assert with_rule(suite, "first").aggregate(item, games).score == float(right[0])
    assert with_rule(suite, "own").aggregate is suite.aggregate


def test_rewards_lie_between_zero_and_one() -> None:
    best, worst = {"R1": 2.0, "R2": 1.0}, {"R1": -2.0, "R2": -1.0}
    assert [reward(best) for reward in REWARDS.values()] == [1.0] * 3
    assert [reward(worst) for reward in REWARDS.values()] == [0.0] * 3
