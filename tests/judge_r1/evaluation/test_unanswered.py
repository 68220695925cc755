"""Requests that a server refuses each time: an evaluation ends with a summary, and they are no number in it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from fake_judge_endpoint import JudgeServer, chat_completion, error_response

from judge_r1.cli.eval import eval_
from judge_r1.cli.replay import replay
from judge_r1.core.endpoint import DEFAULT_POLICY, RetryPolicy
from judge_r1.core.errors import ExitStatus, JudgeError
from judge_r1.core.record_base import content_hash
from judge_r1.evaluation.rating.vote_files import read_votes
from judge_r1.evaluation.results import read_outcomes
from judge_r1.evaluation.votes import stored_votes
from judge_r1.files.jsonl import write_jsonl

DATA = mini_pairs(24)
SIZE = len(DATA.pairs)
POISON = DATA.pairs[3]
ANSWER = json.dumps({"comparison": "A>B", "violated_principles": [2]})
Reply = tuple[int, Any]
UNLUCKY: Reply = error_response(422, "unlucky text")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without waiting."""
    defaults = [
        0.001 if name == "backoff_s" else getattr(DEFAULT_POLICY, name) for name in DEFAULT_POLICY.__match_args__
    ]
    monkeypatch.setattr(RetryPolicy.__init__, "__defaults__", tuple(defaults))


def on(body: dict[str, Any], *pairs: Any) -> bool:
    """Whether a request is about one of the pairs."""
    shown = body["messages"][1]["content"]
    return any(pair.reasoning_a in shown and pair.reasoning_b in shown for pair in pairs)


def refusing(*pairs: Any, reply: Reply = UNLUCKY) -> Callable[[str, dict[str, Any]], Reply]:
    return lambda path, body: reply if on(body, *pairs) else chat_completion(ANSWER)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "data" / "cases.jsonl", DATA.cases.values())
    write_jsonl(tmp_path / "data" / "pairs.jsonl", DATA.pairs)
    return tmp_path / "data"


def evaluate(data: Path, *urls: str, out: str = "eval", **options: Any) -> dict[str, Any]:
    judges = [f"judge{n}=direct:context=none@{url}#toy" for n, url in enumerate(urls)]
    eval_(judge=judges, path=data, out=data.parent / out, **options)
    return summary_of(data, out)


def summary_of(data: Path, out: str = "eval") -> dict[str, Any]:
    summary: dict[str, Any] = json.loads((data.parent / out / "summary.json").read_text())
    return summary


def gold_a(*without: Any) -> float:
    left = [pair for pair in DATA.pairs if pair not in without]
    return sum(pair.preferred == "A" for pair in left) / len(left)


def test_one_refused_request_of_many_ends_the_evaluation(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with JudgeServer(refusing(POISON)) as server:
        summary = evaluate(data, server.url)
        asked = len(server.bodies)
        assert evaluate(data, server.url, resume=True)["rows"] == summary["rows"]
        assert len(server.bodies) == asked, "a final vote is not asked for again"
    row, *_ = summary["rows"]
    assert (row["n"], row["unanswered"], row["missing"]) == (SIZE - 1, 1, None)
    assert row["ended"] == {"answer": SIZE - 1, "refused": 1}
    assert row["accuracy"] == gold_a(POISON)
    assert summary["unanswered"] == "excluded"
    shown = capsys.readouterr().out
    assert "unanswered" in shown
    assert "they are left out" in shown
    [stored] = [stored for stored in stored_votes(data.parent / "eval") if stored.item_id == POISON.pair_id]
    assert stored.trajectory.ended == "refused"
    assert "unlucky text" in (stored.trajectory.detail or "")
    [[*outcomes]] = read_outcomes(data.parent / "eval").values()
    assert len(outcomes) == SIZE, "the file holds every item"
    assert read_votes([data.parent / "eval"]).answers == {"judge0": SIZE - 1}, "a rating has no vote for it"


def test_they_count_as_wrong_if_asked_and_a_replay_keeps_that(data: Path) -> None:
    with JudgeServer(refusing(POISON)) as server:
        summary = evaluate(data, server.url, unanswered="wrong")
    row, *_ = summary["rows"]
    right = gold_a(POISON) * (SIZE - 1)
    assert (row["n"], row["unanswered"], row["accuracy"]) == (SIZE, 1, pytest.approx(right / SIZE))
    for mode, folder in (("wrong", "eval"), ("excluded", "other")):
        if mode == "excluded":
            with JudgeServer(refusing(POISON)) as server:
                evaluate(data, server.url, out=folder)
        replay(data.parent / folder, path=data, out=data.parent / f"replayed-{mode}")
        before, after = (summary_of(data, name)["rows"] for name in (folder, f"replayed-{mode}"))
        assert [(row["n"], row["accuracy"], row["ended"]) for row in before] == [
            (row["n"], row["accuracy"], row["ended"]) for row in after
        ]


def test_many_refused_requests_in_a_row_end_it_too(data: Path) -> None:
    """More than the failures in a row that stop a judge whose server is down, also in a run that resumes."""
    poison = DATA.pairs[2:12]
    with JudgeServer(refusing(*poison)) as server:
        row, *_ = evaluate(data, server.url, batch_size=1)["rows"]
        assert (row["n"], row["unanswered"]) == (SIZE - 10, 10)
        votes = data.parent / "eval" / "votes.jsonl"
        lines = votes.read_text().splitlines(keepends=True)
        votes.write_text("".join(line for line in lines if '"ended":"answer"' in line))
        again, *_ = evaluate(data, server.url, batch_size=8, resume=True, limit=None)["rows"]
    assert (again["n"], again["unanswered"]) == (SIZE - 10, 10)


def test_a_server_that_refuses_every_request_is_one_error_with_its_message(data: Path) -> None:
    everything = error_response(400, "Unsupported parameter: 'max_tokens'", "unsupported_parameter")
    for limit, says in ((3, "answered none of 3 requests"), (None, "8 consecutive requests failed")):
        with JudgeServer(lambda path, body: everything) as server, pytest.raises(JudgeError, match=says) as caught:
            evaluate(data, server.url, limit=limit, batch_size=4)
        assert "Unsupported parameter: 'max_tokens'" in str(caught.value)
    assert not (data.parent / "eval" / "summary.json").exists()
    assert not list(stored_votes(data.parent / "eval")), "with other options, the same folder can be used"


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ((200, {"choices": []}), "malformed_reply"),
        ((200, {"error": {"message": "odd", "code": 400}}), "refused"),
        ((200, {"choices": [{"message": {"content": "x" * 70_000_000}, "finish_reason": "stop"}]}), "reply_too_large"),
    ],
)
def test_replies_without_use_have_their_own_names(data: Path, reply: Reply, name: str) -> None:
    with JudgeServer(refusing(POISON, reply=reply)) as server:
        row, *_ = evaluate(data, server.url, limit=8)["rows"]
    assert (row["n"], row["unanswered"], row["ended"][name]) == (7, 1, 1)


def test_a_filter_counts_against_the_judge(data: Path) -> None:
    moderated = error_response(400, "Input data may contain inappropriate content.", "data_inspection_failed")
    with JudgeServer(refusing(POISON, reply=moderated)) as server:
        row, *_ = evaluate(data, server.url)["rows"]
    assert (row["n"], row["unanswered"], row["ended"]["content_filter"]) == (SIZE, None, 1)


def test_an_outage_leaves_a_summary_of_the_rest_and_a_resume_completes_it(data: Path) -> None:
    down = [True]

    def flaky(path: str, body: dict[str, Any]) -> Reply:
        return error_response(500, "down") if down[0] and on(body, POISON) else chat_completion(ANSWER)

    with JudgeServer(flaky) as server:
        options = {"limit": 6}
        with pytest.raises(JudgeError, match=r"1 of 6 votes are missing.*status 500: down.*--resume") as caught:
            evaluate(data, server.url, **options)
        assert caught.value.exit_status == ExitStatus.TRY_AGAIN
        row, *_ = summary_of(data)["rows"]
        assert (row["n"], row["missing"], row["unanswered"]) == (5, 1, None)
        down[0] = False
        row, *_ = evaluate(data, server.url, **options, resume=True)["rows"]
    assert (row["n"], row["missing"]) == (6, None)


def test_a_judge_whose_server_is_gone_does_not_stop_the_others(data: Path) -> None:
    with JudgeServer(refusing()) as gone:
        pass
    with JudgeServer(refusing()) as server, pytest.raises(JudgeError, match="cannot be reached"):
        evaluate(data, gone.url, server.url)
    assert [row["name"] for row in summary_of(data)["rows"]] == ["judge1", "longer", "evidence"]


def test_differences_are_over_the_items_that_both_judges_answered(data: Path) -> None:
    def mostly_b(path: str, body: dict[str, Any]) -> Reply:
        drawn = int(content_hash(body["messages"][1]["content"]), 16) % 3
        return chat_completion(ANSWER if not drawn else ANSWER.replace("A>B", "A<B"))

    with JudgeServer(refusing(POISON)) as first, JudgeServer(mostly_b) as second:
        summary = evaluate(data, first.url, second.url)
    one, other, *_ = summary["rows"]
    assert (one["n"], other["n"]) == (SIZE - 1, SIZE)
    [difference] = summary["differences"]
    outcomes = read_outcomes(data.parent / "eval")
    scores = {name: {o.item_id: o.score for o in found} for name, found in outcomes.items()}
    shared = [pair.pair_id for pair in DATA.pairs if pair != POISON]
    expected = sum(scores["judge1"][item] - scores["judge0"][item] for item in shared) / len(shared)
    assert (difference["n"], difference["delta"]) == (SIZE - 1, pytest.approx(expected))
    assert summary["shared"]["n"] == SIZE - 1
