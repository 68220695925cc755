"""The cascade: who answers, what it costs, and what is no cascade."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from factories import mini_pairs

from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import InvalidVerdict, Judgment, Winner
from judge_r1.judges.base import JudgeBuild, JudgeOutput, NothingFits, PromptFit, run_all
from judge_r1.judges.cascade import CascadeJudge
from judge_r1.judges.panel import make_judge, parse_panel
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.result import result_of

REQUESTS = list(pair_benchmark(mini_pairs(5)).requests())


class Given:
    """Answers A with these confidences, or B; "invalid" and "lost" are no answers. A call costs `price` tokens."""

    def __init__(self, name: str, side: Winner, answers: Sequence[float | str | None], price: int) -> None:
        self.name, self.settings, self.side, self.answers, self.price = name, {}, side, answers, price
        self.asked: list[str] = []
        self.closed = False

    settings: dict[str, Any]

    def check(self, requests: Sequence[JudgeRequest]) -> None: ...

    def close(self) -> None:
        self.closed = True

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            self.asked.append(request.item.item_id)
            answer = self.answers[[one.key for one in REQUESTS].index(request.key)]
            usage = {"calls": 1.0, "input_tokens": float(self.price)}
            if isinstance(answer, str):
                ended = "infrastructure_timeout" if answer == "lost" else "rejected_no_json"
                yield JudgeOutput(request, Trajectory.without_ids(ended), InvalidVerdict(reason=ended), usage=usage)
                continue
            judgment = Judgment.pairwise("A>B" if self.side == "A" else "A<B")
            trajectory = Trajectory.without_ids("answer", (), judgment)
            yield JudgeOutput(request, trajectory, judgment.verdict, answer, usage)


def test_what_the_first_judge_is_not_sure_of_goes_to_the_next() -> None:
    cheap = Given("cheap", "A", [0.95, 0.9, 0.89, None, "invalid"], 1)
    expensive = Given("expensive", "B", [0.5, 0.5, 0.5, None, 0.5], 100)
    cascade = CascadeJudge([cheap, expensive], 0.9)
    outputs = run_all(cascade, REQUESTS)
    assert [result_of(output).winner for output in outputs] == ["A", "A", "B", "B", "B"]
    assert expensive.asked == [request.item.item_id for request in REQUESTS[2:]]
    assert sum((output.usage or {})["input_tokens"] for output in outputs) == 5 * 1 + 3 * 100
    assert sum((output.usage or {}).get("handed_on", 0) for output in outputs) == 3
    cascade.close()
    assert (cheap.closed, expensive.closed) == (True, True)


@pytest.mark.parametrize(("given", "warned"), [([None] * 5, 1), ([None, 0.5] + [None] * 3, 0), (["invalid"] * 5, 0)])
def test_a_first_judge_without_confidence_is_named_once(
    given: list[float | str | None], warned: int, caplog: pytest.LogCaptureFixture
) -> None:
    cascade = CascadeJudge([Given("cheap", "A", given, 1), Given("expensive", "B", [None] * 5, 100)], 0.9)
    for _ in range(2):
        run_all(cascade, REQUESTS)
    assert [record.message.partition(",")[0] for record in caplog.records] == [
        "cascade(cheap|expensive): cheap states no confidence"
    ] * warned


def test_a_failure_of_the_infrastructure_is_not_handed_on() -> None:
    expensive = Given("expensive", "B", [0.5] * 5, 100)
    outputs = run_all(CascadeJudge([Given("cheap", "A", ["lost"] * 5, 1), expensive], 0.9), REQUESTS)
    assert expensive.asked == []
    assert all(output.trajectory.infrastructure_failed for output in outputs)


def test_the_last_judge_alone_must_read_the_prompts() -> None:
    class Short(Given):
        def check(self, requests: Sequence[JudgeRequest]) -> None:
            raise NothingFits(f"judge {self.name}: none of {len(requests)} prompts fits")

    class Long(Given):
        def check(self, requests: Sequence[JudgeRequest]) -> PromptFit:  # type: ignore[override]
            return PromptFit(len(requests), 0, None)

    short, long = Short("short", "A", ["invalid"] * 5, 1), Long("long", "B", [0.9] * 5, 1)
    assert CascadeJudge([short, long], 0.9).check(REQUESTS) == PromptFit(5, 0, None)
    assert len(run_all(CascadeJudge([short, long], 0.9), REQUESTS)) == len(long.asked) == 5
    with pytest.raises(NothingFits, match="judge short"):
        CascadeJudge([long, short], 0.9).check(REQUESTS)


def test_three_judges_in_order() -> None:
    members = [Given(str(n), "A", [c] * 5, 1) for n, c in enumerate((0.1, 0.95, 0.99))]
    outputs = run_all(CascadeJudge(members, 0.9), REQUESTS)
    assert [len(member.asked) for member in members] == [5, 5, 0]
    assert [(output.usage or {})["calls"] for output in outputs] == [2] * 5


def test_a_cascade_is_written_as_a_spec() -> None:
    judge = make_judge("cascade:threshold=0.6(longer|panel(longer|always-a))", JudgeBuild(""))
    assert judge.settings["threshold"] == 0.6
    assert len(run_all(judge, REQUESTS)) == 5
    assert parse_panel("both=cascade:threshold=.9(longer|random)").name == "both"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("cascade:threshold=0.9(longer)", "two judges or more in brackets"),
        ("cascade(longer|random)", "threshold: Field required"),
        ("cascade:threshold=2(longer|random)", "threshold: Input should be less"),
        ("cascade:threshold=x(longer|random)", "threshold: Input should be a valid number"),
        ("cascade:threshold=true(longer|random)", "^judge cascade.*threshold: Input should be a valid number.*'true'"),
        ("cascade:threshold(longer|random)", "the option threshold has no value"),
        ("cascade:threshold=0.9,more=1(longer|random)", "unknown key more; available: threshold"),
        ("cascade:threshold=0.9(longer|nobody)", "nobody"),
    ],
)
def test_what_is_no_cascade_is_refused(spec: str, message: str) -> None:
    with pytest.raises(JudgeError, match=message):
        make_judge(spec, JudgeBuild(""))
