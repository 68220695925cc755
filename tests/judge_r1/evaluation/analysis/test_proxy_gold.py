"""Proxy and gold over checkpoints: the hand case, what is refused, and the command with judges without a model."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ItemResult, Vote
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict, Verdict, Winner
from judge_r1.evaluation.analysis.proxy_gold import FALLS, LAGS, RISES, Answers, grid, measure, read_answers


def result(step: int, prompt: str, winner: Winner, verdict: Verdict | None = None) -> ItemResult:
    """Both orders prefer the same answer; A is that of the step."""
    other: Winner = {"A": "B", "B": "A", "tie": "tie"}[winner]  # type: ignore[assignment]
    votes = [
        Vote(
            order=order, sample=0, member=0, verdict=verdict or PairwiseVerdict(winner=won), ended="answer", searches=0
        )
        for order, won in (((0, 1), winner), ((1, 0), other))
    ]
    shown = PairwiseVerdict(winner=winner)
    return ItemResult(
        judge="j", item_id=f"{step}/{prompt}/0", cluster_id=prompt, group=f"{step}", gold="A", verdict=shown, score=0,
        votes=tuple(votes),
    )  # fmt: skip


def results(won: Mapping[int, Sequence[bool]]) -> list[ItemResult]:
    return [result(step, f"{n:03}", "A" if one else "B") for step, own in won.items() for n, one in enumerate(own)]


def answers(*steps: int) -> Answers:
    return Answers((), {}, steps, dict.fromkeys(steps, 10.0), Counter())


def test_the_hand_case() -> None:
    """200 prompts: proxy .50, .80, .88; gold .50, .56, .52, which at last gains 22 prompts and loses 30."""
    proxy = {100: [n < 160 for n in range(200)], 200: [n < 176 for n in range(200)]}
    before = [n < 112 for n in range(200)]
    gold = {100: before, 200: [not one if n < 30 or 112 <= n < 134 else one for n, one in enumerate(before)]}
    found = measure(answers(0, 100, 200), results(proxy), results(gold))
    first, second, third = found["steps"]
    assert (first["proxy"]["value"], first["gold"]["value"], found["prompts"]) == (0.5, 0.5, 200)
    assert (second["proxy"]["value"], second["gold"]["value"]) == (pytest.approx(0.8), pytest.approx(0.56))
    assert second["gap"]["value"] == pytest.approx(0.24)
    assert second["says"] == LAGS, "gold's .56 is within its interval"
    assert (third["best"], third["change"]["value"]) == (100, pytest.approx(-0.04))
    assert third["change"]["ci95"] == [pytest.approx(-0.110, abs=0.002), pytest.approx(0.030, abs=0.002)]
    assert third["says"] == LAGS
    assert third["agreement"] == pytest.approx(fmean_equal(proxy[200], gold[200]))
    shown = grid(found)
    assert "a warning is a hint" in shown.note
    assert "shares its blind spots" in shown.note
    assert shown.rows[-1][-1] == LAGS


def fmean_equal(one: Sequence[bool], other: Sequence[bool]) -> float:
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)


def test_a_warning_needs_a_proxy_that_rises_and_gold_that_falls() -> None:
    """Gold wins 90 of 100 prompts at step 1 and 60 at step 2; the proxy rises, or not."""
    gold = {1: [n < 90 for n in range(100)], 2: [n < 60 for n in range(100)]}
    rising, falling = ({1: [n < 70 for n in range(100)], 2: [n < last for n in range(100)]} for last in (95, 70))
    for proxy, says in ((rising, FALLS), (falling, "")):
        found = measure(answers(0, 1, 2), results(proxy), results(gold))
        assert [step.get("says") for step in found["steps"]] == [None, RISES, says]


@pytest.mark.parametrize("prompts", [3, 40])
def test_intervals_of_differences_stay_within_their_bounds(prompts: int) -> None:
    """The proxy wins all but one prompt and gold loses all but one. A t-interval of three gaps ends at 2.1."""
    won, lost = ({1: [(n > 0) == side for n in range(prompts)]} for side in (True, False))
    last = measure(answers(0, 1), results(won), results(lost))["steps"][-1]
    assert -1 < last["gap"]["ci95"][0] < last["gap"]["value"] < last["gap"]["ci95"][1] <= 1
    assert -1 < last["change"]["ci95"][0] < last["change"]["value"] < last["change"]["ci95"][1] < 1


def test_a_prompt_without_a_valid_answer_is_left_out_everywhere() -> None:
    own = {1: [True] * 9, 2: [True] * 9}
    broken = [*results(own)[:-1], result(2, "008", "A", InvalidVerdict(reason="turn_budget"))]
    found = measure(answers(0, 1, 2), results(own), broken)
    assert (found["prompts"], found["left_out"]) == (8, 1)
    with pytest.raises(JudgeError, match="1 prompt validly at every step: an interval needs two"):
        measure(answers(0, 1), results({1: [True]}), results({1: [True]}))


def write(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def rows_of(steps: Mapping[int, str], prompts: int = 8, **more: Any) -> list[dict[str, Any]]:
    return [
        {"step": step, "prompt": f"p{n}", "answer": answer, **more}
        for step, answer in steps.items()
        for n in range(prompts)
    ]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (rows_of({0: "a"}), "answers of 1 step: sample the same prompts"),
        (
            [*rows_of({0: "a", 5: "b"}), {"step": 5, "prompt": "p0", "answer": "c"}],
            "step 5 answers",
        ),
        (rows_of({0: "a", 5: "a"}), "all answers equal those of step 0"),
        ([{"step": "x", "prompt": "p", "answer": "a"}], "step"),
    ],
)
def test_answers_that_cannot_be_compared_are_refused(tmp_path: Path, rows: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(JudgeError, match=says):
        read_answers(write(tmp_path / "answers.jsonl", rows))


def test_the_command_shows_a_proxy_that_likes_length_alone(tmp_path: Path) -> None:
    """Answers get longer and lose the case's words: `longer` prefers them, `evidence` does not."""
    steps = {0: "Ana paid 34 crowns.", 10: "Ana paid 34 crowns.", 20: "Ana paid 43 crowns, and that is all there is."}
    file = write(tmp_path / "answers.jsonl", rows_of(steps, context="Ana paid 34 crowns. Ben paid nothing."))
    arguments = ["analyse", "proxy-gold", str(file), "--proxy", "longer", "--gold", "evidence"]
    for more, says in (
        ([], ""),
        ([], "add --resume to keep them and ask only for what is missing"),
        (["--resume"], ""),
    ):  # the last judges nothing again
        done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "out"), *more])
        assert (done.exit_code != 0) == bool(says), done.output
        assert says in " ".join(done.output.split())
    found = json.loads((tmp_path / "out/proxy-gold.json").read_text())
    assert [step["proxy"]["value"] for step in found["steps"]] == [0.5, 0.5, 1.0]
    assert [step["gold"]["value"] for step in found["steps"]] == [0.5, 0.5, 0.0]
    assert [step.get("says") for step in found["steps"]] == [None, "", FALLS]
    assert (tmp_path / "out/proxy-gold-proxy-and-gold-over-checkpoints.svg").exists()
    same = CliRunner().invoke(app, [*arguments[:-1], "x=longer", "--out", str(tmp_path / "other")])
    assert same.exit_code != 0
    assert "cannot check itself" in same.output
