"""A panel as one judge: for servers, rewards and the Python API."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest
from fake_judge_endpoint import JudgeServer, chat_completion
from serving_fixture import PAIR, InvalidJudge, LiveServer, service

from judge_r1 import load_judge
from judge_r1.client import Client
from judge_r1.core.case_store import CaseStore
from judge_r1.core.errors import JudgeError
from judge_r1.core.event_loop import run_sync
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import InvalidVerdict, Judgment, PairwiseVerdict, ScoresVerdict
from judge_r1.judges.base import BadJudge, JudgeBuild, JudgeOutput
from judge_r1.judges.panel import make_judge, served_judge
from judge_r1.judges.panel_judge import PanelJudge, Rule, decide
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.result import request_of, result_of


class Sure:
    """Prefers what contains "good", with a confidence, and names principles."""

    settings: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, confidence: float, principles: tuple[int, ...] = (), *, first: bool = False) -> None:
        self.name, self.confidence, self.principles, self.first = "sure", confidence, principles, first
        self.closed = False

    def check(self, requests: Sequence[JudgeRequest]) -> None: ...

    def close(self) -> None:
        self.closed = True

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            await asyncio.sleep(0)
            better = self.first or "good" in request.task.reasoning_a  # type: ignore[union-attr]
            said = f"Text {'A' if better else 'B'} is right"
            judgment = Judgment.pairwise("A>B" if better else "A<B", self.principles).model_copy(
                update={"explanation": said}
            )
            trajectory = Trajectory.without_ids("answer", (), judgment)
            yield JudgeOutput(request, trajectory, judgment.verdict, self.confidence)


def ask(members: Sequence[Any], *, orders: int | None = None, samples: int = 1, first: str = "good") -> JudgeOutput:
    second = "bad" if first == "good" else "good"
    request = request_of("1", CaseStore(), reasoning_a=first, reasoning_b=second)
    panel = PanelJudge("panel", members, orders=orders, samples=samples, at_a_time=4)

    async def one() -> JudgeOutput:
        [output] = [output async for output in panel.judge([request])]
        return output

    return run_sync(one())


@pytest.mark.parametrize("first", ["good", "bad"])
def test_the_majority_decides_and_the_confidence_is_the_mean_probability(first: str) -> None:
    output = ask([Sure(0.9, (2, 4)), Sure(0.7, (4,)), Sure(0.6, first=first == "bad")], first=first)
    result = result_of(output)
    assert result.winner == ("A" if first == "good" else "B")
    assert result.confidence == pytest.approx((0.9 + 0.7 + (0.6 if first == "good" else 0.4)) / 3)
    assert 4 in result.violated_principles


def test_a_judge_that_looks_at_the_position_ties_with_itself_in_both_orders() -> None:
    result = result_of(ask([Sure(0.8, first=True)], orders=2))
    assert (result.winner, result.confidence) == ("tie", None)
    assert result_of(ask([Sure(0.8)], orders=2, first="bad")).winner == "B"


def test_the_explanation_names_the_candidates_of_the_request() -> None:
    """The first judge prefers the second text only where it is shown first, and says that text A is right."""
    split, right = Sure(0.8, (2,), first=True), Sure(0.8, (4,))
    result = result_of(ask([split, right], orders=2, first="bad"))
    assert (result.winner, result.explanation) == ("B", "Text B is right")
    tie = result_of(ask([split], orders=2))
    assert (tie.winner, tie.explanation, tie.violated_principles) == ("tie", None, ())


def test_invalid_votes_do_not_count_and_an_endpoint_that_fails_fails_the_request() -> None:
    assert result_of(ask([Sure(0.8), InvalidJudge("turn_budget")])).winner == "A"
    assert result_of(ask([InvalidJudge("turn_budget"), InvalidJudge("no_answer")])).ended == "turn_budget"
    assert ask([Sure(0.8), InvalidJudge("infrastructure_no_answer")]).trajectory.infrastructure_failed


def test_each_sample_has_a_seed_of_its_own_and_members_are_closed() -> None:
    answer = '{"comparison": "A>B", "violated_principles": [1]}'
    with JudgeServer(lambda path, body: chat_completion(answer)) as server:
        judge = served_judge(f"panel:samples=3,temperature=0.5(direct@{server.url}/v1#m)", JudgeBuild(""))
        request = request_of("1", CaseStore(), reasoning_a="a", reasoning_b="b")

        async def one() -> JudgeOutput:
            [output] = [output async for output in judge.judge([request])]
            return output

        assert result_of(run_sync(one())).winner == "A"
        assert len({body["seed"] for body in server.bodies}) == 3
        assert {body["temperature"] for body in server.bodies} == {0.5}
    member = Sure(1.0)
    PanelJudge("panel", [member], orders=None, samples=1, at_a_time=1).close()
    assert member.closed


def test_a_served_panel_answers_like_its_majority() -> None:
    judge = make_judge("panel(longer|always-a|always-a)", JudgeBuild(""))
    with LiveServer(service(judge)) as server, Client(server.url) as client:
        found = client.judge(reasoning_a=PAIR["reasoning_b"], reasoning_b=PAIR["reasoning_a"])
        assert (found.winner, found.confidence) == ("A", pytest.approx(2 / 3))
        assert found.judge == "panel(longer|always-a|always-a)"
        assert client.score("q", ["one two"], reference="one").scores == [pytest.approx((1 + 1 / 3) / 2)]


def test_a_server_answers_502_if_a_member_of_its_panel_fails() -> None:
    panel = PanelJudge("p", [Sure(1), InvalidJudge("infrastructure_x")], orders=1, samples=1, at_a_time=1)
    with LiveServer(service(panel)) as server:
        answer = httpx.post(f"{server.url}/v1/judge", json=PAIR)
    assert (answer.status_code, "infrastructure_x" in answer.text) == (502, True)


def test_the_python_api_takes_panels_and_refuses_their_mistakes() -> None:
    judge = load_judge("panel:orders=2(longer|longer)")
    assert [found.winner for found in judge.many([PAIR, PAIR], progress=False)] == ["A", "A"]
    with pytest.raises(BadJudge, match="cannot be a member"):
        load_judge("panel(panel(longer))")


A, B, TIE, NONE = (*map(Judgment.pairwise, ("A>B", "A<B")), Judgment(verdict=PairwiseVerdict(winner="tie")), None)


@pytest.mark.parametrize(
    ("votes", "winners"),
    [
        # by the majority, weights 3/1/1, all, any, min
        ((A, A, B), ("A", "A", "tie", "tie", "tie")),
        ((A, B, B), ("B", "A", "tie", "tie", "tie")),
        ((A, A, A), ("A", "A", "A", "A", "A")),
        ((A, A, TIE), ("A", "A", "tie", "A", "A")),
        ((TIE, B, NONE), ("B", "B", "tie", "B", "B")),
        ((A, A, NONE), ("A", "A", "tie", "A", "A")),
        ((TIE, TIE, TIE), ("tie",) * 5),
    ],
)
def test_rules_and_weights_of_votes(votes: Sequence[Judgment | None], winners: Sequence[str]) -> None:
    verdicts = [one.verdict if one else InvalidVerdict(reason="turn_budget") for one in votes]
    equal, heavy = (1.0, 1.0, 1.0), (3.0, 1.0, 1.0)
    cases: list[tuple[Rule, Sequence[float]]] = [
        ("majority", equal), ("majority", heavy), ("all", equal), ("any", equal), ("min", equal)
    ]  # fmt: skip
    assert [decide(verdicts, *case) for case in cases] == list(winners)


def test_min_compares_the_lowest_scores() -> None:
    """A gets 9 and 4, B gets 6 and 5: the mean prefers A, the lowest score B."""
    scores = [ScoresVerdict(scores=one) for one in ((9.0, 6.0), (4.0, 5.0))]
    assert decide(scores, "min", (1.0, 1.0)) == "B"
    assert decide(scores, "majority", (1.0, 1.0)) == "tie"
    assert decide([*scores, A.verdict], "min", (1.0, 1.0, 1.0)) == "tie"  # a comparison has no scores


def test_a_vote_is_a_judge_of_a_spec() -> None:
    def found(spec: str) -> tuple[str | None, float | None]:
        one = load_judge(spec)(**PAIR)
        return one.winner, one.confidence

    # `longer` and `always-a` prefer A in the pair, and B in the other order is what `longer` prefers.
    pair = {"reasoning_a": PAIR["reasoning_b"], "reasoning_b": PAIR["reasoning_a"]}
    assert found("vote:rule=all(longer|always-a)") == ("A", 1.0)
    assert load_judge("vote:rule=all(longer|always-a)")(**pair).winner == "tie"
    heavy = load_judge("vote:weights=3/1(longer|always-a)")(**pair)
    assert (heavy.winner, heavy.confidence) == ("B", 0.75)
    assert load_judge("vote:weights=1/3(longer|always-a)")(**pair).winner == "A"
    assert load_judge("vote:rule=any,orders=2(always-a|longer)")(**pair).winner == "tie"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("vote(longer|random)", "a rule or weights"),
        ("vote:rule=all,weights=1/2(longer|random)", "a rule or weights"),
        ("vote:rule=most(longer|random)", "rule: Input should be 'all', 'any' or 'min'"),
        ("vote:weights=(longer|random)", "^judge vote: the option weights has no value: write weights=VALUE$"),
        ("vote:weights=2/(longer|random)", "weights.1: Input should be a valid number"),
        ("vote:weights=2/true(longer|random)", "weights.1: Input should be a valid number.*'true'"),
        ("vote:weights=2/1_0(longer|random)", "weights: a number has no _: '2/1_0'"),
        ("vote:rule=all,samples=true(longer|random)", "samples: Input should be a valid integer"),
        ("vote:weights=2(longer|random)", "weights are 2 numbers above 0"),
        ("vote:weights=2/0(longer|random)", "weights.1: Input should be greater than 0"),
        ("vote:weights=2/nan(longer|random)", "weights.1: Input should be a finite number"),
        ("vote:weights=2/inf(longer|random)", "weights.1: Input should be a finite number"),
        ("vote:rule=all(longer)", "two judges or more"),
        ("vote:rule=all,orders=3(longer|random)", "orders: Input should be less than or equal to 2"),
        ("panel:rule=all(longer|random)", "unknown key rule; available: orders"),
    ],
)
def test_a_vote_without_a_meaning_is_refused(spec: str, says: str) -> None:
    with pytest.raises(JudgeError, match=says):
        make_judge(spec, JudgeBuild(""))
