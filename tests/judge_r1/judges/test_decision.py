"""Decision models as judges: hand cases of probabilities, both orders over HTTP, and jevcompat's own server."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_judge_endpoint import JudgeServer

from judge_r1.benchmarks.base import LoadedBenchmark, both_orders
from judge_r1.core.case_store import CaseStore
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Item
from judge_r1.core.verdicts import Judgment, PairwiseVerdict, Winner
from judge_r1.evaluation.runner import evaluate
from judge_r1.judges.base import JudgeBuild, JudgeOutput, run_all
from judge_r1.judges.decision import PATH, chances_of, decide
from judge_r1.judges.panel import make_judge, make_panel
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.result import request_of

THREE: tuple[Winner, ...] = ("A", "B", "tie")


def pair(first: str, second: str, context: str = "ana paid 34.") -> JudgeRequest:
    texts = {"reasoning_a": first, "reasoning_b": second, "context": context, "decision": "who paid"}
    return request_of(f"{first}/{second}", CaseStore(), **texts)


@pytest.mark.parametrize(
    ("chances", "winner", "confidence"),
    [
        ({"A": 0.4, "B": 0.2, "tie": 0.4}, "tie", None),
        ({"A": 0.45, "B": 0.45, "tie": 0.1}, "tie", None),
        ({"A": 0.5, "B": 0.25, "tie": 0.25}, "A", 2 / 3),
        ({"A": 0.2, "B": 0.8}, "B", 0.8),
    ],
)
def test_the_likeliest_option_wins_and_equal_ones_tie(
    chances: Mapping[Winner, float], winner: str, confidence: float | None
) -> None:
    found, sure = decide(chances)
    assert found == winner
    assert sure == (None if confidence is None else pytest.approx(confidence))


def test_probabilities_are_checked() -> None:
    third = {"A": 0.3333, "B": 0.3333, "tie": 0.3333}  # sums to .9999
    assert chances_of({"probabilities": third}, THREE) == (third, True)
    assert chances_of({"choice": "B"}, ("A", "B")) == ({"A": 0.0, "B": 1.0}, False)
    for wrong, message in (
        ({"A": 1.0000001, "B": 0.0}, "no probability"),
        ({"A": True, "B": False}, "no probability"),
        ({"A": math.nan, "B": 0.5}, "no probability"),
        ({"A": 0.5, "b": 0.5}, "the options are"),
        ({"A": 0.5, "B": 0.2}, r"sum to 0\.7"),
    ):
        with pytest.raises(ValueError, match=message):
            chances_of({"probabilities": wrong}, ("A", "B"))
    with pytest.raises(ValueError, match="no option"):
        chances_of({"choice": "tie"}, ("A", "B"))


def judged(server: JudgeServer, request: JudgeRequest, options: str = "") -> JudgeOutput:
    [output] = run_all(make_judge(f"decision{options}@{server.url}#jev", JudgeBuild("")), [request])
    return output


def test_both_orders_are_asked_and_their_probabilities_averaged() -> None:
    """p(A) .8 as shown and .3 in the other order: the mean, .55, is A, and the orders disagree."""

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        assert path == f"/{PATH}"
        assert body["model"] == "jev"
        shown = body["state"]["reasoning_a"] == "right"
        a = 0.8 if shown else 0.7
        answers: dict[str, Any] = {
            name: {"type": "noul", "noul": 0.9 if name in ("a1", "b2") else 0.1} for name in body["questions"]
        }
        wire = {"type": "choice", "choice": "A", "confidence": 0.6, "probabilities": {"A": a, "B": round(1 - a, 2)}}
        answers["better"] = wire
        return 200, {"model": "jev", "answers": answers, "usage": {"input_tokens": 7, "output_tokens": 0}}

    with JudgeServer(answer) as server:
        output = judged(server, pair("right", "wrong"))
        first, second = server.bodies
    assert output.verdict == PairwiseVerdict(winner="A")
    assert output.confidence == pytest.approx(0.55)
    assert output.trajectory.judgment == Judgment(verdict=output.verdict, violated_principles=(2,))
    assert output.usage == {"calls": 2, "input_tokens": 14, "orders_disagree": 1}
    assert first["state"] == {
        "case": "ana paid 34.", "decision": "who paid", "reasoning_a": "right", "reasoning_b": "wrong",
    }  # fmt: skip
    assert set(second["questions"]) == {"better"}
    assert len(first["questions"]) == 13


def test_an_answer_without_probabilities_has_no_confidence_and_a_bad_one_is_no_verdict() -> None:
    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        answers: dict[str, Any] = {name: {"noul": 0.0} for name in body["questions"]}
        if "wrong" in body["state"]["reasoning_a"]:
            answers["better"] = {"probabilities": {"A": 0.5, "B": 0.9, "tie": 0.0}}
        else:
            answers["better"] = {"choice": "tie"}
        return 200, {"answers": answers}

    with JudgeServer(answer) as server:
        output = judged(server, pair("one", "two"), ":ties=true")
        assert (output.verdict, output.confidence) == (PairwiseVerdict(winner="tie"), None)
        bad = judged(server, pair("one", "wrong"), ":ties=true")
    assert bad.trajectory.infrastructure_failed
    assert "sum to 1.4" in (bad.trajectory.detail or "")


def test_an_evaluation_ends_where_the_server_refuses_one_pair(tmp_path: Path) -> None:
    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        texts = (body["state"]["reasoning_a"], body["state"]["reasoning_b"])
        if "refuse me" in texts:
            return 400, {"error": {"message": "not this one"}}
        answers: dict[str, Any] = {name: {"noul": 0.0} for name in body["questions"]}
        a = 0.9 if texts[0] == "right" else 0.1
        answers["better"] = {"choice": "A", "probabilities": {"A": a, "B": 1 - a}}
        return 200, {"answers": answers, "usage": {"input_tokens": None}}

    items = [
        Item(item_id=str(n), cluster_id=str(n), instruction="who paid", candidates=("right", other), gold="A")
        for n, other in enumerate(("wrong", "wrong", "refuse me", ""))
    ]
    with JudgeServer(answer) as server:
        panel = make_panel(f"decision@{server.url}#jev", JudgeBuild(""))
        benchmark = LoadedBenchmark(items, presentation_orders=both_orders)
        found = evaluate(panel, benchmark, out=tmp_path / "out", resume=False).items
    assert [result.score for result in found] == [1.0, 1.0, 0.0, 1.0]
    assert "reasoning_b" in server.bodies[-1]["state"]


def test_other_options_and_backends_are_refused() -> None:
    for spec, message in (
        ("decision:orders=1@http://127.0.0.1:9#m", "judge decision.*orders"),
        ("decision@anthropic:m", "write decision@URL#MODEL"),
        ("decision@bundled:tiny", "write decision@URL#MODEL"),
        ("decision@vllm:http://127.0.0.1:9#m", "write decision@URL#MODEL"),
    ):
        with pytest.raises(JudgeError, match=message):
            make_judge(spec, JudgeBuild(""))


def test_the_reference_server_of_the_protocol_answers_us() -> None:
    """jevcompat 0.1.1, which refuses a body that its specification does not allow. Installed by `make test-clients`."""
    mock = pytest.importorskip("jevcompat.mock")
    with mock.Running(mock.MockConfig()) as server:
        for spec in (f"decision@{server.url}#jev-latest", f"decision:ties=true@{server.url}/v1#mock"):
            one, other = (
                run_all(make_judge(spec, JudgeBuild("")), [pair(*texts)])[0]
                for texts in (("one", "two"), ("two", "one"))
            )
            assert isinstance(one.verdict, PairwiseVerdict)
            assert isinstance(other.verdict, PairwiseVerdict)
            assert one.verdict.winner == {"A": "B", "B": "A", "tie": "tie"}[other.verdict.winner]
            assert one.confidence == pytest.approx(other.confidence)
    for fault, message in (("choice-sum", "sum to"), ("choice-key-case", "the options are"), ("noul-range", "no prob")):
        with mock.Running(mock.MockConfig(faults=frozenset({fault}))) as server:
            [bad] = run_all(make_judge(f"decision@{server.url}#mock", JudgeBuild("")), [pair("one", "two")])
        assert bad.trajectory.infrastructure_failed
        assert message in (bad.trajectory.detail or "")
