"""Verdicts of any kind through the server, its clients and the Python API."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest
from fake_llm_server import FakeLLMServer
from serving_fixture import PAIR, LiveServer, service

from judge_r1.api import LoadedJudge
from judge_r1.client import Client
from judge_r1.core.case_store import CaseStore
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import (
    ChecklistVerdict,
    InvalidVerdict,
    PairwiseVerdict,
    RankingVerdict,
    ScoresVerdict,
    Verdict,
)
from judge_r1.core.wire import JudgeResponse
from judge_r1.judges.base import JudgeBuild, JudgeOutput
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import JudgeRequest

SCORES = ScoresVerdict(scores=(7.0, 4.0))
RANKING = RankingVerdict(order=(1, 0))
CHECKLIST = ChecklistVerdict(scores={"complete": 1.0, "clear": 0.5})


class FixedVerdict:
    """A judge that returns the same verdict for every request."""

    name = "fixed"

    def __init__(self, verdict: Verdict) -> None:
        self.settings: dict[str, Any] = {}
        self.verdict = verdict

    def check(self, requests: Sequence[JudgeRequest]) -> None: ...

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            yield JudgeOutput(request, Trajectory.without_ids("answer"), self.verdict)


@pytest.mark.parametrize(
    ("verdict", "winner", "text"),
    [
        (SCORES, "A", "A 7, B 4; 0 searches"),
        (ScoresVerdict(scores=(3.0, 3.0)), "tie", "A 3, B 3; 0 searches"),
        (ScoresVerdict(scores=(8.5,)), None, "8.5; 0 searches"),
        (RANKING, "B", "B > A; 0 searches"),
        (CHECKLIST, None, "complete: 1, clear: 0.5; 0 searches"),
        (PairwiseVerdict(winner="B"), "B", "B is better; 0 searches"),
    ],
)
def test_python_api(verdict: Verdict, winner: str | None, text: str) -> None:
    result = LoadedJudge(FixedVerdict(verdict), CaseStore())(**PAIR)
    assert (result.verdict, result.valid, result.winner, str(result)) == (verdict, True, winner, text)
    assert result.comparison == {"A": "A>B", "B": "A<B"}.get(winner or "")


@pytest.mark.parametrize("verdict", [SCORES, RANKING, CHECKLIST, InvalidVerdict(reason="no_answer")])
def test_server_and_client(verdict: Verdict) -> None:
    with LiveServer(service(FixedVerdict(verdict))) as server, Client(server.url) as client:
        response = client.judge(**PAIR)
        *_, streamed = client.stream(**PAIR)
        metrics = httpx.get(f"{server.url}/metrics").text
    assert (response.verdict, response.valid) == (verdict, verdict.kind != "invalid")
    assert response.memory is None
    assert streamed == response.model_copy(update={"id": streamed.id, "seconds": streamed.seconds})
    assert f'judge_r1_judgments_total{{outcome="{verdict.kind}"}} 2.0' in metrics


def test_a_served_judge_of_long_documents_returns_its_memory() -> None:
    """`memo` over real HTTP: the memory of each candidate comes with the verdict, in the stream too."""

    def model(system: str, user: str, sample: int) -> str:
        issue = "- [SPELLING] teh\n" if "teh" in user else ""
        return f"1) Fluency Issues:\n{issue}FINAL Fluency Score: {3 if issue else 5}"

    pair = {"reasoning_a": "It is teh first. It is teh end.", "reasoning_b": "It is the first. It is the end."}
    with FakeLLMServer(model) as llm:
        judge = make_judge(f"memo:metrics=fluency,scan=4,final=false@{llm.url}/v1#m", JudgeBuild(""))
        with LiveServer(service(judge)) as server, Client(server.url) as client:
            response = client.judge(**pair)
            *_, streamed = client.stream(**pair)
    assert response.winner == "B"
    assert response.memory is not None
    first, second = response.memory
    assert [(note.start, note.end, note.scores) for note in first.sections] == [
        (0, 16, {"fluency": 3.0}), (17, 31, {"fluency": 3.0}),
    ]  # fmt: skip
    assert first.sections[0].issues == {"fluency": {"[SPELLING]": ("teh",)}}
    assert second.aggregates["char_mean"] == {"fluency": 5.0}
    assert isinstance(streamed, JudgeResponse)
    assert streamed.memory == response.memory


def test_the_score_route_uses_scores_of_two_candidates() -> None:
    with LiveServer(service(FixedVerdict(SCORES))) as server, Client(server.url) as client:
        response = client.score("Two and two?", ["Four.", "Five."])
    assert (response.scores, response.games, response.invalid) == ([0.5, 0.5], 2, 0)  # A wins in both orders


@pytest.mark.parametrize(("verdict", "answer"), [(SCORES, "[[A]]"), (CHECKLIST, "complete: 1, clear: 0.5")])
def test_pairwise_prompts(verdict: Verdict, answer: str) -> None:
    prompt = (
        '"[[A]]", "[[B]]" or "[[C]]"?\n[User Question]\nTwo and two?\n[The Start of Assistant A\'s Answer]\nFour.\n'
        "[The End of Assistant A's Answer]\n[The Start of Assistant B's Answer]\nFive.\n"
        "[The End of Assistant B's Answer]"
    )
    body = {"model": "judge-r1", "messages": [{"role": "user", "content": prompt}]}
    with LiveServer(service(FixedVerdict(verdict))) as server:
        response = httpx.post(f"{server.url}/v1/chat/completions", json=body).json()
    assert response["choices"][0]["message"]["content"].endswith(answer)
